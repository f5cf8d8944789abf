/* SPDX-License-Identifier: MIT
 *
 * pointwise.c: operators of two operands that broadcast.
 */
#include "element.h"

#include <crosspoint/aten.h>

#define PLAIN(name, dtype, Element, Number)                                                        \
  CPU_BINARY_RUN (add_##name, Element, Element, Number, Number, a + *c * b)                        \
  CPU_BINARY_RUN (mul_##name, Element, Element, Number, void, a *b)                                \
  CPU_BINARY_RUN (eq_##name, bool, Element, Element, void, a == b)
CPU_EACH_INTEGER (PLAIN)
CPU_EACH_FLOAT (PLAIN)

#define COMPLEX(name, dtype, Element, Number)                                                      \
  CPU_BINARY_RUN (add_##name, Element, Element, Number, Number, a + cpu_multiply_##name (*c, b))   \
  CPU_BINARY_RUN (mul_##name, Element, Element, Number, void, cpu_multiply_##name (a, b))          \
  CPU_BINARY_RUN (eq_##name, bool, Element, Element, void, a == b)
CPU_EACH_COMPLEX (COMPLEX)

#define COMPLEX_QUOTIENT(name, dtype, Element, Number)                                             \
  CPU_BINARY_RUN (div_##name, Element, Element, Number, void, cpu_divide_##name (a, b))
CPU_EACH_COMPLEX (COMPLEX_QUOTIENT)

#define QUOTIENT(name, dtype, Element, Number)                                                     \
  CPU_BINARY_RUN (div_##name, Element, Element, Number, void, a / b)
CPU_EACH_FLOAT (QUOTIENT)

CPU_BINARY_RUN (add_bool, bool, uint8_t, bool, bool, a || (*c && b))
CPU_BINARY_RUN (mul_bool, bool, uint8_t, bool, void, a &&b)
CPU_BINARY_RUN (eq_bool, bool, uint8_t, bool, void, a == b)

#define ADD_ROW(name, dtype, Element, Number) [dtype] = add_##name,
#define MUL_ROW(name, dtype, Element, Number) [dtype] = mul_##name,
#define EQ_ROW(name, dtype, Element, Number) [dtype] = eq_##name,
#define DIV_ROW(name, dtype, Element, Number) [dtype] = div_##name,
#define EACH(_) CPU_EACH_INTEGER (_) CPU_EACH_FLOAT (_) CPU_EACH_COMPLEX (_)

static const CpuRun add_runs[XP_DTYPE_LIMIT] = { EACH (ADD_ROW)[XP_BOOL] = add_bool };
static const CpuRun mul_runs[XP_DTYPE_LIMIT] = { EACH (MUL_ROW)[XP_BOOL] = mul_bool };
static const CpuRun eq_runs[XP_DTYPE_LIMIT] = { EACH (EQ_ROW)[XP_BOOL] = eq_bool };
static const CpuRun div_runs[XP_DTYPE_LIMIT] = { CPU_EACH_FLOAT (DIV_ROW)
                                                     CPU_EACH_COMPLEX (DIV_ROW) };

/* Runs over both operands, converted to @dtype. */
static XpStatus
run_binary (const CpuRun *runs, const char *name, XpTensor *self, XpTensor *other, XpDType dtype,
            const void *context, XpTensor *prepared, XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) owned = prepared;
  if (owned == NULL)
    return XP_FAILED;
  XpDType computed = cpu_computed_in (dtype);
  if (runs[computed] == NULL)
    return prepare_not_implemented (name, dtype, error);
  XpDType written = runs == eq_runs ? XP_BOOL : dtype;
  cpu_loop (&(CpuLoop){
      runs[computed], context, 3, { owned, self, other }, { written, dtype, dtype }, true });
  *result = g_steal_pointer (&owned);
  return XP_OK;
}

/* alpha, or its opposite, in the type that the run computes in. */
static XpStatus
run_add (XpTensor *self, XpTensor *other, XpValue alpha, bool negate, XpDType dtype,
         XpTensor *prepared, XpTensor **result, GError **error)
{
  union
  {
    uint32_t narrow;
    uint64_t wide;
    float single;
    double whole;
    float _Complex complex64;
    double _Complex complex128;
    bool truth;
  } factor;
  double real, imaginary;
  int64_t integer = xp_scalar_to_int64 (alpha);
  xp_scalar_to_complex (alpha, &real, &imaginary);
  if (negate)
    {
      real = -real;
      imaginary = -imaginary;
      integer = (int64_t) - (uint64_t) integer;
    }
  switch (dtype)
    {
    case XP_BOOL:
      factor.truth = integer != 0;
      break;
    case XP_INT64:
      factor.wide = (uint64_t) integer;
      break;
    case XP_FLOAT64:
      factor.whole = real;
      break;
    case XP_FLOAT32:
    case XP_FLOAT16:
    case XP_BFLOAT16:
      factor.single = (float) real;
      break;
    case XP_COMPLEX64:
      factor.complex64 = cpu_pair_complex64 ((float) real, (float) imaginary);
      break;
    case XP_COMPLEX128:
      factor.complex128 = cpu_pair_complex128 (real, imaginary);
      break;
    default:
      factor.narrow = (uint32_t) integer;
    }
  return run_binary (add_runs, "add_stub", self, other, dtype, &factor, prepared, result, error);
}

static XpStatus
add (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
     GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_add (self, other, alpha, NULL, &dtype, error);
  return run_add (self, other, alpha, false, dtype, prepared, result, error);
}

static XpStatus
add_out (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor *out,
         XpTensor **result, GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_add (self, other, alpha, out, &dtype, error);
  return run_add (self, other, alpha, false, dtype, prepared, result, error);
}

static XpStatus
add_ (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
      GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_add (self, other, alpha, self, &dtype, error);
  return run_add (self, other, alpha, false, dtype, prepared, result, error);
}

static XpStatus
sub (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
     GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_sub (self, other, alpha, &dtype, error);
  return run_add (self, other, alpha, true, dtype, prepared, result, error);
}

static XpStatus
mul (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result, GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_mul (self, other, &dtype, error);
  return run_binary (mul_runs, "mul_cpu", self, other, dtype, NULL, prepared, result, error);
}

static XpStatus
div_true (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result,
          GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_div (self, other, &dtype, error);
  return run_binary (div_runs, "div_cpu", self, other, dtype, NULL, prepared, result, error);
}

static XpStatus
eq (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result, GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_eq (self, other, &dtype, error);
  return run_binary (eq_runs, "eq_cpu", self, other, dtype, NULL, prepared, result, error);
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_add_Tensor (m, add);
  xp_impl_aten_add_out (m, add_out);
  xp_impl_aten_add__Tensor (m, add_);
  xp_impl_aten_sub_Tensor (m, sub);
  xp_impl_aten_mul_Tensor (m, mul);
  xp_impl_aten_div_Tensor (m, div_true);
  xp_impl_aten_eq_Tensor (m, eq);
}
