/* SPDX-License-Identifier: MIT
 *
 * unary.c: operators of one operand, element by element.
 */
#include "element.h"

#include <crosspoint/aten.h>

#include <complex.h>
#include <math.h>

static inline float
float_of_bits (uint32_t bits)
{
  float number;
  memcpy (&number, &bits, sizeof number);
  return number;
}

static inline uint32_t
bits_of_float (float number)
{
  uint32_t bits;
  memcpy (&bits, &number, sizeof bits);
  return bits;
}

/* e^x within 2 units in the last place, in a form that compilers vectorise: x = n ln 2 + r, and a
 * polynomial for e^r. 2^n is applied in two halves, so that it may leave the range of normal
 * numbers at both ends. */
static inline float
exp_float32 (float x)
{
  /* Added and taken away again, it rounds to an integer, which stands in the last bits between. */
  const float shift = 0x1.8p23f;
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  float shifted = x * 0x1.715476p+0f + shift;
  float n = shifted - shift;
  float r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f;
  float p = 0x1.a01a02p-13f;
  p = p * r + 0x1.6c16c2p-10f;
  p = p * r + 0x1.111112p-7f;
  p = p * r + 0x1.555556p-5f;
  p = p * r + 0x1.555556p-3f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  uint32_t whole = bits_of_float (shifted) - bits_of_float (shift) + 254;
  uint32_t half = whole >> 1;
  return p * float_of_bits (half << 23) * float_of_bits ((whole - half) << 23);
}

static inline float
sigmoid_float32 (float x)
{
  return 1.0f / (1.0f + exp_float32 (-x));
}

static inline double
sigmoid_float64 (double x)
{
  return 1.0 / (1.0 + exp (-x));
}

/* With erfc, 1 + erf(x) loses nothing where x is far below zero. */
static inline double
gelu_float64 (double x)
{
  return x * 0.5 * erfc (-x * M_SQRT1_2);
}

static inline double
gelu_tanh_float64 (double x)
{
  double inner = M_SQRT2 * M_2_SQRTPI * 0.5 * (x + 0.044715 * x * x * x);
  /* 1 + tanh(y) is 2 / (1 + e^-2y). */
  return x * (1.0 / (1.0 + exp (-2.0 * inner)));
}

#define NEG(name, dtype, Element, Number) CPU_UNARY_RUN (neg_##name, Element, Element, Number, -a)
CPU_EACH_INTEGER (NEG)
CPU_EACH_FLOAT (NEG)
CPU_EACH_COMPLEX (NEG)

/* Keeps NaN and the sign of zero. */
#define RELU(name, dtype, Element, Number)                                                         \
  CPU_UNARY_RUN (relu_##name, Element, Element, Element, a <= 0 && a != 0 ? 0 : a)
CPU_EACH_INTEGER (RELU)
CPU_EACH_FLOAT (RELU)

CPU_UNARY_RUN (exp_run_float32, float, float, float, exp_float32 (a))
CPU_UNARY_RUN (exp_run_float64, double, double, double, exp (a))
CPU_UNARY_RUN (sigmoid_run_float32, float, float, float, sigmoid_float32 (a))
CPU_UNARY_RUN (sigmoid_run_float64, double, double, double, sigmoid_float64 (a))
CPU_UNARY_RUN (exp_run_complex64, float _Complex, float _Complex, double _Complex, cexp (a))
CPU_UNARY_RUN (exp_run_complex128, double _Complex, double _Complex, double _Complex, cexp (a))
CPU_UNARY_RUN (sigmoid_run_complex64, float _Complex, float _Complex, double _Complex,
               cpu_divide_complex128 (1, 1 + cexp (-a)))
CPU_UNARY_RUN (sigmoid_run_complex128, double _Complex, double _Complex, double _Complex,
               cpu_divide_complex128 (1, 1 + cexp (-a)))
CPU_UNARY_RUN (gelu_run_float32, float, float, double, gelu_float64 (a))
CPU_UNARY_RUN (gelu_run_float64, double, double, double, gelu_float64 (a))
CPU_UNARY_RUN (gelu_tanh_run_float32, float, float, double, gelu_tanh_float64 (a))
CPU_UNARY_RUN (gelu_tanh_run_float64, double, double, double, gelu_tanh_float64 (a))

#define NEG_ROW(name, dtype, Element, Number) [dtype] = neg_##name,
#define RELU_ROW(name, dtype, Element, Number) [dtype] = relu_##name,

/**
 * Unary:
 * @name: what PyTorch calls the kernel
 * @takes_half: whether it takes float16
 * @runs: a run for each dtype it computes in
 *
 * A kernel of one operand.
 */
typedef struct
{
  const char *name;
  bool takes_half;
  CpuRun runs[XP_DTYPE_LIMIT];
} Unary;

static const Unary unary_neg = { "neg_cpu",
                                 true,
                                 { CPU_EACH_INTEGER (NEG_ROW) CPU_EACH_FLOAT (NEG_ROW)
                                       CPU_EACH_COMPLEX (NEG_ROW) } };
static const Unary unary_relu = { "clamp_min_cpu",
                                  false,
                                  { CPU_EACH_INTEGER (RELU_ROW) CPU_EACH_FLOAT (RELU_ROW) } };
static const Unary unary_exp = { "exp_vml_cpu",
                                 false,
                                 { [XP_FLOAT32] = exp_run_float32,
                                   [XP_FLOAT64] = exp_run_float64,
                                   [XP_COMPLEX64] = exp_run_complex64,
                                   [XP_COMPLEX128] = exp_run_complex128 } };
static const Unary unary_sigmoid = { "sigmoid_cpu",
                                     false,
                                     { [XP_FLOAT32] = sigmoid_run_float32,
                                       [XP_FLOAT64] = sigmoid_run_float64,
                                       [XP_COMPLEX64] = sigmoid_run_complex64,
                                       [XP_COMPLEX128] = sigmoid_run_complex128 } };
static const Unary unary_gelu = {
  "GeluKernelImpl", false, { [XP_FLOAT32] = gelu_run_float32, [XP_FLOAT64] = gelu_run_float64 }
};
static const Unary unary_gelu_tanh = {
  "GeluKernelImpl",
  false,
  { [XP_FLOAT32] = gelu_tanh_run_float32, [XP_FLOAT64] = gelu_tanh_run_float64 }
};

static XpStatus
run_unary (const Unary *unary, XpTensor *self, XpDType dtype, XpTensor *prepared, XpTensor **result,
           GError **error)
{
  g_autoptr (XpTensor) owned = prepared;
  if (owned == NULL)
    return XP_FAILED;
  XpDType computed = cpu_computed_in (dtype);
  if (unary->runs[computed] == NULL || (dtype == XP_FLOAT16 && !unary->takes_half))
    return prepare_not_implemented (unary->name, dtype, error);
  cpu_loop (&(CpuLoop){ unary->runs[computed], NULL, 2, { owned, self }, { dtype, dtype }, true });
  *result = g_steal_pointer (&owned);
  return XP_OK;
}

static XpStatus
neg (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_neg (self, &dtype, error);
  return run_unary (&unary_neg, self, dtype, prepared, result, error);
}

static XpStatus
relu (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_relu (self, &dtype, error);
  return run_unary (&unary_relu, self, dtype, prepared, result, error);
}

static XpStatus
gelu (G_GNUC_UNUSED XpCall *call, XpTensor *self, const char *approximate, XpTensor **result,
      GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_gelu (self, approximate, &dtype, error);
  return run_unary (strcmp (approximate, "tanh") == 0 ? &unary_gelu_tanh : &unary_gelu, self, dtype,
                    prepared, result, error);
}

static XpStatus
sigmoid (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_float_unary (self, &dtype, error);
  return run_unary (&unary_sigmoid, self, dtype, prepared, result, error);
}

static XpStatus
exp_kernel (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpDType dtype;
  XpTensor *prepared = prepare_float_unary (self, &dtype, error);
  return run_unary (&unary_exp, self, dtype, prepared, result, error);
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_neg (m, neg);
  xp_impl_aten_relu (m, relu);
  xp_impl_aten_gelu (m, gelu);
  xp_impl_aten_sigmoid (m, sigmoid);
  xp_impl_aten_exp (m, exp_kernel);
}
