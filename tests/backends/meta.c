/* SPDX-License-Identifier: MIT
 *
 * meta.c: for drawn arguments, meta says of every result what cpu then makes: shape, strides and
 * dtype, or the error; and no argument of it has memory.
 */
#include "composite/operators.h"

enum
{
  DRAWS = 4000,
  MOST_ARGUMENTS = 6
};

/* What an argument is drawn from: T a tensor, S one that broadcasts with it, M a matrix, P one to
 * multiply it with, A what is added to their product, N a number, D a dimension, L a list of
 * dimensions, Z sizes, K a bool, Y a dtype or None, G the text of gelu. */
static const struct
{
  const char *op;
  const char *arguments;
} operators[] = {
  { "aten::add.Tensor", "TSN" },  { "aten::add.out", "TSNS" },
  { "aten::add_.Tensor", "TSN" }, { "aten::sub.Tensor", "TSN" },
  { "aten::mul.Tensor", "TS" },   { "aten::div.Tensor", "TS" },
  { "aten::eq.Tensor", "TS" },    { "aten::neg", "T" },
  { "aten::relu", "T" },          { "aten::gelu", "TG" },
  { "aten::sigmoid", "T" },       { "aten::exp", "T" },
  { "aten::mm", "MP" },           { "aten::addmm", "AMPNN" },
  { "aten::max.dim", "TDK" },     { "aten::argmax", "TDK" },
  { "aten::view", "TZ" },         { "aten::copy_", "TSK" },
  { "aten::fill_.Scalar", "TN" }, { "aten::sum.dim_IntList", "TLKY" },
};

static const XpDType dtypes[] = { XP_UINT8,    XP_INT8,    XP_INT16,    XP_INT32,
                                  XP_INT64,    XP_FLOAT16, XP_FLOAT32,  XP_FLOAT64,
                                  XP_BFLOAT16, XP_BOOL,    XP_COMPLEX64 };

static GRand *random_;

static int
draw (int n)
{
  return g_rand_int_range (random_, 0, n);
}

static void
load_all (void)
{
  load_plugins ();
  load_plugin ("meta");
  random_ = g_rand_new_with_seed (2);
}

static void
free_random (void)
{
  g_rand_free (random_);
}

/* Strides that are dense in some order of the dimensions, stretched, or 0. */
static void
draw_strides (const XpShape *shape, int64_t *strides)
{
  int64_t stride = draw (4) == 0 ? 2 : 1;
  int order[XP_MAX_DIMENSIONS];
  gboolean shuffled = draw (2) == 0;
  for (int i = 0; i < shape->n_dims; i++)
    order[i] = shape->n_dims - 1 - i;
  for (int i = shape->n_dims - 1; i > 0 && shuffled; i--)
    {
      int other = draw (i + 1), kept = order[i];
      order[i] = order[other];
      order[other] = kept;
    }
  for (int i = 0; i < shape->n_dims; i++)
    {
      gboolean repeated = draw (12) == 0;
      strides[order[i]] = repeated ? 0 : stride;
      stride *= repeated ? 1 : MAX (shape->sizes[order[i]], 1);
    }
}

static void
draw_tensors (XpDType dtype, const XpShape *shape, XpTensor *pair[2])
{
  int64_t strides[XP_MAX_DIMENSIONS];
  XpInts ints = { strides, (size_t) shape->n_dims };
  draw_strides (shape, strides);
  pair[0] = xp_tensor_new_strided (dtype, xp_shape_ints (shape), ints, XP_CPU, &error);
  assert_no_error (error);
  pair[1] = xp_tensor_new_strided (dtype, xp_shape_ints (shape), ints, XP_META, &error);
  assert_no_error (error);
  ck_assert_ptr_null (xp_tensor_data (pair[1]));
  for (int64_t i = 0; i < pair[0]->numel; i++)
    xp_tensor_set_element (pair[0], i, xp_value_int (draw (5)));
}

/* One that broadcasts to @shape, mostly. */
static XpShape
draw_narrower (const XpShape *shape)
{
  XpShape narrower = { 0 };
  int missing = shape->n_dims > 0 && draw (3) == 0 ? 1 : 0;
  for (int i = missing; i < shape->n_dims; i++)
    narrower.sizes[narrower.n_dims++] = draw (4) == 0 ? 1 : shape->sizes[i];
  if (narrower.n_dims > 0 && draw (20) == 0)
    narrower.sizes[0] += 1;
  return narrower;
}

/* The drawing of one call: what later arguments take from earlier ones. */
typedef struct
{
  XpDType dtype;
  XpShape shape;
  int64_t rows, depth, columns;
} Drawing;

static XpShape
shape_of_kind (char kind, const Drawing *drawing)
{
  switch (kind)
    {
    case 'T':
      return drawing->shape;
    case 'S':
      return draw_narrower (&drawing->shape);
    case 'M':
      return (XpShape){ 2, { drawing->rows, drawing->depth } };
    case 'P':
      return (XpShape){ draw (20) == 0 ? 1 : 2,
                        { drawing->depth + (draw (20) == 0), drawing->columns } };
    default:
      return draw_narrower (&(XpShape){ 2, { drawing->rows, drawing->columns } });
    }
}

static void
draw_argument (char kind, const Drawing *drawing, XpValue pair[2])
{
  const double numbers[] = { 1, 1, 2, -1, 0.5, 300 };
  double number = numbers[draw (6)];
  int64_t ints[4];
  int n = draw (4);
  XpTensor *tensors[2];
  XpShape shape;
  switch (kind)
    {
    case 'N':
      pair[0] = draw (2) ? xp_value_int ((int64_t) number) : xp_value_float (number);
      break;
    case 'D':
      pair[0] = xp_value_int (draw (4) - 1);
      break;
    case 'L':
    case 'Z':
      for (int i = 0; i < n; i++)
        ints[i] = kind == 'L' ? draw (4) - 1 : draw (5) - 1;
      pair[0] = xp_value_list (xp_list_new_int (ints, (size_t) n));
      break;
    case 'K':
      pair[0] = xp_value_bool (draw (2));
      break;
    case 'Y':
      pair[0] = draw (2) ? xp_value_dtype (dtypes[draw (XP_LENGTH (dtypes))]) : XP_NONE;
      break;
    case 'G':
      pair[0] = xp_value_string (draw (2) ? "none" : draw (5) ? "tanh" : "other");
      break;
    default:
      shape = shape_of_kind (kind, drawing);
      draw_tensors (kind == 'S' && draw (2) ? dtypes[draw (XP_LENGTH (dtypes))] : drawing->dtype,
                    &shape, tensors);
      pair[0] = xp_value_tensor (tensors[0]);
      pair[1] = xp_value_tensor (tensors[1]);
      return;
    }
  pair[1] = xp_value_ref (pair[0]);
}

static void
assert_same_form (const XpTensor *cpu, const XpTensor *meta, const char *op)
{
  ck_assert_msg (cpu->dtype == meta->dtype, "%s gives %s on cpu and %s on meta", op,
                 xp_dtype_name (xp_tensor_dtype (cpu)), xp_dtype_name (xp_tensor_dtype (meta)));
  assert_ints (xp_tensor_shape (cpu), xp_tensor_shape (meta));
  assert_ints (xp_tensor_strides (cpu), xp_tensor_strides (meta));
  ck_assert_int_eq (cpu->numel, meta->numel);
  ck_assert_int_eq (xp_tensor_device (meta).backend, XP_BACKEND_Meta);
  ck_assert_ptr_null (xp_tensor_data (meta));
}

/* Returns whether both succeeded. A kernel that lacks a dtype is none of meta's business. */
static bool
call_both (const char *op, XpValue arguments[2][MOST_ARGUMENTS])
{
  XpValue cpu[2], meta[2];
  GError *meta_error = NULL;
  XpOperator *row = xp_operator_get (op, &error);
  assert_no_error (error);
  XpStatus on_meta = xp_operator_call (row, arguments[1], meta, &meta_error);
  XpStatus on_cpu = xp_operator_call (row, arguments[0], cpu, &error);
  if (on_cpu == XP_OK)
    {
      ck_assert_msg (on_meta == XP_OK, "%s fails on meta only: %s", op,
                     meta_error != NULL ? meta_error->message : "");
      for (unsigned i = 0; i < row->n_results; i++)
        assert_same_form (cpu[i].as.tensor, meta[i].as.tensor, op);
    }
  else if (on_meta == XP_FAILED)
    {
      ck_assert_str_eq (error->message, meta_error->message);
      ck_assert_int_eq (error->code, meta_error->code);
    }
  else
    ck_assert_msg (strstr (error->message, "not implemented for") != NULL,
                   "%s fails on cpu only: %s", op, error->message);
  g_clear_error (&error);
  g_clear_error (&meta_error);
  xp_values_clear (cpu, row->n_results);
  xp_values_clear (meta, row->n_results);
  return on_cpu == XP_OK;
}

START_TEST (meta_says_what_cpu_makes)
{
  unsigned n_good = 0;
  const char *op = operators[_i].op, *kinds = operators[_i].arguments;
  size_t n = strlen (kinds);
  for (unsigned i = 0; i < DRAWS / XP_LENGTH (operators); i++)
    {
      XpValue arguments[2][MOST_ARGUMENTS] = { { XP_NONE } };
      Drawing drawing = { .dtype = dtypes[draw (XP_LENGTH (dtypes))],
                          .shape = { .n_dims = draw (4) },
                          .rows = draw (4),
                          .depth = draw (4),
                          .columns = draw (4) };
      for (int d = 0; d < drawing.shape.n_dims; d++)
        drawing.shape.sizes[d] = draw (5);
      for (size_t at = 0; at < n; at++)
        {
          XpValue pair[2];
          draw_argument (kinds[at], &drawing, pair);
          arguments[0][at] = pair[0];
          arguments[1][at] = pair[1];
        }
      n_good += call_both (op, arguments);
      xp_values_clear (arguments[0], n);
      xp_values_clear (arguments[1], n);
    }
  ck_assert_msg (n_good >= 10, "only %u calls of %s succeed", n_good, op);
}
END_TEST

static void
assert_factory (const XpMemoryFormat *format, XpInts shape)
{
  g_autoptr (XpTensor) cpu = NULL;
  g_autoptr (XpTensor) meta = NULL;
  OK (xp_aten_empty_memory_format (shape, NULL, NULL, NULL, NULL, format, &cpu, &error));
  OK (xp_aten_empty_memory_format (shape, NULL, NULL, &XP_META, NULL, format, &meta, &error));
  assert_same_form (cpu, meta, "aten::empty.memory_format");
}

START_TEST (factories_make_no_memory)
{
  const XpMemoryFormat last = XP_CHANNELS_LAST, last_3d = XP_CHANNELS_LAST_3D;
  assert_factory (NULL, NO_SIZES);
  assert_factory (NULL, XP_INTS (2, 0, 3));
  assert_factory (&last, XP_INTS (2, 3, 4, 5));
  assert_factory (&last, XP_INTS (2, 0, 4, 5));
  assert_factory (&last_3d, XP_INTS (2, 3, 4, 5, 6));
  g_autoptr (XpTensor) huge = NULL;
  OK (xp_aten_empty_memory_format (XP_INTS (G_MAXINT64 / 8, 1), NULL, NULL, &XP_META, NULL, NULL,
                                   &huge, &error));
  ck_assert_ptr_null (xp_tensor_data (huge));
}
END_TEST

START_TEST (full_takes_its_dtype_from_the_number)
{
  g_auto (XpValue) complex_ = xp_value_complex (0, 1);
  const struct
  {
    XpValue value;
    XpDType dtype;
  } cases[] = { { xp_value_int (3), XP_INT64 },
                { xp_value_float (3), XP_FLOAT32 },
                { xp_value_bool (TRUE), XP_BOOL },
                { complex_, XP_COMPLEX64 } };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) meta = NULL;
      g_autoptr (XpTensor) cpu = NULL;
      OK (xp_aten_full (XP_INTS (2, 3), cases[i].value, NULL, NULL, &XP_META, NULL, &meta, &error));
      OK (xp_aten_full (XP_INTS (2, 3), cases[i].value, NULL, NULL, NULL, NULL, &cpu, &error));
      ck_assert_int_eq (meta->dtype, cases[i].dtype);
      assert_same_form (cpu, meta, "aten::full");
    }
}
END_TEST

START_TEST (meta_is_unloaded_with_its_memory)
{
  XpPlugin *plugin = xp_plugin_find ("meta");
  ck_assert (xp_plugin_unload (plugin, &error));
  ck_assert_int_eq (xp_plugin_state (plugin), XP_PLUGIN_UNLOADED);
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (2), XP_META, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "meta");
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("meta");
  TCase *meta = tcase_create ("meta");
  tcase_add_checked_fixture (meta, load_all, free_random);
  tcase_add_loop_test (meta, meta_says_what_cpu_makes, 0, XP_LENGTH (operators));
  tcase_add_test (meta, factories_make_no_memory);
  tcase_add_test (meta, full_takes_its_dtype_from_the_number);
  tcase_add_test (meta, meta_is_unloaded_with_its_memory);
  suite_add_tcase (suite, meta);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
