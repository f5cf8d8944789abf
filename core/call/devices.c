/* SPDX-License-Identifier: MIT
 *
 * devices.c: which keys the arguments of a boxed call bring, and whether their devices go together.
 */
#include "call/dispatch.h"

#include <crosspoint/boxing.h>

XpKeySet
xp_keys_add_value (XpKeySet keys, XpValue value)
{
  if (value.tag == XP_TAG_TENSOR)
    keys = xp_key_set_union (keys, value.as.tensor->keys);
  else if (value.tag == XP_TAG_LIST)
    for (size_t i = 0; i < xp_list_length (value.as.list); i++)
      keys = xp_keys_add_value (keys, xp_list_get (value.as.list, i));
  return keys;
}

XpKeySet
xp_argument_list_keys (const XpOperator *op, const XpValue *arguments, XpKeySet keys)
{
  for (uint64_t bits = op->list_arguments; bits != 0; bits &= bits - 1)
    keys = xp_keys_add_value (keys, arguments[__builtin_ctzll (bits)]);
  return keys;
}

static gboolean
visit_value (unsigned argument, XpValue value, XpTensorVisitor visit, void *data)
{
  if (value.tag == XP_TAG_TENSOR)
    return visit (argument, value.as.tensor, data);
  if (value.tag == XP_TAG_LIST)
    for (size_t i = 0; i < xp_list_length (value.as.list); i++)
      if (!visit_value (argument, xp_list_get (value.as.list, i), visit, data))
        return FALSE;
  return TRUE;
}

gboolean
xp_argument_tensors_visit (const XpOperator *op, const XpValue *arguments, XpTensorVisitor visit,
                           void *data)
{
  for (uint64_t bits = op->tensor_arguments | op->list_arguments; bits != 0; bits &= bits - 1)
    {
      unsigned i = (unsigned) __builtin_ctzll (bits);
      if (!visit_value (i, arguments[i], visit, data))
        return FALSE;
    }
  return TRUE;
}

/* What is found out about the devices of a call. */
typedef struct
{
  const XpOperator *op;
  const XpValue *arguments;
  XpKeySet keys;   /* of all, but only with the backends of those that decide */
  uint64_t copies; /* arguments that are CPU numbers beside another device */
  XpDevice device; /* of the first that decides, Meta aside */
  GString *text;   /* each argument with its device */
} Settlement;

/* A CPU tensor without dimensions that is only read goes with every device. */
static gboolean
is_cpu_number (const Settlement *settlement, unsigned argument, const XpTensor *tensor)
{
  return tensor->keys.backend == XP_BIT (XP_BACKEND_CPU) && tensor->layout == XP_STRIDED
         && tensor->dl.ndim == 0 && settlement->arguments[argument].tag == XP_TAG_TENSOR
         && (head_of (settlement->op)->written_arguments >> argument & 1) == 0;
}

static gboolean
settle_tensor (unsigned argument, XpTensor *tensor, void *data)
{
  Settlement *settlement = data;
  if (is_cpu_number (settlement, argument, tensor))
    {
      settlement->copies |= XP_BIT (argument);
      settlement->keys.functionality |= tensor->keys.functionality;
      return TRUE;
    }
  settlement->keys = xp_key_set_union (settlement->keys, tensor->keys);
  if (tensor->keys.backend != XP_BIT (XP_BACKEND_Meta))
    settlement->device = xp_tensor_device (tensor);
  return TRUE;
}

static gboolean
describe_tensor (unsigned argument, XpTensor *tensor, void *data)
{
  Settlement *settlement = data;
  g_autoptr (XpSchema) schema = xp_operator_schema (settlement->op);
  g_autofree char *device = xp_device_to_string (xp_tensor_device (tensor));
  g_string_append_printf (settlement->text, "%sargument %u (%s) is on %s",
                          settlement->text->len > 0 ? ", " : "", argument,
                          schema != NULL ? schema->arguments[argument].name : "?", device);
  return TRUE;
}

gboolean
xp_settle_devices (XpOperator *op, const XpValue *arguments, XpKeySet *keys, uint64_t *copies,
                   XpDevice *device, GError **error)
{
  Settlement settlement = { .op = op, .arguments = arguments, .device = XP_CPU };
  *copies = 0;
  *device = XP_CPU;
  uint64_t stale = keys->backend & xp_backends_given_back ();
  if (stale != 0)
    {
      xp_set_stale_device (op, arguments, stale, error);
      return FALSE;
    }
  if (__atomic_load_n (&head_of (op)->takes_mixed_devices, __ATOMIC_RELAXED))
    return TRUE;
  xp_argument_tensors_visit (op, arguments, settle_tensor, &settlement);
  uint64_t backends = settlement.keys.backend & ~XP_BIT (XP_BACKEND_Meta);
  if ((backends & (backends - 1)) == 0)
    {
      /* Beside Meta nothing is read, so nothing needs to be copied. */
      if ((settlement.keys.backend & XP_BIT (XP_BACKEND_Meta)) == 0)
        *copies = settlement.copies;
      *keys = settlement.keys;
      *device = settlement.device;
      return TRUE;
    }
  settlement.text = g_string_new (NULL);
  xp_argument_tensors_visit (op, arguments, describe_tensor, &settlement);
  xp_error_set (
      error, XP_ERROR_DEVICE_MISMATCH, &(XpErrorDetails){ .op = (char *) xp_operator_name (op) },
      "%s: expected all tensors to be on the same device, but %s; move them to one device "
      "first",
      xp_operator_name (op), settlement.text->str);
  g_string_free (settlement.text, TRUE);
  return FALSE;
}
