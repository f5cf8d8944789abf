/* SPDX-License-Identifier: MIT
 *
 * dispatch.cpp: what a call costs in PyTorch: operators and kernels as in bench.ops and kernels.c.
 */
#include "figures.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

static volatile int64_t sink;

static void
nop2 (const at::Tensor &a, const at::Tensor &, double)
{
  sink = reinterpret_cast<int64_t> (&a);
}

static void
nop9 (const at::Tensor &a, const at::Tensor &, const c10::optional<at::Tensor> &, int64_t, int64_t,
      double, double, bool, bool)
{
  sink = reinterpret_cast<int64_t> (&a);
}

static at::Tensor
id1 (const at::Tensor &a)
{
  return a;
}

static int64_t
num0 (int64_t x)
{
  return x + 1;
}

TORCH_LIBRARY (bench, m)
{
  m.def ("nop2(Tensor a, Tensor b, float s) -> ()");
  m.def ("nop9(Tensor a, Tensor b, Tensor? c, int i, int j, float s, float t, bool u, bool v) -> ()");
  m.def ("id1(Tensor a) -> Tensor");
  m.def ("num0(int x) -> int");
}

TORCH_LIBRARY_IMPL (bench, CPU, m)
{
  m.impl ("nop2", nop2);
  m.impl ("nop9", nop9);
  m.impl ("id1", id1);
}

TORCH_LIBRARY_IMPL (bench, CompositeExplicitAutograd, m)
{
  m.impl ("num0", num0);
}

static c10::OperatorHandle
find (const char *name)
{
  return c10::Dispatcher::singleton ().findSchemaOrThrow (name, "");
}

/* Boxed calls: with a stack made for each, and with one that is used again. */
static void
measure_boxed (const char *fresh, const char *reused, const c10::OperatorHandle &op,
               const at::Tensor &a, const at::Tensor &b)
{
  auto push = [&] (torch::jit::Stack &stack) {
    stack.emplace_back (a);
    stack.emplace_back (b);
    stack.emplace_back (1.0);
  };
  measure (fresh, [&] {
    torch::jit::Stack stack;
    stack.reserve (3);
    push (stack);
    op.callBoxed (stack);
  });
  torch::jit::Stack stack;
  stack.reserve (8);
  measure (reused, [&] {
    stack.clear ();
    push (stack);
    op.callBoxed (&stack);
  });
}

void
measure_dispatch ()
{
  auto a = at::ones ({ 2, 2 }), b = at::ones ({ 2, 2 });
  auto op = find ("bench::nop2");
  auto typed = op.typed<void (const at::Tensor &, const at::Tensor &, double)> ();
  auto nine = find ("bench::nop9")
                  .typed<void (const at::Tensor &, const at::Tensor &,
                               const c10::optional<at::Tensor> &, int64_t, int64_t, double, double,
                               bool, bool)> ();
  auto result = find ("bench::id1").typed<at::Tensor (const at::Tensor &)> ();
  auto number = find ("bench::num0").typed<int64_t (int64_t)> ();
  void (*volatile direct) (const at::Tensor &, const at::Tensor &, double) = nop2;

  measure ("direct", [&] { direct (a, b, 1.0); });
  measure ("typed", [&] { typed.call (a, b, 1.0); });
  measure ("typed_9", [&] { nine.call (a, b, c10::nullopt, 1, 2, 1.0, 2.0, true, false); });
  measure ("typed_result", [&] { auto returned = result.call (a); });
  measure ("typed_number", [&] { sink = number.call (3); });
  measure ("redispatch",
           [&] { typed.redispatch (c10::DispatchKeySet (c10::DispatchKey::CPU), a, b, 1.0); });
  measure_boxed ("boxed_typed_fresh", "boxed_typed", op, a, b);
  measure ("guard", [&] { at::AutoDispatchBelowADInplaceOrView guard; });
  measure ("find", [&] {
    sink = c10::Dispatcher::singleton ().findSchema ({ "bench::nop2", "" }).has_value ();
  });
  measure ("find_unknown", [&] {
    sink = c10::Dispatcher::singleton ().findSchema ({ "bench::absent", "" }).has_value ();
  });
}
