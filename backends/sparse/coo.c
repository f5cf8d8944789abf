/* SPDX-License-Identifier: MIT
 *
 * coo.c: the COO layout: making, keeping and printing its tensors.
 */
#include "sparse.h"

#include <string.h>

XP_PLUGIN ("sparse", "0.1.0", "Tensors in COO layout on the CPU", "MIT")

static void
coo_free (void *data)
{
  Coo *coo = data;
  xp_tensor_unref (coo->indices);
  xp_tensor_unref (coo->values);
  g_free (coo);
}

static char *
size_text (const char *name, XpInts shape)
{
  GString *text = g_string_new (name);
  g_string_append (text, "=(");
  for (size_t i = 0; i < shape.length; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", shape.data[i]);
  g_string_append (text, shape.length == 1 ? ",)" : ")");
  return g_string_free (text, FALSE);
}

/* `indices=tensor([[0, 1]])`, where the line already has @indent columns. */
static void
append_part (GString *text, const char *name, const XpTensor *part, int indent)
{
  g_autofree char *head = g_strconcat (name, "=tensor(", NULL);
  g_autofree char *elements = xp_tensor_elements_to_string (part, indent + (int) strlen (head));
  g_autofree char *size = size_text ("size", xp_tensor_shape (part));
  g_string_append (text, head);
  g_string_append (text, elements != NULL ? elements : "...");
  if (part->numel == 0)
    g_string_append_printf (text, ", %s", size);
  g_string_append_c (text, ')');
}

/* The facts after the parts, on a line of their own, and on more where they need them. */
static void
append_facts (GString *text, const char *const *facts, int indent)
{
  const size_t width = 80;
  size_t column = width;
  for (; *facts != NULL; facts++)
    {
      size_t n = strlen (*facts);
      gboolean breaks = column + n + 2 > width;
      g_string_append_printf (text, ",%s%*s%s", breaks ? "\n" : " ", breaks ? indent : 0, "",
                              *facts);
      column = breaks ? (size_t) indent + n : column + n + 2;
    }
}

static bool
is_usual (XpDType dtype)
{
  return dtype == XP_FLOAT32 || dtype == XP_COMPLEX64 || dtype == XP_INT64 || dtype == XP_BOOL;
}

static char *coo_to_string (const XpTensor *tensor);

static const XpLayoutClass coo_class = { .size = sizeof (XpLayoutClass),
                                         .layout = XP_SPARSE_COO,
                                         .functionality = XP_FUNCTIONALITY_Sparse,
                                         .free_data = coo_free,
                                         .to_string = coo_to_string };

/* As PyTorch prints it. */
static char *
coo_to_string (const XpTensor *tensor)
{
  const Coo *coo = xp_tensor_layout_data (tensor, &coo_class);
  XpDType dtype = xp_tensor_dtype (tensor);
  GString *text = g_string_new ("tensor(");
  int indent = (int) text->len;
  g_autofree char *size = size_text ("size", xp_tensor_shape (tensor));
  g_autofree char *entries = g_strdup_printf ("nnz=%" G_GINT64_FORMAT, coo_entries (coo));
  g_autofree char *type = g_strconcat ("dtype=torch.", xp_dtype_name (dtype), NULL);
  const char *facts[6] = { size, entries };
  unsigned n = 2;
  if (!is_usual (dtype))
    facts[n++] = type;
  facts[n++] = "layout=torch.sparse_coo";
  if (tensor->flags & XP_TENSOR_REQUIRES_GRAD)
    facts[n++] = "requires_grad=True";
  append_part (text, "indices", coo->indices, indent);
  g_string_append_printf (text, ",\n%*s", indent, "");
  append_part (text, "values", coo->values, indent);
  append_facts (text, facts, indent);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

/* Whoever writes to what aten::indices shows can write anything. */
static gboolean
check_indices (const XpTensor *tensor, const Coo *coo, GError **error)
{
  for (int d = 0; d < coo_sparse_dims (coo); d++)
    for (int64_t i = 0; i < coo_entries (coo); i++)
      if (coo_index (coo, d)[i] < 0 || coo_index (coo, d)[i] >= tensor->dl.shape[d])
        {
          xp_error_set (error, XP_ERROR_INDEX, NULL,
                        "the sparse tensor has the index %" G_GINT64_FORMAT
                        " in dimension %d of size %" G_GINT64_FORMAT
                        ": its indices have been written to; make the tensor anew",
                        coo_index (coo, d)[i], d, tensor->dl.shape[d]);
          return FALSE;
        }
  return TRUE;
}

Coo *
coo_get (XpTensor *tensor, GError **error)
{
  Coo *coo = xp_tensor_layout_data (tensor, &coo_class);
  if (coo != NULL)
    return check_indices (tensor, coo, error) ? coo : NULL;
  xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .plugin = (char *) "sparse" },
                "expected a tensor in sparse_coo layout of this plugin, but found one in %s "
                "layout%s: convert it with aten::to_dense while its own plugin is loaded, or "
                "make it anew",
                xp_layout_name ((XpLayout) tensor->layout),
                is_sparse (tensor) ? " that another plugin, or an earlier load of this one, made"
                                   : "");
  return NULL;
}

XpTensor *
coo_tensor_new (XpInts shape, XpTensor *indices, XpTensor *values, gboolean is_coalesced,
                GError **error)
{
  if (indices == NULL || values == NULL)
    {
      xp_tensor_unref (indices);
      xp_tensor_unref (values);
      return NULL;
    }
  Coo *coo = g_new (Coo, 1);
  *coo = (Coo){ indices, values, is_coalesced };
  return xp_tensor_new_with_layout (&coo_class, coo, xp_tensor_dtype (values), shape,
                                    xp_tensor_device (values), error);
}

XpStatus
coo_return (XpInts shape, XpTensor *indices, XpTensor *values, gboolean is_coalesced,
            XpTensor **result, GError **error)
{
  *result = coo_tensor_new (shape, indices, values, is_coalesced, error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

static gboolean
check_count (const char *kind, int64_t from, int64_t to, GError **error)
{
  if (from == to)
    return TRUE;
  xp_error_set (error, XP_ERROR_SHAPE, NULL,
                "changing the number of %s dimensions (from %" G_GINT64_FORMAT
                " to %" G_GINT64_FORMAT
                ") on a non-empty sparse tensor is not supported: pass an empty one",
                kind, from, to);
  return FALSE;
}

static gboolean
check_sizes (const char *kind, XpInts from, XpInts to, GError **error)
{
  for (size_t i = 0; i < to.length; i++)
    if (to.data[i] < from.data[i])
      {
        g_autofree char *old = xp_shape_to_string (from);
        g_autofree char *new = xp_shape_to_string (to);
        xp_error_set (error, XP_ERROR_SHAPE, NULL,
                      "shrinking the size of %s dimensions (from %s to %s) on a non-empty sparse "
                      "tensor is not supported: pass an empty one",
                      kind, old, new);
        return FALSE;
      }
  return TRUE;
}

/* A tensor that has entries keeps its dimensions, and may only grow in them, as in PyTorch. */
static gboolean
check_resize (const XpTensor *tensor, const Coo *coo, XpInts shape, int sparse_dims, GError **error)
{
  size_t n = (size_t) sparse_dims;
  const int64_t *sizes = tensor->dl.shape;
  if (coo_entries (coo) == 0)
    return TRUE;
  return check_count ("sparse", coo_sparse_dims (coo), sparse_dims, error)
         && check_count ("dense", tensor->dl.ndim - sparse_dims,
                         (int64_t) shape.length - sparse_dims, error)
         && check_sizes ("sparse", (XpInts){ sizes, n }, (XpInts){ shape.data, n }, error)
         && check_sizes ("dense", (XpInts){ sizes + n, shape.length - n },
                         (XpInts){ shape.data + n, shape.length - n }, error);
}

gboolean
coo_replace (XpTensor *tensor, XpInts shape, XpTensor *indices, XpTensor *values,
             gboolean is_coalesced, GError **error)
{
  Coo *coo = xp_tensor_layout_data (tensor, &coo_class);
  g_autoptr (XpTensor) old_indices = indices;
  g_autoptr (XpTensor) old_values = values;
  if (!check_resize (tensor, coo, shape, (int) indices->dl.shape[0], error)
      || !xp_tensor_resize (tensor, shape, error))
    return FALSE;
  old_indices = coo->indices;
  old_values = coo->values;
  *coo = (Coo){ indices, values, is_coalesced };
  xp_tensor_written (tensor);
  return TRUE;
}

XpTensor *
coo_indices_new (int sparse_dims, int64_t n_entries, GError **error)
{
  return xp_tensor_new (XP_INT64, XP_INTS (sparse_dims, n_entries), XP_CPU, error);
}

/* The shape of the values of @n_entries. */
static XpShape
values_shape (XpInts shape, int sparse_dims, int64_t n_entries)
{
  XpShape sizes = { .n_dims = 1 + (int) shape.length - sparse_dims, .sizes = { n_entries } };
  for (int i = 1; i < sizes.n_dims; i++)
    sizes.sizes[i] = shape.data[sparse_dims + i - 1];
  return sizes;
}

XpTensor *
coo_values_new (XpDType dtype, XpInts shape, int sparse_dims, int64_t n_entries, GError **error)
{
  XpShape sizes = values_shape (shape, sparse_dims, n_entries);
  return xp_tensor_new (dtype, xp_shape_ints (&sizes), XP_CPU, error);
}

XpTensor *
coo_zeros_new (XpDType dtype, XpInts shape, int sparse_dims, int64_t n_entries, GError **error)
{
  XpShape sizes = values_shape (shape, sparse_dims, n_entries);
  return zeros_new (dtype, xp_shape_ints (&sizes), error);
}
