# SPDX-License-Identifier: MIT
"""How far a result may be from PyTorch's, and why.

A bound is a function of a case and the expected result; it gives the largest absolute difference of
each element, in float64, or None where results must be equal bit for bit, but for the payload of a
NaN.
"""

import torch

# Half the distance from 1 to the next number.
UNIT = {
    torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8, torch.float32: 2.0 ** -24,
    torch.float64: 2.0 ** -53, torch.complex64: 2.0 ** -24, torch.complex128: 2.0 ** -53,
}
# What one elementwise function may be off, relative to its value. Halves are computed in float32
# and rounded: a difference there may move a value across the middle between two neighbours.
RELATIVE = {
    torch.float16: 2.0 ** -10, torch.bfloat16: 2.0 ** -7, torch.float32: 1e-6,
    torch.float64: 1e-12, torch.complex64: 1e-6, torch.complex128: 1e-12,
}
# The distance between denormals.
LEAST = {
    torch.float16: 2.0 ** -24, torch.bfloat16: 2.0 ** -133, torch.float32: 2.0 ** -149,
    torch.float64: 2.0 ** -1074, torch.complex64: 2.0 ** -149, torch.complex128: 2.0 ** -1074,
}
# The bound of an element that may be anything.
ANY = torch.tensor(-1.0, dtype=torch.float64)


def magnitude(tensor):
    """Absolute values in float64."""
    tensor = tensor.detach()
    wide = tensor.to(torch.complex128) if tensor.is_complex() else tensor.to(torch.float64)
    return wide.abs()


def is_inexact(dtype):
    return dtype in UNIT


def exact(case, expected):
    return None


def relative(case, expected):
    """An elementwise function."""
    return RELATIVE[expected.dtype] * magnitude(expected) + LEAST[expected.dtype]


def argument(case, name, position=None, default=None):
    if name in case.kwargs:
        return case.kwargs[name]
    if position is not None and position < len(case.args):
        return case.args[position]
    return default


def tensor_of(value):
    value = getattr(value, "value", value)
    return value if isinstance(value, torch.Tensor) else torch.tensor(value)


def added(case, expected):
    """self + alpha * other: exact where alpha is 1; else the product may have been rounded or not,
    as PyTorch's vectorised and scalar paths differ in (fused multiply-add)."""
    position = 2 if case.op == "aten::add.Scalar" else None
    alpha = argument(case, "alpha", position, 1)
    if alpha == 1:
        return None
    other = magnitude(tensor_of(case.args[1]))
    product = other * abs(alpha)
    computed = torch.result_type(tensor_of(case.args[0]), tensor_of(case.args[1]))
    computed = computed if is_inexact(computed) else expected.dtype
    bound = 2 * UNIT[computed] * (product + magnitude(expected)) + LEAST[computed]
    overflows = torch.isfinite(other) & (product > torch.finfo(computed).max)
    return torch.where(overflows, ANY, bound)


def gelu(case, expected):
    """Relative to the argument where the value is smaller: in the tail PyTorch's vectorised and
    scalar paths differ by the rounding of 1 + erf."""
    return RELATIVE[expected.dtype] * torch.maximum(magnitude(expected), magnitude(case.args[0])) \
        + LEAST[expected.dtype]


def sigmoid(case, expected):
    """Below the least normal number PyTorch's 1 / (1 + exp(-x)) gives 0, as exp overflows."""
    return relative(case, expected) + (0 if expected.is_complex()
                                       else torch.finfo(expected.dtype).tiny)


def accumulated(terms, expected, count):
    """A sum of `count` terms, whatever the order: each of both results is at most count * unit
    times the sum of the absolute terms away from the true value. Complex products round up to four
    times, and so do a cast and a scale."""
    return 2 * (count + 4) * UNIT[expected.dtype] * terms + LEAST[expected.dtype]


def summed(case, expected):
    """sum and mean: over all dimensions or those given."""
    tensor = case.args[0]
    dims = argument(case, "dim", 1 if "dim" in case.op else None)
    keepdim = argument(case, "keepdim", 2, False)
    terms = magnitude(tensor)
    if dims is None or dims == []:
        dims = list(range(tensor.dim()))
    dims = [dims] if isinstance(dims, int) else dims
    total = terms.sum(dims, keepdim=keepdim) if tensor.dim() else terms
    count = max(tensor.numel() // max(expected.numel(), 1), 1)
    return accumulated(total / (count if case.op == "aten::mean" else 1), expected, count)


def multiplied(case, expected):
    """mm and matmul."""
    a, b = magnitude(case.args[0]), magnitude(case.args[1])
    return accumulated(torch.matmul(a, b), expected, case.args[0].shape[-1])


def added_product(case, expected):
    """addmm."""
    self, a, b = (magnitude(tensor) for tensor in case.args[:3])
    beta, alpha = abs(argument(case, "beta", None, 1)), abs(argument(case, "alpha", None, 1))
    terms = alpha * torch.matmul(a, b) + (beta * self if beta != 0 else 0)
    return accumulated(terms, expected, a.shape[-1])


def linear(case, expected):
    a, b = magnitude(case.args[0]), magnitude(case.args[1])
    terms = torch.matmul(a, b.t() if b.dim() == 2 else b)
    bias = argument(case, "bias", 2)
    return accumulated(terms if bias is None else terms + magnitude(bias), expected, a.shape[-1])


def show(tensor, where):
    index = torch.nonzero(where)[0].tolist() if tensor.dim() else []
    return f"{tensor[tuple(index)].item()!r}", index


def difference(expected, found, case, allowed=None):
    """The first element that is too far off, as a text, or None. `allowed` replaces the bound of
    the case."""
    expected = expected.detach()
    allowed = allowed or case.bound
    bound = allowed(case, expected) if is_inexact(expected.dtype) else None
    same = found == expected
    if is_inexact(expected.dtype):
        if not expected.is_complex():
            zeros = same & (expected == 0)
            if allowed in (exact, relative):
                same &= ~zeros | (torch.signbit(expected) == torch.signbit(found))
        same |= torch.isnan(expected) & torch.isnan(found)
    if bound is not None and not bool(same.all()):
        wide = torch.complex128 if expected.is_complex() else torch.float64
        off = (found.to(wide) - expected.to(wide)).abs()
        same |= (off <= bound) & torch.isfinite(expected) & torch.isfinite(found) \
            & ~((expected == 0) & (found == 0))
        same |= bound == ANY
    if bool(same.all()):
        return None
    want, index = show(expected, ~same)
    got, _ = show(found, ~same)
    return f"element {index}: expected {want}, found {got}"
