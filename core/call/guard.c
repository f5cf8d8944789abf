/* SPDX-License-Identifier: MIT
 *
 * guard.c: calls of kernels that do not take all that their schemas allow: what they do not take is
 * copied for them, or declined.
 */
#include "call/guard.h"
#include "value/strided.h"

#include <string.h>

const char xp_guard_reason[] = "it does not take these arguments";

/* Why a call is declined. */
typedef enum
{
  WRONG_DTYPE,
  NOT_CONTIGUOUS,
  OVERLAP
} Fault;

/* What is found out about the arguments of a call. */
typedef struct
{
  const XpOperator *op;
  const XpValue *arguments;
  const Takes *takes;
  const TakesOfSchema *of;
  uint64_t written;
  uint64_t viewed; /* or read, of which the results may be views */
  /* A bit for each argument of which copies are made: of its tensors that are not contiguous, or of
   * all of them. */
  uint64_t copied;
  uint64_t copied_whole;
  bool is_refused;
  Fault fault;
  unsigned argument;
  const XpTensor *tensor;
} Examination;

static bool
is_written (const Examination *examination, unsigned argument)
{
  return (examination->written >> argument & 1) != 0;
}

static gboolean
refuse (Examination *examination, unsigned argument, const XpTensor *tensor, Fault fault)
{
  examination->is_refused = true;
  examination->fault = fault;
  examination->argument = argument;
  examination->tensor = tensor;
  return FALSE;
}

/* Whether a copy may stand in for a tensor of this argument. */
static bool
may_copy (const Examination *examination, unsigned argument)
{
  bool is_list = (examination->op->list_arguments >> argument & 1) != 0;
  return !examination->takes->refuses && (examination->viewed >> argument & 1) == 0
         && !(is_list && is_written (examination, argument));
}

static gboolean
examine_tensor (unsigned argument, XpTensor *tensor, void *data)
{
  Examination *examination = data;
  if (argument >= examination->of->n_arguments)
    return TRUE;
  const ArgumentTakes *takes = &examination->of->arguments[argument];
  if (takes->dtypes != 0 && (takes->dtypes >> tensor->dtype & 1) == 0)
    return refuse (examination, argument, tensor, WRONG_DTYPE);
  if (!takes->contiguous || tensor->layout != XP_STRIDED || xp_tensor_is_contiguous (tensor))
    return TRUE;
  /* What is copied back would be written several times over. */
  if (!may_copy (examination, argument)
      || (is_written (examination, argument) && xp_tensor_may_overlap_itself (tensor)))
    return refuse (examination, argument, tensor, NOT_CONTIGUOUS);
  examination->copied |= XP_BIT (argument);
  return TRUE;
}

/* A tensor that is written, among the others. */
typedef struct
{
  Examination *examination;
  unsigned argument;
  const XpTensor *tensor;
  bool is_found; /* itself; the same tensor a second time is another */
} Written;

static gboolean
look_for_overlap (unsigned argument, XpTensor *tensor, void *data)
{
  Written *written = data;
  Examination *examination = written->examination;
  if (argument == written->argument && tensor == written->tensor && !written->is_found)
    {
      written->is_found = true;
      return TRUE;
    }
  if (!xp_tensors_may_overlap (written->tensor, tensor))
    return TRUE;
  if (is_written (examination, argument) || !may_copy (examination, argument))
    return refuse (examination, argument, tensor, OVERLAP);
  examination->copied_whole |= XP_BIT (argument);
  return TRUE;
}

static gboolean
examine_written (unsigned argument, XpTensor *tensor, void *data)
{
  Examination *examination = data;
  if (!is_written (examination, argument))
    return TRUE;
  if (xp_tensor_may_overlap_itself (tensor))
    return refuse (examination, argument, tensor, OVERLAP);
  Written written = { examination, argument, tensor, false };
  return xp_argument_tensors_visit (examination->op, examination->arguments, look_for_overlap,
                                    &written);
}

static Examination
examine (const XpOperator *op, const Takes *takes, const XpValue *arguments)
{
  const Head *head = head_of (op);
  Examination examination = {
    .op = op,
    .arguments = arguments,
    .takes = takes,
    .of = __atomic_load_n (&takes->of_schema, __ATOMIC_ACQUIRE),
    .written = __atomic_load_n (&head->written_arguments, __ATOMIC_RELAXED),
    .viewed = __atomic_load_n (&head->viewed_arguments, __ATOMIC_RELAXED),
  };
  if (examination.of != NULL
      && xp_argument_tensors_visit (op, arguments, examine_tensor, &examination)
      && takes->no_overlap)
    xp_argument_tensors_visit (op, arguments, examine_written, &examination);
  return examination;
}

XpError
xp_guard_explain (const XpOperator *op, const Registration *registration, const XpValue *arguments,
                  GString *text)
{
  static const XpError codes[] = { [WRONG_DTYPE] = XP_ERROR_NO_KERNEL_DTYPE,
                                   [NOT_CONTIGUOUS] = XP_ERROR_NOT_CONTIGUOUS,
                                   [OVERLAP] = XP_ERROR_OVERLAP };
  const Examination found = examine (op, registration->takes, arguments);
  if (!found.is_refused)
    {
      g_string_append (text, xp_guard_reason);
      return XP_ERROR_DECLINED;
    }
  g_autoptr (XpSchema) schema = xp_operator_schema (op);
  g_string_append_printf (text, "argument %u (%s) ", found.argument,
                          schema != NULL ? schema->arguments[found.argument].name : "?");
  if (found.fault == WRONG_DTYPE)
    {
      g_autofree char *dtypes = xp_takes_dtypes_text (found.of->arguments[found.argument].dtypes);
      g_string_append_printf (text, "is %s, and it takes %s",
                              xp_dtype_name (xp_tensor_dtype (found.tensor)), dtypes);
    }
  else if (found.fault == NOT_CONTIGUOUS)
    g_string_append_printf (text, "is not contiguous, and %s",
                            found.takes->refuses ? "it takes nothing else"
                                                 : "a copy cannot stand in for it");
  else
    g_string_append (text, "may share memory with what is written, and it does not take that");
  return codes[found.fault];
}

/* --- Copies. --- */

static XpTensor *
copy_tensor (XpTensor *tensor, bool is_whole, Takes *takes, GError **error)
{
  if (tensor->layout != XP_STRIDED || (!is_whole && xp_tensor_is_contiguous (tensor)))
    return xp_tensor_ref (tensor);
  XpTensor *copy = xp_tensor_copy (tensor, error);
  if (copy != NULL)
    __atomic_add_fetch (&takes->n_copies, 1, __ATOMIC_RELAXED);
  return copy;
}

/* A list of tensors stays one, also where all of them are None. */
static XpList *
list_of_tensors (const XpValue *elements, size_t n)
{
  g_autofree XpTensor **tensors = g_new0 (XpTensor *, n);
  for (size_t i = 0; i < n; i++)
    tensors[i] = elements[i].tag == XP_TAG_TENSOR ? elements[i].as.tensor : NULL;
  return xp_list_new_tensor (tensors, n);
}

static gboolean
copy_value (XpValue value, bool is_whole, Takes *takes, XpValue *copy, GError **error)
{
  *copy = XP_NONE;
  if (value.tag == XP_TAG_TENSOR)
    {
      XpTensor *tensor = copy_tensor (value.as.tensor, is_whole, takes, error);
      *copy = xp_value_tensor (tensor);
      return tensor != NULL;
    }
  if (value.tag != XP_TAG_LIST)
    {
      *copy = xp_value_ref (value);
      return TRUE;
    }
  size_t n = xp_list_length (value.as.list), done = 0;
  g_autofree XpValue *elements = g_new0 (XpValue, n);
  while (done < n
         && copy_value (xp_list_get (value.as.list, done), is_whole, takes, &elements[done], error))
    done++;
  if (done == n)
    *copy = xp_value_list (xp_list_element_tag (value.as.list) == XP_TAG_TENSOR
                               ? list_of_tensors (elements, n)
                               : xp_list_new (elements, n));
  xp_values_clear (elements, n);
  return done == n;
}

/* What the kernel wrote into copies is copied back, and results that are copies become what they
 * are copies of. */
static XpStatus
give_back (const Examination *examination, const XpValue *copies, XpValue *results, GError **error)
{
  const XpOperator *op = examination->op;
  for (uint64_t bits = examination->copied & examination->written; bits != 0; bits &= bits - 1)
    {
      unsigned i = (unsigned) __builtin_ctzll (bits);
      XpTensor *tensor = examination->arguments[i].as.tensor, *copy = copies[i].as.tensor;
      if (examination->arguments[i].tag != XP_TAG_TENSOR || copy == tensor)
        continue;
      if (!xp_tensor_resize (tensor, xp_tensor_shape (copy), error)
          || !xp_tensor_copy_elements (tensor, copy, error))
        return XP_FAILED;
      xp_tensor_written (tensor);
      for (uint32_t result = 0; result < op->n_results; result++)
        if (results[result].tag == XP_TAG_TENSOR && results[result].as.tensor == copy)
          {
            xp_value_clear (&results[result]);
            results[result] = xp_value_tensor (xp_tensor_ref (tensor));
          }
    }
  return XP_OK;
}

/* The values of a call that are copies; freed also when an exception passes through. */
typedef struct
{
  uint64_t made;
  XpValue values[64];
} Copies;

static void
copies_clear (Copies *copies)
{
  for (uint64_t bits = copies->made; bits != 0; bits &= bits - 1)
    xp_value_clear (&copies->values[__builtin_ctzll (bits)]);
}

static XP_COLD XpStatus
run_with_copies (XpCall *call, const Registration *registration, const Examination *examination,
                 XpValue *results, GError **error)
{
  __attribute__ ((cleanup (copies_clear))) Copies copies = { 0 };
  memcpy (copies.values, examination->arguments,
          examination->op->n_arguments * sizeof *copies.values);
  for (uint64_t bits = examination->copied | examination->copied_whole; bits != 0; bits &= bits - 1)
    {
      unsigned i = (unsigned) __builtin_ctzll (bits);
      bool is_whole = (examination->copied_whole >> i & 1) != 0;
      if (!copy_value (examination->arguments[i], is_whole, registration->takes, &copies.values[i],
                       error))
        return XP_FAILED;
      copies.made |= XP_BIT (i);
    }
  XpStatus status = registration->boxed (call, copies.values, results, error);
  return status == XP_OK ? give_back (examination, copies.values, results, error) : status;
}

XpStatus
xp_guard_kernel (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  const Registration *registration = xp_registration_of (call->kernel);
  const Examination found = examine (call->op, registration->takes, arguments);
  if (found.is_refused)
    return xp_call_decline (call, xp_guard_reason);
  if ((found.copied | found.copied_whole) == 0)
    return registration->boxed (call, arguments, results, error);
  return run_with_copies (call, registration, &found, results, error);
}
