/* SPDX-License-Identifier: MIT
 *
 * values.c: every kind of value through a boxed call, a fallback, a redispatch and a return, boxed
 * and typed, with every reference given back: objects end exactly when their last owner lets go.
 */
#include "calls.h"
#include "table/blocks.h"

#include <math.h>

/* --- Objects whose end is seen. --- */

static unsigned n_made, n_ended;

static void
note_end (G_GNUC_UNUSED void *data)
{
  n_ended++;
}

static XpValue
witness_new (void)
{
  n_made++;
  return xp_value_opaque (xp_opaque_new ("Witness", NULL, note_end));
}

/* Its layout says when it ends. */
static XpTensor *
watched_tensor_new (XpBackend backend)
{
  static const XpLayoutClass klass = { sizeof klass, XP_STRIDED, XP_FUNCTIONALITY_Dense, note_end,
                                       NULL };
  GError *error = NULL;
  n_made++;
  XpTensor *tensor = xp_tensor_new_with_layout (&klass, NULL, XP_FLOAT32, XP_INTS (2),
                                                (XpDevice){ backend, -1 }, &error);
  assert_no_error (error);
  return tensor;
}

static XpValue
list_of (XpValue *values, size_t n)
{
  XpValue list = xp_value_list (xp_list_new (values, n));
  xp_values_clear (values, n);
  return list;
}

static XpValue
tensor_list_new (void)
{
  XpValue tensors[] = { xp_value_tensor (watched_tensor_new (XP_BACKEND_CPU)), XP_NONE,
                        xp_value_tensor (watched_tensor_new (XP_BACKEND_CPU)) };
  return list_of (tensors, 3);
}

static XpValue
dict_new (void)
{
  XpValue keys[] = { xp_value_string ("one"), xp_value_string ("two") };
  XpValue values[] = { witness_new (), tensor_list_new () };
  XpValue dict = xp_value_dict (xp_dict_new (keys, values, 2));
  xp_values_clear (keys, 2);
  xp_values_clear (values, 2);
  return dict;
}

enum
{
  N_KINDS = 29
};

/* A value of each kind that there is. */
static XpValue
value_new (unsigned kind)
{
  static const int64_t ints[] = { 1, -2, G_MAXINT64 };
  static const double floats[] = { 0.5, -0.0, HUGE_VAL };
  static const bool bools[] = { true, false };
  switch (kind)
    {
    case 0:
      return XP_NONE;
    case 1:
      return xp_value_bool (TRUE);
    case 2:
      return xp_value_bool (FALSE);
    case 3:
      return xp_value_int (G_MININT64);
    case 4:
      return xp_value_int (0);
    case 5:
      return xp_value_float (-0.0);
    case 6:
      return xp_value_float (NAN);
    case 7:
      return xp_value_complex (1.5, -NAN);
    case 8:
      return xp_value_string ("tanh");
    case 9:
      return xp_value_string ("");
    case 10:
      return xp_value_string_with_length ("with\0nul", 8);
    case 11:
      return xp_value_tensor (watched_tensor_new (XP_BACKEND_CPU));
    case 12:
      return xp_value_dtype (XP_BFLOAT16);
    case 13:
      return xp_value_layout (XP_SPARSE_COO);
    case 14:
      return xp_value_memory_format (XP_CHANNELS_LAST_3D);
    case 15:
      return xp_value_device ((XpDevice){ XP_BACKEND_CUDA, 3 });
    case 16:
      return xp_value_device (XP_META);
    case 17:
      return xp_value_generator (xp_generator_new (XP_CPU, 99));
    case 18:
      return witness_new ();
    case 19:
      return xp_value_list (xp_list_new (NULL, 0));
    case 20:
      return xp_value_list (xp_list_new_int (ints, 3));
    case 21:
      return xp_value_list (xp_list_new_float (floats, 3));
    case 22:
      return xp_value_list (xp_list_new_bool (bools, 2));
    case 23:
      return tensor_list_new ();
    case 24:
      return list_of ((XpValue[]){ xp_value_string ("a"), xp_value_int (1), witness_new () }, 3);
    case 25:
      return list_of ((XpValue[]){ tensor_list_new (), XP_NONE, tensor_list_new () }, 3);
    case 26:
      return dict_new ();
    case 27:
      return list_of ((XpValue[]){ dict_new (), dict_new () }, 2);
    case 28:
      return list_of ((XpValue[]){ xp_value_complex (0, 1), xp_value_complex (2, 3) }, 2);
    default:
      g_return_val_if_reached (XP_NONE);
    }
}

/* --- Kernels that pass values on. --- */

static unsigned n_passed;

static XpStatus
passing_fallback (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  n_passed++;
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

/* Returns its second argument, twice, and keeps it until the next call. */
static XpValue kept;

static XpStatus
return_second_twice (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
                     G_GNUC_UNUSED GError **error)
{
  xp_value_clear (&kept);
  kept = xp_value_ref (arguments[1]);
  results[0] = xp_value_ref (arguments[1]);
  results[1] = xp_value_ref (arguments[1]);
  return XP_OK;
}

/* The same, but it fails after it has made its results. */
static XpStatus
return_second_and_fail (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  return_second_twice (call, arguments, results, error);
  xp_error_set (error, XP_ERROR_SHAPE, NULL, "after all");
  return XP_FAILED;
}

static XpStatus
return_second_and_decline (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  return_second_twice (call, arguments, results, error);
  return xp_call_decline (call, "not this one");
}

typedef struct
{
  XpLibrary *rows;
  XpLibrary *cpu;
  XpLibrary *mode;
  XpLibrary *autograd;
} Blocks;

static Blocks
blocks_new (void)
{
  Blocks blocks = { fragment_new ("things"), impl_new ("things", "CPU"),
                    impl_new ("_", "TESTING_ONLY_GenericMode"), impl_new ("_", "AutogradCPU") };
  define (blocks.rows, "any(Tensor self, Any value) -> (Any, Any)");
  implement (blocks.mode, NULL, passing_fallback, 1);
  implement (blocks.autograd, NULL, passing_fallback, 2);
  return blocks;
}

static void
blocks_clear (Blocks *blocks)
{
  xp_library_free (blocks->autograd);
  xp_library_free (blocks->mode);
  xp_library_free (blocks->cpu);
  xp_library_free (blocks->rows);
}

START_TEST (every_kind_comes_back_as_it_went)
{
  Blocks blocks = blocks_new ();
  implement (blocks.cpu, "any", return_second_twice, 3);
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_TESTING_ONLY_GenericMode));
  XpValue arguments[] = { xp_value_tensor (watched_tensor_new (XP_BACKEND_CPU)),
                          value_new ((unsigned) _i) };
  XpValue results[2], before = arguments[1];
  GError *error = NULL;
  n_passed = 0;
  ck_assert_int_eq (xp_operator_call (operator_named ("things::any"), arguments, results, &error),
                    XP_OK);
  assert_no_error (error);
  ck_assert_uint_eq (n_passed, 2);
  for (unsigned i = 0; i < 2; i++)
    {
      ck_assert_int_eq (memcmp (&results[i], &before, sizeof before), 0);
      ck_assert (xp_value_equal (results[i], arguments[1]));
    }

  /* Three owners but the caller: each alone keeps it. */
  unsigned n_inside = n_made - 1;
  xp_values_clear (arguments, 2);
  ck_assert_uint_eq (n_ended, 1);
  xp_value_clear (&results[0]);
  xp_value_clear (&kept);
  ck_assert_uint_eq (n_ended, 1);
  g_autofree char *text = xp_value_to_string (results[1]);
  ck_assert_ptr_nonnull (text);
  xp_value_clear (&results[1]);
  ck_assert_uint_eq (n_ended, 1 + n_inside);
  blocks_clear (&blocks);
}
END_TEST

START_TEST (a_failure_gives_everything_back)
{
  static const struct
  {
    XpBoxedFunction kernel;
    XpError code;
    const char *part;
  } cases[] = {
    { return_second_and_fail, XP_ERROR_SHAPE, "after all" },
    { return_second_and_decline, XP_ERROR_DECLINED, "not this one" },
  };
  unsigned failure = (unsigned) _i % 2;
  Blocks blocks = blocks_new ();
  implement (blocks.cpu, "any", cases[failure].kernel, 3);
  XpValue arguments[] = { xp_value_tensor (watched_tensor_new (XP_BACKEND_CPU)),
                          value_new ((unsigned) _i / 2) };
  XpValue results[2];
  GError *error = NULL;
  ck_assert_int_eq (xp_operator_call (operator_named ("things::any"), arguments, results, &error),
                    XP_FAILED);
  assert_error (error, cases[failure].code, cases[failure].part);
  ck_assert_int_eq (results[0].tag, XP_TAG_NONE);
  ck_assert_int_eq (results[1].tag, XP_TAG_NONE);
  ck_assert_uint_eq (n_ended, 0);
  xp_value_clear (&kept);
  ck_assert_uint_eq (n_ended, 0);
  xp_values_clear (arguments, 2);
  ck_assert_uint_eq (n_ended, n_made);
  blocks_clear (&blocks);
}
END_TEST

/* A returned argument is a new reference. */
static XpStatus
write_out (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED XpTensor *self, XpTensor *out,
           XpTensor **result, G_GNUC_UNUSED GError **error)
{
  *result = xp_tensor_ref (out);
  return XP_OK;
}

START_TEST (a_returned_argument_is_a_new_reference)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  define (rows, "out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  xp_impl_calls_out (cpu, write_out);
  XpTensor *self = watched_tensor_new (XP_BACKEND_CPU), *out = watched_tensor_new (XP_BACKEND_CPU);
  XpTensor *result = NULL;
  GError *error = NULL;
  xp_calls_out (self, out, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (result, out);
  xp_tensor_unref (out);
  xp_tensor_unref (self);
  ck_assert_uint_eq (n_ended, 1);
  xp_tensor_unref (result);
  ck_assert_uint_eq (n_ended, 2);
}
END_TEST

/* --- Typed callers, boxed on the way to a fallback, unboxed again for a typed kernel. --- */

static unsigned n_ran;

static XpStatus
take_everything (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpInts ints, XpFloats floats,
                 XpBools bools, const char *text, XpDType dtype, XpLayout layout,
                 XpMemoryFormat format, XpDevice device, XpGenerator *generator, XpTensor **result,
                 G_GNUC_UNUSED GError **error)
{
  n_ran++;
  ck_assert_uint_eq (ints.length, 2);
  ck_assert_int_eq (ints.data[1], -7);
  ck_assert_uint_eq (floats.length, 1);
  ck_assert_double_eq (floats.data[0], 0.25);
  ck_assert_uint_eq (bools.length, 3);
  ck_assert (bools.data[0] && !bools.data[1] && bools.data[2]);
  ck_assert_str_eq (text, "tanh");
  ck_assert_int_eq (dtype, XP_COMPLEX64);
  ck_assert_int_eq (layout, XP_MKLDNN);
  ck_assert_int_eq (format, XP_CHANNELS_LAST);
  ck_assert_int_eq (device.backend, XP_BACKEND_CUDA);
  ck_assert_int_eq (device.index, 2);
  ck_assert_uint_eq (xp_generator_seed (generator), 5);
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static XpStatus
call_everything (XpTensor *self, XpTensor **result, GError **error)
{
  XpGenerator *generator = xp_generator_new (XP_CPU, 5);
  XpStatus status = xp_calls_everything (
      self, XP_INTS (3, -7), (XpFloats){ (const double[]){ 0.25 }, 1 },
      (XpBools){ (const bool[]){ true, false, true }, 3 }, "tanh", XP_COMPLEX64, XP_MKLDNN,
      XP_CHANNELS_LAST, (XpDevice){ XP_BACKEND_CUDA, 2 }, generator, result, error);
  xp_generator_unref (generator);
  return status;
}

START_TEST (typed_through_a_boxed_fallback)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpLibrary) autograd = NULL;
  define (rows, "everything(Tensor self, int[] ints, float[] floats, bool[] bools, str text, "
                "ScalarType dtype, Layout layout, MemoryFormat format, Device device, Generator "
                "generator) -> Tensor");
  xp_impl_calls_everything (cpu, take_everything);
  XpTensor *self = watched_tensor_new (XP_BACKEND_CPU), *result = NULL;
  GError *error = NULL;
  n_passed = 0;
  call_everything (self, &result, &error); /* typed to typed */
  assert_no_error (error);
  xp_tensor_unref (result);
  autograd = impl_new ("_", "AutogradCPU");
  implement (autograd, NULL, passing_fallback, 2);
  call_everything (self, &result, &error); /* typed, boxed, typed */
  assert_no_error (error);
  ck_assert_ptr_eq (result, self);
  ck_assert_uint_eq (n_ran, 2);
  ck_assert_uint_eq (n_passed, 1);
  xp_tensor_unref (self);
  ck_assert_uint_eq (n_ended, 0);
  xp_tensor_unref (result);
  ck_assert_uint_eq (n_ended, n_made);
}
END_TEST

static bool given;

static XpStatus
take_optional (G_GNUC_UNUSED XpCall *call, XpTensor *self, const int64_t *i, const double *f,
               const bool *b, const XpValue *s, const XpInts *ints, const XpFloats *floats,
               const XpBools *bools, const char *text, const XpDType *dtype, const XpLayout *layout,
               const XpMemoryFormat *format, const XpDevice *device, XpGenerator *generator,
               XpTensor **result, G_GNUC_UNUSED GError **error)
{
  n_ran++;
  const void *pointers[] = { i,    f,     b,      s,      ints,   floats,   bools,
                             text, dtype, layout, format, device, generator };
  for (unsigned n = 0; n < G_N_ELEMENTS (pointers); n++)
    ck_assert_msg ((pointers[n] != NULL) == given, "argument %u", n + 1);
  if (given)
    {
      ck_assert_int_eq (*i, 8);
      ck_assert_double_eq (*f, 0.5);
      ck_assert (*b);
      ck_assert_int_eq (s->tag, XP_TAG_COMPLEX);
      ck_assert_int_eq (ints->data[0], 1);
      ck_assert_uint_eq (floats->length, 0);
      ck_assert (!bools->data[0]);
      ck_assert_str_eq (text, "");
      ck_assert_int_eq (*dtype, XP_UINT8);
      ck_assert_int_eq (*layout, XP_STRIDED);
      ck_assert_int_eq (*format, XP_CONTIGUOUS_FORMAT);
      ck_assert_int_eq (device->backend, XP_BACKEND_CPU);
      ck_assert_uint_eq (xp_generator_seed (generator), 5);
    }
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static void
call_optional (XpTensor *self, bool give)
{
  XpGenerator *generator = xp_generator_new (XP_CPU, 5);
  g_auto (XpValue) s = xp_value_complex (1, 2);
  const bool yes = true, no = false;
  given = give;
  XpTensor *result = NULL;
  GError *error = NULL;
  if (give)
    xp_calls_optional (self, &(const int64_t){ 8 }, &(const double){ 0.5 }, &yes, &s, &XP_INTS (1),
                       &(const XpFloats){ NULL, 0 }, &(const XpBools){ &no, 1 }, "",
                       &(const XpDType){ XP_UINT8 }, &(const XpLayout){ XP_STRIDED },
                       &(const XpMemoryFormat){ XP_CONTIGUOUS_FORMAT }, &XP_CPU, generator, &result,
                       &error);
  else
    xp_calls_optional (self, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                       NULL, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (result, self);
  xp_tensor_unref (result);
  xp_generator_unref (generator);
}

START_TEST (optional_arguments_there_and_not)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  define (rows, "optional(Tensor self, int? i=None, float? f=None, bool? b=None, Scalar? s=None, "
                "int[]? ints=None, float[]? floats=None, bool[]? bools=None, str? text=None, "
                "ScalarType? dtype=None, Layout? layout=None, MemoryFormat? format=None, Device? "
                "device=None, Generator? generator=None) -> Tensor");
  xp_impl_calls_optional (cpu, take_optional);
  XpTensor *self = watched_tensor_new (XP_BACKEND_CPU);
  call_optional (self, true);
  call_optional (self, false);
  XpLibrary *autograd = impl_new ("_", "AutogradCPU");
  implement (autograd, NULL, passing_fallback, 2);
  call_optional (self, true);
  call_optional (self, false);
  ck_assert_uint_eq (n_ran, 4);
  xp_library_free (autograd);
  xp_tensor_unref (self);
  ck_assert_uint_eq (n_ended, n_made);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("values");
  TCase *tests = tcase_create ("values");
  tcase_add_loop_test (tests, every_kind_comes_back_as_it_went, 0, N_KINDS);
  tcase_add_loop_test (tests, a_failure_gives_everything_back, 0, 2 * N_KINDS);
  tcase_add_test (tests, a_returned_argument_is_a_new_reference);
  tcase_add_test (tests, typed_through_a_boxed_fallback);
  tcase_add_test (tests, optional_arguments_there_and_not);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
