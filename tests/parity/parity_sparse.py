# SPDX-License-Identifier: MIT
"""Cases with sparse COO tensors.

Their elements are small whole numbers, so that sums and products are exact in any order and results
must be equal. Sparse tensors are made of dense ones by to_sparse on both sides; a swap of two
dimensions afterwards leaves one that is not coalesced.
"""

import torch

import bounds
from compare import Case, operator_of
from crosspoint_ffi import Number
from inputs import DTYPES, FLOATS, LAYOUTS, SHAPES
from registry import cases
from wrong_cases import FITTING, arguments_of

BOTH = ["aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor", "aten::div.Tensor",
        "aten::add_.Tensor"]
WITH_NUMBER = {"aten::add.Tensor": torch.add, "aten::sub.Tensor": torch.sub,
               "aten::mul.Tensor": torch.mul, "aten::div.Tensor": torch.div,
               "aten::add_.Tensor": torch.Tensor.add_}
UNARY = ["aten::neg", "aten::relu", "aten::gelu", "aten::sigmoid", "aten::exp", "aten::sum",
         "aten::mean", "aten::argmax", "aten::clone", "aten::coalesce", "aten::_coalesce",
         "aten::indices", "aten::values", "aten::to_dense", "aten::to_sparse", "aten::_to_copy"]
COMMON = [torch.float32, torch.float64, torch.int64]


def dense(chance, shape, dtype=torch.float32):
    """Small whole numbers, two in three of them 0."""
    tensor = chance.tensor(shape, dtype, mode="few")
    kept = torch.tensor([chance.random() < 0.4 for _ in range(tensor.numel())],
                        dtype=torch.bool).reshape(shape)
    return torch.where(kept, tensor, torch.zeros((), dtype=dtype))


def sparse(chance, shape, dtype=torch.float32, swap=None):
    """A sparse tensor that remembers what it was made of; see Session.tensor."""
    shape = list(shape)
    if swap:
        shape[swap[0]], shape[swap[1]] = shape[swap[1]], shape[swap[0]]
    source = dense(chance, shape, dtype)
    tensor = source.to_sparse()
    if swap:
        tensor = tensor.transpose(*swap)
    tensor.made_of = source, swap
    return tensor


def some(chance, shape, dtype=torch.float32):
    """A sparse tensor, coalesced or not."""
    swap = chance.choice([None, (0, len(shape) - 1)]) if len(shape) > 1 else None
    return sparse(chance, shape, dtype, swap)


@cases(*BOTH)
def two(op, chance):
    for first in COMMON:
        for second in COMMON:
            for shape in [(3, 4), (5,), (2, 3, 4), (0, 3)]:
                yield Case(op, some(chance, shape, first), some(chance, shape, second), meta=False,
                           bound=bounds.exact)
    for shape in [(3, 4), (5,), (2, 3, 2)]:
        one, other = some(chance, shape), some(chance, shape)
        yield Case(op, one, dense(chance, shape), meta=False, bound=bounds.exact)
        yield Case(op, dense(chance, shape), other, meta=False, bound=bounds.exact)
        yield Case(op, one, one, meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (3, 4)), some(chance, (4, 3)), meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (3, 4)), some(chance, (4,)), meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (3, 4)), dense(chance, (4,)), meta=False, bound=bounds.exact)
    yield Case(op, dense(chance, (4,)), some(chance, (3, 4)), meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (3, 4)), torch.tensor(2.0), meta=False, bound=bounds.exact)
    for number in [2, 0.5, True]:
        for dtype in COMMON:
            yield Case(op, some(chance, (3, 4), dtype), Number(number), meta=False,
                       bound=bounds.exact, through=with_number(op))


def with_number(op):
    def call(self, number):
        return WITH_NUMBER[op](self, number.value)

    return call


@cases("aten::add.Tensor", "aten::sub.Tensor", "aten::add_.Tensor")
def scaled(op, chance):
    for alpha in [2, -1, 0, 0.5]:
        for dtype in COMMON:
            one, other = some(chance, (3, 4), dtype), some(chance, (3, 4), dtype)
            yield Case(op, one, other, alpha=alpha, meta=False, bound=bounds.exact)
            yield Case(op, dense(chance, (3, 4), dtype), other, alpha=alpha, meta=False,
                       bound=bounds.exact)


@cases("aten::add.Scalar", "aten::mul.Scalar", "aten::div.Scalar")
def with_scalar(op, chance):
    for dtype in COMMON:
        for number in [2, 0.5, 0]:
            for shape in [(3, 4), (5,), (0, 2)]:
                yield Case(op, some(chance, shape, dtype), number, meta=False, bound=bounds.exact)


@cases("aten::add.out")
def out(op, chance):
    for target in [some(chance, (3, 4)), some(chance, (2, 2)), dense(chance, (3, 4)),
                   some(chance, (3, 4), torch.float64), some(chance, (3, 4), torch.int64)]:
        yield Case(op, some(chance, (3, 4)), some(chance, (3, 4)), out=target, meta=False,
                   bound=bounds.exact)
        yield Case(op, dense(chance, (3, 4)), some(chance, (3, 4)), out=target, meta=False,
                   bound=bounds.exact)


@cases(*UNARY)
def one(op, chance):
    for dtype in [*FLOATS, torch.int64, torch.bool, torch.complex64]:
        for shape in [(), (5,), (3, 4), (2, 3, 4), (0, 3)]:
            yield Case(op, sparse(chance, shape, dtype), meta=False, bound=bounds.exact)
        for shape, swap in [((3, 4), (0, 1)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (1, 2))]:
            yield Case(op, sparse(chance, shape, dtype, swap), meta=False, bound=bounds.exact)


@cases("aten::to_sparse")
def to_sparse(op, chance):
    for dtype in DTYPES:
        for shape in SHAPES:
            yield Case(op, dense(chance, shape, dtype), meta=False, bound=bounds.exact)
    for layout in LAYOUTS:
        for shape in [(3, 4), (2, 3, 4), (2, 3, 2, 2)]:
            yield Case(op, chance.tensor(shape, torch.float32, layout, "few"), meta=False,
                       bound=bounds.exact)
    yield Case(op, chance.tensor((30,), mode="special"), meta=False, bound=bounds.exact)


@cases("aten::to_sparse.sparse_dim")
def to_hybrid(op, chance):
    for dtype in COMMON:
        for shape in [(), (5,), (3, 4), (2, 3, 4), (0, 3), (3, 0)]:
            for sparse_dim in range(len(shape) + 2):
                yield Case(op, dense(chance, shape, dtype), sparse_dim, meta=False,
                           bound=bounds.exact)
    yield Case(op, dense(chance, (3, 4)), -1, meta=False, bound=bounds.exact)
    yield Case(op, chance.tensor((3, 4), layout="transposed", mode="few"), 1, meta=False,
               bound=bounds.exact)
    yield Case(op, some(chance, (3, 4)), 2, meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (3, 4)), 1, meta=False, bound=bounds.exact)


@cases("aten::to_dense", "aten::_to_copy")
def converted(op, chance):
    for dtype in DTYPES:
        for target in [torch.float32, torch.float64, torch.int64, torch.complex64]:
            yield Case(op, some(chance, (3, 4), dtype), dtype=target, meta=False,
                       bound=bounds.exact)


@cases("aten::_to_copy")
def to_layout(op, chance):
    for tensor in [some(chance, (3, 4)), dense(chance, (3, 4))]:
        for layout in [torch.sparse_coo, torch.strided]:
            for dtype in [None, torch.float64]:
                yield Case(op, tensor, layout=layout, dtype=dtype, meta=False, bound=bounds.exact)


@cases("aten::mm")
def products(op, chance):
    for dtype in COMMON:
        for m, k, n in [(2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 0, 3), (5, 6, 7)]:
            a, b = some(chance, (m, k), dtype), some(chance, (k, n), dtype)
            yield Case(op, a, dense(chance, (k, n), dtype), meta=False, bound=bounds.exact)
            yield Case(op, a, dense(chance, (n, k), dtype).t(), meta=False, bound=bounds.exact)
            yield Case(op, a, b, meta=False, bound=bounds.exact)
            yield Case(op, dense(chance, (m, k), dtype), b, meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (2, 3)), dense(chance, (2, 3)), meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (2, 3)), some(chance, (2, 3)), meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (2, 3)), dense(chance, (3,)), meta=False, bound=bounds.exact)
    yield Case(op, some(chance, (2, 3)), dense(chance, (3, 2), torch.float64), meta=False,
               bound=bounds.exact)


@cases("aten::addmm")
def sums_of_products(op, chance):
    for dtype in COMMON:
        for beta, alpha in [(1, 1), (0, 1), (2, -1), (1, 0)]:
            a, b = some(chance, (2, 4), dtype), some(chance, (4, 3), dtype)
            for self in [dense(chance, (2, 3), dtype), dense(chance, (3,), dtype),
                         some(chance, (2, 3), dtype)]:
                for second in [dense(chance, (4, 3), dtype), b]:
                    yield Case(op, self, a, second, beta=beta, alpha=alpha, meta=False,
                               bound=bounds.exact)
    yield Case(op, dense(chance, (2, 3)), some(chance, (2, 3)), dense(chance, (4, 3)), meta=False)
    yield Case(op, dense(chance, (5, 5)), some(chance, (2, 4)), dense(chance, (4, 3)), meta=False)


@cases("aten::matmul", "aten::linear")
def stacked_products(op, chance):
    columns = (4, 3) if op == "aten::matmul" else (3, 4)
    for a, b in [(some(chance, (2, 4)), dense(chance, columns)),
                 (some(chance, (2, 4)), some(chance, columns)),
                 (dense(chance, (2, 4)), some(chance, columns)),
                 (some(chance, (2, 4)), dense(chance, (4,)))]:
        yield Case(op, a, b, meta=False, bound=bounds.exact)


@cases("aten::copy_", "aten::add.out")
def reshaped(op, chance):
    """What is written to has another shape, with elements or without."""
    for target in [some(chance, (3, 4)), torch.zeros(3, 4), some(chance, (5,))]:
        if target.layout == torch.strided:
            source, target = target, target.to_sparse()
            target.made_of = source, None
        for shape in [(2, 2), (5, 6), (2, 6), (3, 4, 2), (4,), (0, 4)]:
            result = some(chance, shape)
            if op == "aten::copy_":
                yield Case(op, target, result, meta=False, bound=bounds.exact)
            else:
                yield Case(op, result, result, out=target, meta=False, bound=bounds.exact)


@cases("aten::copy_")
def copies(op, chance):
    for first in COMMON:
        for second in COMMON:
            yield Case(op, some(chance, (3, 4), first), some(chance, (3, 4), second), meta=False,
                       bound=bounds.exact)
    yield Case(op, some(chance, (3, 4)), dense(chance, (3, 4)), meta=False, bound=bounds.exact)
    yield Case(op, dense(chance, (3, 4)), some(chance, (3, 4)), meta=False, bound=bounds.exact)


@cases("aten::zeros", "aten::ones", "aten::empty.memory_format")
def factories(op, chance):
    for size in [[], [3], [2, 3], [0, 2], [-1]]:
        for dtype in [None, torch.int64, torch.complex64]:
            yield Case(op, size, dtype=dtype, layout=torch.sparse_coo, meta=False,
                       bound=bounds.exact)
    if op == "aten::empty.memory_format":
        yield Case(op, [2, 3], layout=torch.sparse_coo, memory_format=torch.contiguous_format,
                   meta=False)


@cases("aten::full")
def full(op, chance):
    yield Case(op, [2, 3], 1.5, layout=torch.sparse_coo, meta=False)


@cases("aten::transpose.int")
def transposed(op, chance):
    for shape in [(5,), (3, 4), (2, 3, 4)]:
        for first in range(-len(shape), len(shape)):
            for second in range(len(shape)):
                yield Case(op, some(chance, shape), first, second, meta=False, bound=bounds.exact)
        yield Case(op, some(chance, shape), 0, len(shape), meta=False, bound=bounds.exact)


@cases("aten::select.int")
def selected(op, chance):
    for shape in [(5,), (3, 4), (2, 3, 4)]:
        for dim in range(-len(shape), len(shape)):
            for index in [0, 1, -1, 7]:
                yield Case(op, some(chance, shape), dim, index, meta=False, bound=bounds.exact)


def mixed_cases(op, chance):
    """Any operator, by its schema: the first tensor sparse, or all of them."""
    arguments = arguments_of(operator_of(op)._schema)
    tensors = [name for name, kind, _, _ in arguments if kind.rstrip("?") == "Tensor"]
    for chosen in [tensors[:1], tensors, tensors[1:2]]:
        positional, keywords = [], {}
        for name, kind, only, default in arguments:
            value = some(chance, (3, 3)) if name in chosen else FITTING[kind.rstrip("?")]
            if kind.rstrip("?") == "Tensor" and name not in chosen:
                value = dense(chance, (3, 3))
            if only and (name in tensors or not default):
                keywords[name] = value
            elif not only:
                positional.append(value)
        if chosen:
            yield Case(op, *positional, **keywords, meta=False, bound=bounds.exact)
