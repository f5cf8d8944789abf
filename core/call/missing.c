/* SPDX-License-Identifier: MIT
 *
 * missing.c: the errors of cells and rows that are empty: what was asked for, what there is, and
 * what to load.
 */
#include "begin.h"
#include "call/guard.h"

#include <string.h>

XpHintHooks xp_hint_hooks;

/* Keys whose cells hold a kernel that runs, in set order. */
static GPtrArray *
available_keys (const char *name)
{
  GPtrArray *keys = g_ptr_array_new ();
  g_autoptr (XpRowInfo) info = xp_table_row (name);
  for (unsigned i = 0; info != NULL && i < info->n_cells; i++)
    {
      const XpCellInfo *cell = &info->cells[i];
      if (cell->key != XP_KEY_Undefined && cell->rule != XP_RULE_MISSING
          && cell->rule != XP_RULE_AMBIGUOUS && !cell->is_fallthrough)
        g_ptr_array_add (keys, (char *) xp_key_name (cell->key));
    }
  g_ptr_array_add (keys, NULL);
  return keys;
}

/* The first argument that brought the key a call went to. */
typedef struct
{
  XpKey key;
  unsigned argument;
  const XpTensor *tensor;
} KeySource;

static gboolean
look_for_key (unsigned argument, XpTensor *tensor, void *data)
{
  KeySource *source = data;
  if (!xp_key_set_has (tensor->keys, source->key))
    return TRUE;
  source->argument = argument;
  source->tensor = tensor;
  return FALSE;
}

/* The first argument that is a device of the key's backend: factories choose by it. */
static gboolean
look_for_device (const XpCall *call, const XpValue *arguments, KeySource *source)
{
  int backend = xp_key_backend (source->key);
  for (unsigned i = 0; backend >= 0 && i < call->op->n_arguments; i++)
    if (arguments[i].tag == XP_TAG_DEVICE && (int) arguments[i].as.device.backend == backend)
      {
        source->argument = i;
        return TRUE;
      }
  return FALSE;
}

/* Says where the key came from, and gives the name of the argument. */
static char *
describe_source (const XpCall *call, const XpValue *arguments, char **name)
{
  KeySource source = { .key = xp_call_key (call) };
  xp_argument_tensors_visit (call->op, arguments, look_for_key, &source);
  if (source.tensor == NULL && !look_for_device (call, arguments, &source))
    return g_strdup_printf ("The key comes from this thread, or from a redispatch, not from an "
                            "argument.");
  g_autoptr (XpSchema) schema = xp_operator_schema (call->op);
  *name = g_strdup (schema != NULL ? schema->arguments[source.argument].name : "?");
  if (source.tensor == NULL)
    {
      g_autofree char *device = xp_value_to_string (arguments[source.argument]);
      return g_strdup_printf ("The key comes from argument %u (%s), the device %s.",
                              source.argument, *name, device);
    }
  g_autofree char *device = xp_device_to_string (xp_tensor_device (source.tensor));
  return g_strdup_printf ("The key comes from argument %u (%s), a %s tensor on %s.",
                          source.argument, *name, xp_layout_name (source.tensor->layout), device);
}

/* What an error for an empty cell says of the cells that are not, and of what could fill it. */
typedef struct
{
  char *available; /* keys that have kernels */
  char *hint;      /* a line of its own, or empty */
  GPtrArray *candidates;
  XpErrorDetails details;
} Advice;

static void
advice_begin (Advice *advice, const char *name, XpKey key)
{
  g_autoptr (GPtrArray) keys = available_keys (name);
  advice->available = g_strjoinv (", ", (char **) keys->pdata);
  advice->candidates = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *hint = xp_hint_hooks.missing_kernel != NULL
                              ? xp_hint_hooks.missing_kernel (name, key, advice->candidates)
                              : NULL;
  advice->hint = hint != NULL && hint[0] != '\0' ? g_strconcat ("\n", hint, NULL) : g_strdup ("");
  g_ptr_array_add (advice->candidates, NULL);
  advice->details = (XpErrorDetails){ .op = (char *) name,
                                      .key = (char *) xp_key_name (key),
                                      .candidates = (char **) advice->candidates->pdata };
}

static void
advice_end (Advice *advice)
{
  g_free (advice->available);
  g_free (advice->hint);
  g_ptr_array_unref (advice->candidates);
}

static gboolean
count_tensor (unsigned argument, G_GNUC_UNUSED XpTensor *tensor, void *data)
{
  unsigned *counts = data;
  counts[argument]++;
  return TRUE;
}

/* How many tensors each argument held that may hold some: "xs: 0 tensors". */
static char *
describe_counts (const XpOperator *op, const XpValue *arguments)
{
  unsigned counts[64] = { 0 };
  g_autoptr (XpSchema) schema = xp_operator_schema (op);
  GString *text = g_string_new (NULL);
  xp_argument_tensors_visit (op, arguments, count_tensor, counts);
  for (uint64_t bits = op->tensor_arguments | op->list_arguments; bits != 0; bits &= bits - 1)
    {
      unsigned i = (unsigned) __builtin_ctzll (bits);
      g_string_append_printf (text, "%s%s: %u tensor%s", text->len > 0 ? ", " : "",
                              schema != NULL ? schema->arguments[i].name : "?", counts[i],
                              counts[i] == 1 ? "" : "s");
    }
  if (text->len == 0)
    g_string_append (text, "its schema has no argument that takes tensors");
  return g_string_free (text, FALSE);
}

static void
set_missing (const XpCall *call, const XpValue *arguments, GError **error)
{
  const char *name = xp_operator_name (call->op);
  XpKey key = xp_call_key (call);
  __attribute__ ((cleanup (advice_end))) Advice advice;
  advice_begin (&advice, name, key);
  if (key == XP_KEY_Undefined)
    {
      g_autofree char *counts = describe_counts (call->op, arguments);
      xp_error_set (error, XP_ERROR_NO_TENSOR_ARGUMENTS, &advice.details,
                    "There were no tensor arguments to this function (e.g., you passed an empty "
                    "list of Tensors), but no fallback function is registered for schema %s. "
                    "Available functions are [%s].\nSeen: %s.%s",
                    name, advice.available, counts, advice.hint);
      return;
    }
  g_autofree char *argument = NULL;
  g_autofree char *source = describe_source (call, arguments, &argument);
  advice.details.argument = argument;
  xp_error_set (error, XP_ERROR_MISSING_KERNEL, &advice.details,
                "Could not run '%s' with arguments from the '%s' backend. '%s' is only available "
                "for these backends: [%s].\n%s%s",
                name, advice.details.key, name, advice.available, source, advice.hint);
}

void
xp_set_empty_cell (const char *name, XpKey key, GError **error)
{
  __attribute__ ((cleanup (advice_end))) Advice advice;
  advice_begin (&advice, name, key);
  xp_error_set (error, XP_ERROR_MISSING_KERNEL, &advice.details,
                "no kernel for %s for %s: its cell is missing. '%s' is only available for these "
                "backends: [%s].%s",
                advice.details.key, name, name, advice.available, advice.hint);
}

XpStatus
xp_missing_kernel (XpCall *call, const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
                   GError **error)
{
  set_missing (call, arguments, error);
  return XP_FAILED;
}

static XpStatus
ambiguous_kernel (XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                  G_GNUC_UNUSED XpValue *results, GError **error)
{
  const char *name = xp_operator_name (call->op);
  g_autofree char *dump = xp_table_dump (name);
  xp_error_set (
      error, XP_ERROR_AMBIGUOUS_AUTOGRAD,
      &(XpErrorDetails){ .op = (char *) name, .key = (char *) "AutogradOther" },
      "%s has kernels registered to both CompositeImplicitAutograd and a backend mapped to "
      "AutogradOther. This makes the backend kernel unreachable; the dispatcher will "
      "always prefer the CompositeImplicitAutograd lowering. Override it with a kernel "
      "registered to AutogradOther.\nCanonical state\n~~~~~~~~~~~\n%s\n",
      name, dump);
  return XP_FAILED;
}

/* --- Devices that were given back. --- */

typedef struct
{
  uint64_t backends;
  unsigned argument;
  const XpTensor *tensor;
} StaleSource;

static gboolean
look_for_stale (unsigned argument, XpTensor *tensor, void *data)
{
  StaleSource *source = data;
  if ((tensor->keys.backend & source->backends) == 0)
    return TRUE;
  source->argument = argument;
  source->tensor = tensor;
  return FALSE;
}

void
xp_set_stale_device (const XpOperator *op, const XpValue *arguments, uint64_t backends,
                     GError **error)
{
  StaleSource source = { .backends = backends };
  xp_argument_tensors_visit (op, arguments, look_for_stale, &source);
  XpBackend backend = (XpBackend) (63 - __builtin_clzll (backends | 1));
  g_autofree char *argument = NULL, *where = NULL;
  if (source.tensor != NULL)
    {
      g_autoptr (XpSchema) schema = xp_operator_schema (op);
      backend = (XpBackend) xp_tensor_device (source.tensor).backend;
      argument = g_strdup (schema != NULL ? schema->arguments[source.argument].name : "?");
      where = g_strdup_printf ("argument %u (%s)", source.argument, argument);
    }
  const char *name = xp_operator_name (op);
  const XpOwner *owner = xp_device_owner (backend);
  bool is_plugin = owner != &xp_program_owner && owner != &xp_core_owner;
  xp_error_set (
      error, XP_ERROR_STALE_DEVICE,
      &(XpErrorDetails){ .op = (char *) name,
                         .key = (char *) xp_backend_name (backend),
                         .argument = argument,
                         .plugin = owner->name,
                         .candidates = is_plugin ? (char *[]){ owner->name, NULL } : NULL },
      "%s: %s is on the device '%s', which is gone: %s %s; %s%s%s, and make the tensor anew", name,
      where != NULL ? where : "the key set, which is from this thread or a redispatch,",
      xp_backend_name (backend), owner->name, is_plugin ? "has been unloaded" : "has given it back",
      is_plugin ? "load " : "register it", is_plugin ? owner->name : "", " again");
}

static XpStatus
stale_kernel (XpCall *call, const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
              GError **error)
{
  xp_set_stale_device (call->op, arguments, XP_BIT (xp_key_backend (xp_call_key (call))), error);
  return XP_FAILED;
}

/* --- Rows that are not there. --- */

typedef struct
{
  XpTextNeighbours near;
  const char *name; /* what is looked for */
  const char *base; /* the same after the namespace */
  GPtrArray *same;  /* rows of the same name in other namespaces */
} Neighbours;

/* What was asked for without an overload is compared without one: `aten::ad` is near `aten::add`,
 * whatever the overloads of that are called. */
static void
look_for_neighbours (char **names, Neighbours *neighbours)
{
  bool has_overload = strchr (neighbours->base, '.') != NULL;
  const char *last = "";
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      char *colons = strstr (names[i], "::");
      char *point = colons != NULL && !has_overload ? strchr (colons, '.') : NULL;
      if (point != NULL)
        *point = '\0';
      if (strcmp (names[i], last) == 0)
        continue;
      last = names[i];
      if (strcmp (names[i], neighbours->name) == 0)
        continue;
      if (colons != NULL && strcmp (colons + 2, neighbours->base) == 0)
        g_ptr_array_add (neighbours->same, names[i]);
      else
        xp_text_neighbours_add (&neighbours->near, names[i]);
    }
  for (unsigned i = 0; i < neighbours->near.n; i++)
    g_ptr_array_add (neighbours->same, (char *) neighbours->near.names[i]);
}

void
xp_set_not_defined (const XpRowInfo *info, GError **error)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *hint = xp_hint_hooks.unknown_operator != NULL
                              ? xp_hint_hooks.unknown_operator (info->name, candidates)
                              : NULL;
  g_ptr_array_add (candidates, NULL);
  xp_error_set (
      error, XP_ERROR_NOT_DEFINED,
      &(XpErrorDetails){ .op = info->name, .candidates = (char **) candidates->pdata },
      "Could not find schema for %s, but we found an implementation, %s (%s); load the library "
      "that defines the operator.%s%s",
      info->name, info->registrations[0].location, info->registrations[0].plugin,
      hint != NULL && hint[0] != '\0' ? "\n" : "", hint != NULL ? hint : "");
}

void
xp_set_unknown_operator (const char *name, GError **error)
{
  g_auto (GStrv) names = xp_table_names ();
  g_autoptr (GPtrArray) same = g_ptr_array_new ();
  const char *colons = strstr (name, "::");
  Neighbours neighbours = { .name = name,
                            .base = colons != NULL ? colons + 2 : name,
                            .same = same };
  xp_text_neighbours_init (&neighbours.near, name);
  look_for_neighbours (names, &neighbours);
  g_ptr_array_add (same, NULL);

  g_autoptr (GPtrArray) candidates = g_ptr_array_new_with_free_func (g_free);
  for (unsigned i = 0; same->pdata[i] != NULL; i++)
    g_ptr_array_add (candidates, g_strdup (same->pdata[i]));
  g_autofree char *near = g_strjoinv (", ", (char **) same->pdata);
  g_autofree char *hint = xp_hint_hooks.unknown_operator != NULL
                              ? xp_hint_hooks.unknown_operator (name, candidates)
                              : NULL;
  g_ptr_array_add (candidates, NULL);
  xp_error_set (error, XP_ERROR_UNKNOWN_OPERATOR,
                &(XpErrorDetails){ .op = (char *) name, .candidates = (char **) candidates->pdata },
                "Could not find schema for %s: no library that is loaded defines it.%s%s%s%s%s",
                name, near[0] != '\0' ? "\nDid you mean " : "", near, near[0] != '\0' ? "?" : "",
                hint != NULL && hint[0] != '\0' ? "\n" : "", hint != NULL ? hint : "");
}

static XpStatus
unknown_kernel (XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                G_GNUC_UNUSED XpValue *results, GError **error)
{
  xp_set_unknown_operator (xp_operator_name (call->op), error);
  return XP_FAILED;
}

static XpStatus
signature_kernel (XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                  G_GNUC_UNUSED XpValue *results, GError **error)
{
  const char *name = xp_operator_name (call->op);
  g_autoptr (XpRowInfo) info = xp_table_row (name);
  gboolean is_defined = info != NULL && info->schema != NULL;
  g_autoptr (XpSchema) schema = is_defined ? xp_schema_parse (info->schema, NULL) : NULL;
  g_autofree char *correct = schema != NULL ? xp_schema_signature (schema) : g_strdup ("none");
  xp_error_set (error, XP_ERROR_SIGNATURE_MISMATCH, &(XpErrorDetails){ .op = (char *) name },
                "Tried to access or call an operator with a wrong signature.\n  operator: %s\n    "
                "%s\n  correct signature:  %s\n  accessed/called as: %s\nBuild the caller again "
                "with the header of this schema.",
                is_defined ? info->schema : name, is_defined ? info->location : "", correct,
                head_of (call->op)->signature);
  return XP_FAILED;
}

void
xp_special_kernels_begin (void)
{
  xp_guard = xp_guard_kernel;
  xp_special_kernels[XP_SPECIAL_MISSING].boxed = xp_missing_kernel;
  xp_special_kernels[XP_SPECIAL_AMBIGUOUS].boxed = ambiguous_kernel;
  xp_special_kernels[XP_SPECIAL_FALLTHROUGH].boxed = xp_fallthrough;
  xp_special_kernels[XP_SPECIAL_STALE_DEVICE].boxed = stale_kernel;
  xp_special_kernels[XP_SPECIAL_UNKNOWN_OPERATOR].boxed = unknown_kernel;
  xp_special_kernels[XP_SPECIAL_SIGNATURE].boxed = signature_kernel;
}
