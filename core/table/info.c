/* SPDX-License-Identifier: MIT
 *
 * info.c: snapshots of rows and fallbacks, and whether what is stored agrees with the rules.
 */
#include "table/row.h"

void
xp_registration_info_init (XpRegistrationInfo *info, const Registration *registration,
                           bool is_active)
{
  *info = (XpRegistrationInfo){
    .key = registration->key,
    .is_active = is_active,
    .is_fallthrough = registration->is_fallthrough,
    .is_typed = registration->kernel.adapted != NULL,
    .is_fallback = registration->row == NULL,
    .line = registration->line,
    .priority = registration->priority,
    .location = g_strdup (registration->location),
    .file = g_strdup (registration->file),
    .signature = g_strdup (registration->signature),
    .plugin = g_strdup (registration->owner->name),
    .preference = g_strdup (xp_preference_text (registration)),
    .takes = registration->takes != NULL ? g_strdup (registration->takes->text) : NULL,
    .n_copies = registration->takes != NULL
                    ? __atomic_load_n (&registration->takes->n_copies, __ATOMIC_RELAXED)
                    : 0,
  };
}

static XpRegistrationInfo *
registration_infos (const GPtrArray *list)
{
  XpRegistrationInfo *infos = g_new (XpRegistrationInfo, list->len);
  for (unsigned i = 0; i < list->len; i++)
    {
      const Registration *registration = list->pdata[i];
      bool is_active = i == 0 || ((Registration *) list->pdata[i - 1])->key != registration->key;
      xp_registration_info_init (&infos[i], registration, is_active);
    }
  return infos;
}

static void
cell_info_init (XpCellInfo *info, const Row *row, XpKey key)
{
  Cell cell = xp_row_cell (row, key);
  *info = (XpCellInfo){ .key = key, .rule = cell.rule, .from = key };
  if (cell.registration != NULL)
    {
      info->from = cell.registration->key;
      info->is_fallthrough = cell.registration->is_fallthrough;
      info->location = g_strdup (cell.registration->location);
      info->plugin = g_strdup (cell.registration->owner->name);
    }
  else if (cell.rule == XP_RULE_AMBIGUOUS)
    {
      info->location = g_strdup ("ambiguous_autogradother");
      info->plugin = g_strdup (xp_core_owner.name);
    }
}

XpRowInfo *
xp_table_row (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);
  unsigned n_keys;
  XpRowInfo *info = NULL;
  g_mutex_lock (&xp_table_lock);
  g_autofree XpKey *keys = xp_key_list_with (xp_row_backends, &n_keys);
  const Row *row = xp_row_find (name);
  if (row != NULL && row_is_there (row))
    {
      info = g_new0 (XpRowInfo, 1);
      info->name = g_strdup (row->name);
      const Definition *definition = row->definition;
      if (definition != NULL)
        {
          info->schema = xp_schema_to_string (definition->schema);
          info->location = g_strdup (definition->location);
          info->file = g_strdup (definition->file);
          info->plugin = g_strdup (definition->owner->name);
          info->tags = g_strdup (definition->tags);
          info->description = g_strdup (definition->description);
          info->line = definition->line;
          info->alias_analysis = definition->alias_analysis;
        }
      info->n_registrations = row->registrations->len;
      info->registrations = registration_infos (row->registrations);
      info->n_cells = n_keys;
      info->cells = g_new (XpCellInfo, n_keys);
      for (unsigned i = 0; i < n_keys; i++)
        cell_info_init (&info->cells[i], row, keys[i]);
    }
  g_mutex_unlock (&xp_table_lock);
  return info;
}

void
xp_registration_infos_free (XpRegistrationInfo *infos, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    {
      g_free (infos[i].location);
      g_free (infos[i].file);
      g_free (infos[i].signature);
      g_free (infos[i].plugin);
      g_free (infos[i].preference);
      g_free (infos[i].takes);
    }
  g_free (infos);
}

void
xp_row_info_free (XpRowInfo *info)
{
  if (info == NULL)
    return;
  xp_registration_infos_free (info->registrations, info->n_registrations);
  for (unsigned i = 0; i < info->n_cells; i++)
    {
      g_free (info->cells[i].location);
      g_free (info->cells[i].plugin);
    }
  g_free (info->cells);
  g_free (info->name);
  g_free (info->schema);
  g_free (info->location);
  g_free (info->file);
  g_free (info->plugin);
  g_free (info->tags);
  g_free (info->description);
  g_free (info);
}

XpRegistrationInfo *
xp_table_fallbacks (unsigned *n_fallbacks)
{
  g_return_val_if_fail (n_fallbacks != NULL, NULL);
  g_mutex_lock (&xp_table_lock);
  *n_fallbacks = xp_fallbacks->len;
  XpRegistrationInfo *infos = registration_infos (xp_fallbacks);
  g_mutex_unlock (&xp_table_lock);
  return infos;
}

/* --- Does what is stored agree with the rules? --- */

typedef struct
{
  const XpKey *keys;
  unsigned n_keys;
  const char *op; /* a row's own name, which stays */
  XpKey key;
  char *finding;
} Audit;

static const XpKernel *
expected_kernel (Cell cell)
{
  if (cell.registration != NULL)
    return xp_registration_kernel (cell.registration);
  return &xp_special_kernels[cell.rule == XP_RULE_AMBIGUOUS ? XP_SPECIAL_AMBIGUOUS
                                                            : XP_SPECIAL_MISSING];
}

static const char *
kernel_text (const XpKernel *kernel)
{
  static const char *const specials[XP_N_SPECIALS] = {
    [XP_SPECIAL_MISSING] = "no kernel",         [XP_SPECIAL_AMBIGUOUS] = "the ambiguity",
    [XP_SPECIAL_FALLTHROUGH] = "a fallthrough", [XP_SPECIAL_STALE_DEVICE] = "a device that is gone",
    [XP_SPECIAL_UNKNOWN_OPERATOR] = "no row",   [XP_SPECIAL_SIGNATURE] = "another signature",
  };
  const Registration *registration = xp_registration_of (kernel);
  return registration != NULL ? registration->location : specials[kernel - xp_special_kernels];
}

/* The cells of devices that were given back say so. */
static void
audit_stale (Row *row, Audit *audit)
{
  uint64_t bits = xp_row_stale;
  for (; row->live != NULL && bits != 0; bits &= bits - 1)
    for (unsigned i = 0; i < XP_N_PER_BACKEND && audit->finding == NULL; i++)
      {
        XpKey key = xp_key_of (xp_per_backend[i].functionality, (unsigned) __builtin_ctzll (bits));
        if (row->live->op.cells[xp_key_cell_index (key)].kernel
            != &xp_special_kernels[XP_SPECIAL_STALE_DEVICE])
          audit->finding = g_strdup_printf ("%s, cell %s: its device was given back, and it does "
                                            "not say so",
                                            row->name, xp_key_name (key));
      }
}

static void
audit_row (Row *row, void *data)
{
  Audit *audit = data;
  for (unsigned i = 0; i < audit->n_keys && audit->finding == NULL && row->live != NULL; i++)
    {
      XpKey key = audit->keys[i];
      Cell cell = xp_row_cell (row, key);
      const XpKernel *expected = expected_kernel (cell);
      const XpKernel *stored = row->live->op.cells[xp_key_cell_index (key)].kernel;
      unsigned stripe = xp_row_stripe (xp_key_set (key).backend);
      uint64_t unmasked = row->live->op.cells[stripe].unmasked;
      bool passed_over = cell.registration != NULL && cell.registration->is_fallthrough;
      if (stored != expected)
        audit->finding = g_strdup_printf ("%s, cell %s: stored is %s, the rules say %s", row->name,
                                          xp_key_name (key), kernel_text (stored),
                                          kernel_text (expected));
      else if (key != XP_KEY_Undefined
               && (unmasked >> xp_key_functionality (key) & 1) == passed_over)
        audit->finding = g_strdup_printf ("%s, cell %s: the mask %s it, the rules do not",
                                          row->name, xp_key_name (key),
                                          passed_over ? "keeps" : "passes over");
      audit->op = row->name;
      audit->key = key;
    }
  audit_stale (row, audit);
}

/* All rows, or that one, for the devices that they were last computed for. */
static gboolean
check (const char *name, GError **error)
{
  Audit audit = { 0 };
  g_mutex_lock (&xp_table_lock);
  g_autofree XpKey *keys = xp_key_list_with (xp_row_backends, &audit.n_keys);
  audit.keys = keys;
  Row *row = name != NULL ? xp_row_find (name) : NULL;
  if (row != NULL)
    audit_row (row, &audit);
  else if (name == NULL)
    xp_rows_visit (audit_row, &audit);
  g_mutex_unlock (&xp_table_lock);
  if (audit.finding == NULL)
    return TRUE;
  g_autofree char *dump = xp_table_dump (audit.op);
  g_autofree char *table = xp_table_dump_computed (audit.op);
  xp_error_set (
      error, XP_ERROR_INTERNAL,
      &(XpErrorDetails){ .op = (char *) audit.op, .key = (char *) xp_key_name (audit.key) },
      "the table disagrees with its rules: %s\nCanonical state\n~~~~~~~~~~~\n%s\n\n"
      "Computed table:\n~~~~~~~~~~~\n%s",
      audit.finding, dump, table);
  g_free (audit.finding);
  return FALSE;
}

gboolean
xp_table_check (GError **error)
{
  return check (NULL, error);
}

gboolean
xp_table_check_row (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, FALSE);
  if (xp_table_has (name))
    return check (name, error);
  xp_error_set (error, XP_ERROR_UNKNOWN_OPERATOR, &(XpErrorDetails){ .op = (char *) name },
                "operator %s does not exist", name);
  return FALSE;
}
