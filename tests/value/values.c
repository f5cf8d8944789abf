/* SPDX-License-Identifier: MIT
 *
 * values.c: values of every tag: their bits, references, equality and text, and the objects they
 * hold.
 */
#include "suite.h"

#include <math.h>
#include <string.h>

static int n_destroyed;

static void
count_destroyed (void *data)
{
  ck_assert_ptr_eq (data, &n_destroyed);
  n_destroyed++;
}

/* An opaque object whose end can be seen; the caller owns the value. */
static XpValue
witness_new (void)
{
  n_destroyed = 0;
  return xp_value_opaque (xp_opaque_new ("Witness", &n_destroyed, count_destroyed));
}

static XpValue
tensor_new (void)
{
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (2, 3), XP_CPU, &error);
  assert_no_error (error);
  return xp_value_tensor (tensor);
}

static XpValue
list_of (size_t n, const XpValue *values)
{
  return xp_value_list (xp_list_new (values, n));
}

/* A new value of each tag. */
static XpValue
value_of (XpTag tag)
{
  XpValue key = xp_value_int (1), value = xp_value_bool (TRUE);
  switch (tag)
    {
    case XP_TAG_NONE:
      return XP_NONE;
    case XP_TAG_BOOL:
      return xp_value_bool (TRUE);
    case XP_TAG_INT:
      return xp_value_int (-7);
    case XP_TAG_FLOAT:
      return xp_value_float (2.5);
    case XP_TAG_DTYPE:
      return xp_value_dtype (XP_BFLOAT16);
    case XP_TAG_LAYOUT:
      return xp_value_layout (XP_SPARSE_COO);
    case XP_TAG_MEMORY_FORMAT:
      return xp_value_memory_format (XP_CHANNELS_LAST);
    case XP_TAG_DEVICE:
      return xp_value_device ((XpDevice){ XP_BACKEND_CUDA, 1 });
    case XP_TAG_TENSOR:
      return tensor_new ();
    case XP_TAG_COMPLEX:
      return xp_value_complex (1, -2.5);
    case XP_TAG_STRING:
      return xp_value_string ("none");
    case XP_TAG_LIST:
      return list_of (1, &key);
    case XP_TAG_DICT:
      return xp_value_dict (xp_dict_new (&key, &value, 1));
    case XP_TAG_GENERATOR:
      return xp_value_generator (xp_generator_new (XP_CPU, 42));
    case XP_TAG_OPAQUE:
      return witness_new ();
    default:
      ck_abort_msg ("no value of tag %d", tag);
    }
}

static const struct
{
  const char *name;
  const char *text;
  uint32_t length;
} tags[XP_N_TAGS] = {
  [XP_TAG_NONE] = { "NoneType", "None", 0 },
  [XP_TAG_BOOL] = { "bool", "True", 0 },
  [XP_TAG_INT] = { "int", "-7", 0 },
  [XP_TAG_FLOAT] = { "float", "2.5", 0 },
  [XP_TAG_DTYPE] = { "ScalarType", "bfloat16", 0 },
  [XP_TAG_LAYOUT] = { "Layout", "sparse_coo", 0 },
  [XP_TAG_MEMORY_FORMAT] = { "MemoryFormat", "channels_last", 0 },
  [XP_TAG_DEVICE] = { "Device", "cuda:1", 0 },
  [XP_TAG_TENSOR] = { "Tensor", "Tensor float32 [2, 3]", 0 },
  [XP_TAG_COMPLEX] = { "complex", "1.0-2.5j", 0 },
  [XP_TAG_STRING] = { "str", "\"none\"", 4 },
  [XP_TAG_LIST] = { "List", "[1]", 1 },
  [XP_TAG_DICT] = { "Dict", "{1: True}", 1 },
  [XP_TAG_GENERATOR] = { "Generator", "Generator seed 42", 0 },
  [XP_TAG_OPAQUE] = { "Capsule", "Witness", 0 },
};

START_TEST (each_tag_has_a_value_a_name_and_a_text)
{
  g_auto (XpValue) value = value_of ((XpTag) _i);
  ck_assert_uint_eq (value.tag, (unsigned) _i);
  ck_assert_uint_eq (value.length, tags[_i].length);
  ck_assert_str_eq (xp_tag_name ((XpTag) _i), tags[_i].name);
  g_autofree char *text = xp_value_to_string (value);
  ck_assert_str_eq (text, tags[_i].text);
  ck_assert_str_eq (xp_tag_name (XP_N_TAGS), "unknown");
}
END_TEST

START_TEST (a_value_equals_itself_and_no_other_tag)
{
  g_auto (XpValue) value = value_of ((XpTag) _i);
  ck_assert (xp_value_equal (value, value));
  for (int other = 0; other < XP_N_TAGS; other++)
    {
      g_auto (XpValue) different = value_of ((XpTag) other);
      if (other != _i)
        ck_assert_msg (!xp_value_equal (value, different), "%s equals %s", tags[_i].name,
                       tags[other].name);
      /* Tensors, generators and opaque objects are equal to themselves only. */
      else if (_i == XP_TAG_TENSOR || _i == XP_TAG_GENERATOR || _i == XP_TAG_OPAQUE)
        ck_assert (!xp_value_equal (value, different));
      else
        ck_assert_msg (xp_value_equal (value, different), "%s", tags[_i].name);
    }
}
END_TEST

START_TEST (a_cleared_value_is_none_and_may_be_cleared_again)
{
  n_destroyed = 0;
  XpValue value = value_of ((XpTag) _i);
  XpValue second = xp_value_ref (value);
  ck_assert_mem_eq (&value, &second, sizeof value);
  xp_value_clear (&value);
  ck_assert_mem_eq (&value, &XP_NONE, sizeof value);
  xp_value_clear (&value);
  /* The second reference still holds all there is. */
  g_autofree char *text = xp_value_to_string (second);
  ck_assert_str_eq (text, tags[_i].text);
  xp_value_clear (&second);
  ck_assert_int_eq (n_destroyed, _i == XP_TAG_OPAQUE ? 1 : 0);
}
END_TEST

START_TEST (a_value_is_16_bytes_with_unused_bits_zero)
{
  XpValue value;
  ck_assert_uint_eq (sizeof (XpValue), 16);
  memset (&value, 0xff, sizeof value);
  value = xp_value_bool (77);
  ck_assert_mem_eq (&value, ((const uint32_t[]){ XP_TAG_BOOL, 0, 1, 0 }), 16);
  memset (&value, 0xff, sizeof value);
  value = xp_value_int (-1);
  ck_assert_mem_eq (&value, ((const uint32_t[]){ XP_TAG_INT, 0, ~0u, ~0u }), 16);
  memset (&value, 0xff, sizeof value);
  value = xp_value_dtype (XP_BOOL);
  ck_assert_mem_eq (&value, ((const uint32_t[]){ XP_TAG_DTYPE, 0, XP_BOOL, 0 }), 16);
  memset (&value, 0xff, sizeof value);
  value = xp_value_device (XP_CPU);
  ck_assert_mem_eq (&value, ((const uint32_t[]){ XP_TAG_DEVICE, 0, XP_BACKEND_CPU, ~0u }), 16);
  value = xp_value_tensor (NULL);
  ck_assert_mem_eq (&value, ((const uint32_t[4]){ 0 }), 16);
}
END_TEST

START_TEST (floats_print_as_in_python)
{
  static const struct
  {
    double number;
    const char *text;
  } cases[] = {
    { 0, "0.0" },
    { -0.0, "-0.0" },
    { 1, "1.0" },
    { 0.1, "0.1" },
    { 1.0 / 3, "0.3333333333333333" },
    { 100000, "100000.0" },
    { 123456789012345680.0, "1.2345678901234568e+17" },
    { 1e15, "1000000000000000.0" },
    { 1e16, "1e+16" },
    { 9007199254740993.0, "9007199254740992.0" },
    { 0.0001, "0.0001" },
    { 0.00001, "1e-05" },
    { 1.5e300, "1.5e+300" },
    { 5e-324, "5e-324" },
    { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    { INFINITY, "inf" },
    { -INFINITY, "-inf" },
    { NAN, "nan" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autofree char *text = xp_value_to_string (xp_value_float (cases[i].number));
      ck_assert_str_eq (text, cases[i].text);
    }
}
END_TEST

START_TEST (strings_may_hold_anything)
{
  g_auto (XpValue) string = xp_value_string_with_length ("a\0\"\\\n\t\x01z", 8);
  ck_assert_uint_eq (string.length, 8);
  ck_assert_mem_eq (xp_string_text (string.as.string), "a\0\"\\\n\t\x01z", 9);
  g_autofree char *text = xp_value_to_string (string);
  ck_assert_str_eq (text, "\"a\\000\\\"\\\\\\n\\t\\001z\"");
  g_auto (XpValue) same = xp_value_string_with_length ("a\0\"\\\n\t\x01z", 8);
  g_auto (XpValue) other = xp_value_string_with_length ("a\0\"\\\n\t\x01y", 8);
  g_auto (XpValue) shorter = xp_value_string ("a");
  g_auto (XpValue) empty = xp_value_string ("");
  ck_assert (xp_value_equal (string, same));
  ck_assert (!xp_value_equal (string, other));
  ck_assert (!xp_value_equal (string, shorter));
  ck_assert_uint_eq (empty.length, 0);
  ck_assert (xp_value_equal (empty, empty));
}
END_TEST

START_TEST (numbers_are_equal_bit_for_bit_but_for_nan)
{
  g_auto (XpValue) complex_nan = xp_value_complex (NAN, 1);
  g_auto (XpValue) other_nan = xp_value_complex (-NAN, 1);
  g_auto (XpValue) conjugate = xp_value_complex (NAN, -1);
  ck_assert (xp_value_equal (xp_value_float (NAN), xp_value_float (-NAN)));
  ck_assert (!xp_value_equal (xp_value_float (0.0), xp_value_float (-0.0)));
  ck_assert (!xp_value_equal (xp_value_float (1), xp_value_int (1)));
  ck_assert (xp_value_equal (complex_nan, other_nan));
  ck_assert (!xp_value_equal (complex_nan, conjugate));
}
END_TEST

START_TEST (scalars_convert)
{
  g_auto (XpValue) number = xp_value_complex (-1.5, 2);
  double real, imaginary;
  ck_assert (xp_value_is_scalar (number) && xp_value_is_scalar (xp_value_bool (TRUE)));
  ck_assert (!xp_value_is_scalar (XP_NONE) && !xp_value_is_scalar (xp_value_dtype (XP_INT8)));
  ck_assert_double_eq (xp_scalar_to_double (number), -1.5);
  ck_assert_double_eq (xp_scalar_to_double (xp_value_bool (TRUE)), 1);
  ck_assert_double_eq (xp_scalar_to_double (xp_value_int (-3)), -3);
  ck_assert_double_eq (xp_scalar_to_double (XP_NONE), 0);
  ck_assert_int_eq (xp_scalar_to_int64 (number), -1);
  ck_assert_int_eq (xp_scalar_to_int64 (xp_value_float (1e30)), G_MAXINT64);
  ck_assert_int_eq (xp_scalar_to_int64 (xp_value_float (-1e30)), G_MININT64);
  ck_assert_int_eq (xp_scalar_to_int64 (xp_value_float (0x1p63)), G_MAXINT64);
  ck_assert_int_eq (xp_scalar_to_int64 (xp_value_float (-0x1p63)), G_MININT64);
  ck_assert_int_eq (xp_scalar_to_int64 (xp_value_float (NAN)), 0);
  ck_assert_int_eq (xp_scalar_to_int64 (xp_value_int (G_MAXINT64)), G_MAXINT64);
  xp_scalar_to_complex (number, &real, &imaginary);
  ck_assert_double_eq (real, -1.5);
  ck_assert_double_eq (imaginary, 2);
  xp_scalar_to_complex (xp_value_int (4), &real, &imaginary);
  ck_assert_double_eq (real, 4);
  ck_assert_double_eq (imaginary, 0);
  ck_assert_int_eq (xp_scalar_dtype (number), XP_COMPLEX128);
  ck_assert_int_eq (xp_scalar_dtype (xp_value_float (1)), XP_FLOAT64);
  ck_assert_int_eq (xp_scalar_dtype (xp_value_int (1)), XP_INT64);
  ck_assert_int_eq (xp_scalar_dtype (xp_value_bool (TRUE)), XP_BOOL);
}
END_TEST

START_TEST (lists_of_numbers_are_arrays)
{
  const XpValue ints[] = { xp_value_int (3), xp_value_int (-4) };
  const XpValue floats[] = { xp_value_float (0.5), xp_value_float (2) };
  const XpValue bools[] = { xp_value_bool (TRUE), xp_value_bool (FALSE) };
  g_auto (XpValue) list = list_of (2, ints);
  ck_assert_int_eq (xp_list_element_tag (list.as.list), XP_TAG_INT);
  ck_assert_mem_eq (xp_list_ints (list.as.list), ((const int64_t[]){ 3, -4 }), 16);
  ck_assert_ptr_null (xp_list_floats (list.as.list));
  ck_assert_ptr_null (xp_list_bools (list.as.list));
  ck_assert_ptr_null (xp_list_tensors (list.as.list));
  g_auto (XpValue) plain = xp_value_list (xp_list_new_int ((const int64_t[]){ 3, -4 }, 2));
  ck_assert (xp_value_equal (list, plain));
  ck_assert (xp_value_equal (xp_list_get (list.as.list, 1), ints[1]));
  xp_value_clear (&list);
  xp_value_clear (&plain);

  list = list_of (2, floats);
  ck_assert_int_eq (xp_list_element_tag (list.as.list), XP_TAG_FLOAT);
  ck_assert_mem_eq (xp_list_floats (list.as.list), ((const double[]){ 0.5, 2 }), 16);
  ck_assert_ptr_null (xp_list_ints (list.as.list));
  plain = xp_value_list (xp_list_new_float ((const double[]){ 0.5, 2 }, 2));
  ck_assert (xp_value_equal (list, plain));
  ck_assert (xp_value_equal (xp_list_get (list.as.list, 0), floats[0]));
  xp_value_clear (&list);
  xp_value_clear (&plain);

  list = list_of (2, bools);
  ck_assert_int_eq (xp_list_element_tag (list.as.list), XP_TAG_BOOL);
  ck_assert_mem_eq (xp_list_bools (list.as.list), ((const bool[]){ true, false }), 2);
  plain = xp_value_list (xp_list_new_bool ((const bool[]){ true, false }, 2));
  ck_assert (xp_value_equal (list, plain));
  ck_assert (xp_value_equal (xp_list_get (list.as.list, 0), bools[0]));
}
END_TEST

START_TEST (a_list_of_tensors_may_have_gaps_and_holds_them)
{
  g_auto (XpValue) tensor = tensor_new ();
  const XpValue values[] = { tensor, XP_NONE, tensor };
  g_auto (XpValue) list = list_of (3, values);
  g_auto (XpValue) plain = xp_value_list (
      xp_list_new_tensor ((XpTensor *[]){ tensor.as.tensor, NULL, tensor.as.tensor }, 3));
  XpTensor *pointer = tensor.as.tensor;
  xp_value_clear (&tensor);
  ck_assert_int_eq (xp_list_element_tag (list.as.list), XP_TAG_TENSOR);
  ck_assert_ptr_eq (xp_list_tensors (list.as.list)[2], pointer);
  ck_assert_ptr_null (xp_list_tensors (list.as.list)[1]);
  ck_assert_uint_eq (xp_list_get (list.as.list, 1).tag, XP_TAG_NONE);
  ck_assert (xp_value_equal (list, plain));
  g_autofree char *text = xp_value_to_string (list);
  ck_assert_str_eq (text, "[Tensor float32 [2, 3], None, Tensor float32 [2, 3]]");
}
END_TEST

START_TEST (mixed_and_nested_lists_store_values)
{
  const XpValue one = xp_value_int (1);
  g_auto (XpValue) inner = list_of (1, &one);
  g_auto (XpValue) witness = witness_new ();
  const XpValue values[] = { one, xp_value_float (2), inner, witness, XP_NONE };
  XpValue list = list_of (5, values);
  g_auto (XpValue) same = list_of (5, values);
  g_auto (XpValue) shorter = list_of (4, values);
  xp_value_clear (&witness);
  ck_assert_int_eq (xp_list_element_tag (list.as.list), XP_TAG_NONE);
  ck_assert_ptr_null (xp_list_ints (list.as.list));
  ck_assert_uint_eq (xp_list_length (list.as.list), 5);
  ck_assert (xp_value_equal (list, same));
  ck_assert (!xp_value_equal (list, shorter));
  g_autofree char *text = xp_value_to_string (list);
  ck_assert_str_eq (text, "[1, 2.0, [1], Witness, None]");
  xp_value_clear (&list);
  xp_value_clear (&same);
  ck_assert_int_eq (n_destroyed, 0);
  xp_value_clear (&shorter);
  ck_assert_int_eq (n_destroyed, 1);
}
END_TEST

START_TEST (ints_with_a_gap_are_no_array)
{
  const XpValue values[] = { xp_value_int (1), XP_NONE };
  const XpValue nones[] = { XP_NONE, XP_NONE };
  g_auto (XpValue) list = list_of (2, values);
  ck_assert_int_eq (xp_list_element_tag (list.as.list), XP_TAG_NONE);
  ck_assert_uint_eq (xp_list_get (list.as.list, 1).tag, XP_TAG_NONE);
  g_auto (XpValue) gaps = list_of (2, nones);
  ck_assert_int_eq (xp_list_element_tag (gaps.as.list), XP_TAG_NONE);
  g_autofree char *text = xp_value_to_string (gaps);
  ck_assert_str_eq (text, "[None, None]");
}
END_TEST

START_TEST (an_empty_list_fits_every_type_of_list)
{
  g_auto (XpValue) list = list_of (0, NULL);
  g_auto (XpValue) ints = xp_value_list (xp_list_new_int (NULL, 0));
  g_auto (XpValue) tensors = xp_value_list (xp_list_new_tensor (NULL, 0));
  ck_assert (xp_value_equal (list, ints));
  ck_assert (xp_value_equal (tensors, ints));
  ck_assert_int_eq (xp_list_element_tag (ints.as.list), XP_TAG_NONE);
  ck_assert_ptr_nonnull (xp_list_ints (tensors.as.list));
  ck_assert_ptr_nonnull (xp_list_floats (ints.as.list));
  ck_assert_ptr_nonnull (xp_list_bools (list.as.list));
  ck_assert_ptr_nonnull (xp_list_tensors (ints.as.list));
  g_autofree char *text = xp_value_to_string (list);
  ck_assert_str_eq (text, "[]");
}
END_TEST

START_TEST (dictionaries_keep_their_order_and_are_equal_in_any)
{
  g_auto (XpValue) name = xp_value_string ("name");
  g_auto (XpValue) same_name = xp_value_string ("name");
  g_auto (XpValue) witness = witness_new ();
  const XpValue keys[] = { name, xp_value_int (1), xp_value_bool (TRUE), xp_value_float (1) };
  const XpValue values[] = { xp_value_int (10), witness, XP_NONE, xp_value_int (13) };
  const XpValue reversed_keys[] = { keys[3], keys[2], keys[1], same_name };
  const XpValue reversed[] = { values[3], values[2], values[1], values[0] };
  g_auto (XpValue) dict = xp_value_dict (xp_dict_new (keys, values, 4));
  g_auto (XpValue) other = xp_value_dict (xp_dict_new (reversed_keys, reversed, 4));
  g_auto (XpValue) changed = xp_value_dict (xp_dict_new (keys, reversed, 4));
  xp_value_clear (&witness);
  ck_assert_uint_eq (dict.length, 4);
  ck_assert_uint_eq (xp_dict_length (dict.as.dict), 4);
  ck_assert (xp_value_equal (dict, other));
  ck_assert (!xp_value_equal (dict, changed));
  ck_assert_int_eq (xp_dict_lookup (dict.as.dict, same_name)->as.integer, 10);
  ck_assert_int_eq (xp_dict_lookup (dict.as.dict, xp_value_float (1))->as.integer, 13);
  ck_assert_uint_eq (xp_dict_lookup (dict.as.dict, xp_value_bool (TRUE))->tag, XP_TAG_NONE);
  ck_assert_ptr_null (xp_dict_lookup (dict.as.dict, xp_value_int (2)));
  XpValue key, value;
  xp_dict_entry (dict.as.dict, 3, &key, &value);
  ck_assert_double_eq (key.as.number, 1);
  ck_assert_int_eq (value.as.integer, 13);
  g_autofree char *text = xp_value_to_string (dict);
  ck_assert_str_eq (text, "{\"name\": 10, 1: Witness, True: None, 1.0: 13}");
  xp_value_clear (&dict);
  xp_value_clear (&other);
  ck_assert_int_eq (n_destroyed, 0);
  xp_value_clear (&changed);
  ck_assert_int_eq (n_destroyed, 1);
}
END_TEST

START_TEST (an_opaque_object_is_destroyed_once)
{
  XpValue values[3] = { witness_new () };
  values[1] = xp_value_ref (values[0]);
  values[2] = xp_value_ref (values[0]);
  ck_assert_str_eq (xp_opaque_type_name (values[0].as.opaque), "Witness");
  ck_assert_ptr_eq (xp_opaque_data (values[0].as.opaque), &n_destroyed);
  xp_values_clear (values, 2);
  ck_assert_int_eq (n_destroyed, 0);
  xp_values_clear (values, 3);
  ck_assert_int_eq (n_destroyed, 1);
  g_auto (XpValue) plain = xp_value_opaque (xp_opaque_new ("Plain", NULL, NULL));
  ck_assert_ptr_null (xp_opaque_data (plain.as.opaque));
}
END_TEST

enum
{
  N_THREADS = 4,
  N_STRETCHES = 20000
};

typedef struct
{
  XpGenerator *generator;
  uint64_t starts[N_STRETCHES];
} Drawer;

static void *
draw (void *data)
{
  Drawer *drawer = data;
  for (int i = 0; i < N_STRETCHES; i++)
    drawer->starts[i] = xp_generator_advance (drawer->generator, 1 + (uint64_t) i % 3);
  return NULL;
}

START_TEST (threads_draw_stretches_that_do_not_overlap)
{
  enum
  {
    TOTAL = N_THREADS * (N_STRETCHES / 3 * 6 + 1 + 2)
  };
  g_autofree Drawer *drawers = g_new0 (Drawer, N_THREADS);
  g_autofree uint8_t *taken = g_new0 (uint8_t, TOTAL);
  XpGenerator *generator = xp_generator_new ((XpDevice){ XP_BACKEND_CUDA, 2 }, 7);
  GThread *threads[N_THREADS];
  for (int i = 0; i < N_THREADS; i++)
    {
      drawers[i].generator = xp_generator_ref (generator);
      threads[i] = g_thread_new ("drawer", draw, &drawers[i]);
    }
  for (int i = 0; i < N_THREADS; i++)
    {
      g_thread_join (threads[i]);
      xp_generator_unref (drawers[i].generator);
    }
  ck_assert_uint_eq (N_STRETCHES % 3, 2);
  ck_assert_uint_eq (xp_generator_advance (generator, 0), TOTAL);
  for (int i = 0; i < N_THREADS; i++)
    for (int j = 0; j < N_STRETCHES; j++)
      for (int k = 0; k < 1 + j % 3; k++)
        {
          uint64_t position = drawers[i].starts[j] + (uint64_t) k;
          ck_assert_uint_lt (position, TOTAL);
          ck_assert_msg (taken[position]++ == 0, "number %" G_GUINT64_FORMAT " drawn twice",
                         position);
        }
  ck_assert_uint_eq (xp_generator_seed (generator), 7);
  ck_assert_int_eq (xp_generator_device (generator).index, 2);
  xp_generator_unref (generator);
}
END_TEST

static void *
ref_and_clear (void *data)
{
  for (int i = 0; i < 50000; i++)
    {
      XpValue value = xp_value_ref (*(XpValue *) data);
      xp_value_clear (&value);
    }
  return NULL;
}

START_TEST (threads_may_share_an_object)
{
  XpValue value = witness_new ();
  XpValue tensor = tensor_new ();
  XpValue list = list_of (2, (const XpValue[]){ value, tensor });
  GThread *threads[3] = { g_thread_new ("object", ref_and_clear, &value),
                          g_thread_new ("tensor", ref_and_clear, &tensor),
                          g_thread_new ("list", ref_and_clear, &list) };
  ref_and_clear (&value);
  ref_and_clear (&tensor);
  ref_and_clear (&list);
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    g_thread_join (threads[i]);
  xp_value_clear (&value);
  xp_value_clear (&tensor);
  ck_assert_int_eq (n_destroyed, 0);
  xp_value_clear (&list);
  ck_assert_int_eq (n_destroyed, 1);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("values");
  TCase *all = tcase_create ("every tag");
  tcase_add_loop_test (all, each_tag_has_a_value_a_name_and_a_text, 0, XP_N_TAGS);
  tcase_add_loop_test (all, a_value_equals_itself_and_no_other_tag, 0, XP_N_TAGS);
  tcase_add_loop_test (all, a_cleared_value_is_none_and_may_be_cleared_again, 0, XP_N_TAGS);
  tcase_add_test (all, a_value_is_16_bytes_with_unused_bits_zero);
  suite_add_tcase (suite, all);
  TCase *plain = tcase_create ("numbers and strings");
  tcase_add_test (plain, floats_print_as_in_python);
  tcase_add_test (plain, strings_may_hold_anything);
  tcase_add_test (plain, numbers_are_equal_bit_for_bit_but_for_nan);
  tcase_add_test (plain, scalars_convert);
  suite_add_tcase (suite, plain);
  TCase *lists = tcase_create ("lists");
  tcase_add_test (lists, lists_of_numbers_are_arrays);
  tcase_add_test (lists, a_list_of_tensors_may_have_gaps_and_holds_them);
  tcase_add_test (lists, mixed_and_nested_lists_store_values);
  tcase_add_test (lists, ints_with_a_gap_are_no_array);
  tcase_add_test (lists, an_empty_list_fits_every_type_of_list);
  tcase_add_test (lists, dictionaries_keep_their_order_and_are_equal_in_any);
  suite_add_tcase (suite, lists);
  TCase *objects = tcase_create ("objects");
  tcase_add_test (objects, an_opaque_object_is_destroyed_once);
  tcase_add_test (objects, threads_draw_stretches_that_do_not_overlap);
  tcase_add_test (objects, threads_may_share_an_object);
  suite_add_tcase (suite, objects);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
