# SPDX-License-Identifier: MIT
"""Cases of reductions, products of matrices, views and factories."""

import torch

import bounds
from compare import Case
from inputs import COMMON, DTYPES, FLOATS, LAYOUTS, SHAPES
from registry import cases

DIMS = [None, [], [0], [-1], [1], [0, 1], [1, 0], [0, -1], [-2], [0, 2], [0, 1, 2], [0, 0], [3],
        [-4], [0, 5]]


# PyTorch takes milliseconds to raise an error: of calls that fail only a part is made.
RARELY = 0.12


def dimension(chance, n_dims):
    """A dimension of a tensor, rarely one that it does not have."""
    if chance.random() < RARELY:
        return chance.choice([n_dims, n_dims + 2, -n_dims - 1, 2 ** 40])
    return chance.randint(-max(n_dims, 1), max(n_dims, 1) - 1)


def fits(dims, n_dims):
    """Whether a tensor has these dimensions, each once."""
    limit = max(n_dims, 1)
    known = {dim % limit for dim in dims if -limit <= dim < limit}
    return len(known) == len(dims)


def moderate(chance, dtype):
    """Values whose sums do not overflow in another order."""
    return "few" if dtype in (torch.float16, torch.bfloat16) else "ordinary"


def with_specials(chance, shape, dtype=torch.float32):
    """Ordinary values with a NaN or an infinity here and there."""
    tensor = chance.tensor(shape, dtype)
    flat = tensor.view(-1)
    for i in range(flat.numel()):
        if chance.random() < 0.15:
            flat[i] = chance.choice([float("nan"), float("inf"), float("-inf"), -0.0])
    return tensor


@cases("aten::sum", "aten::mean")
def whole(op, chance):
    for dtype in DTYPES:
        for shape in SHAPES:
            yield Case(op, chance.tensor(shape, dtype, chance.any_layout(),
                                         moderate(chance, dtype)), bound=bounds.summed)
        for target in DTYPES:
            yield Case(op, chance.tensor((2, 3), dtype, mode="positive"), dtype=target,
                       bound=bounds.summed)
    for dtype in FLOATS:
        for layout in LAYOUTS:
            for shape in [(4, 3), (2, 3, 4, 5), (1000,), (40, 33)]:
                yield Case(op, chance.tensor(shape, dtype, layout), bound=bounds.summed)
        for _ in range(20):
            yield Case(op, with_specials(chance, (2, 5), dtype), bound=bounds.summed)


@cases("aten::sum.dim_IntList")
def over_dimensions(op, chance):
    for dtype in COMMON:
        for dim in DIMS:
            for keepdim in [False, True]:
                for shape in [(2, 3, 4), (2, 3), (), (0, 3), chance.choice(SHAPES)]:
                    if not fits(dim or [], len(shape)) and chance.random() > RARELY:
                        continue
                    yield Case(op, chance.tensor(shape, dtype, chance.any_layout()), dim, keepdim,
                               bound=bounds.summed)
    for dtype in DTYPES:
        for target in DTYPES:
            yield Case(op, chance.tensor((2, 3), dtype, mode="positive"), [chance.choice([0, 1])],
                       dtype=target, bound=bounds.summed)
    for layout in LAYOUTS:
        for dim in [[0], [1], [2], [3], [0, 2], [1, 3], [0, 1, 2, 3], [2, 1]]:
            for keepdim in [False, True]:
                yield Case(op, chance.tensor((2, 3, 4, 5), layout=layout), dim, keepdim,
                           bound=bounds.summed)
    for _ in range(300):
        shape = chance.shape(5)
        dims = chance.sample(range(len(shape)), chance.randint(0, len(shape)))
        yield Case(op, chance.tensor(shape, chance.choice(COMMON), chance.any_layout()),
                   [dim - len(shape) if chance.random() < 0.3 else dim for dim in dims],
                   chance.random() < 0.5, bound=bounds.summed)
    for _ in range(20):
        yield Case(op, with_specials(chance, (4, 5)), [chance.choice([0, 1])],
                   bound=bounds.summed)
    for dim in [0, -1]:
        yield Case(op, chance.tensor((70, 40)), dim, bound=bounds.summed)


@cases("aten::max.dim", "aten::argmax")
def largest(op, chance):
    def dim_of(shape):
        if op == "aten::argmax" and chance.random() < 0.3:
            return None
        return dimension(chance, len(shape))

    for dtype in DTYPES:
        if dtype.is_complex or (dtype == torch.bool and op == "aten::argmax"):
            yield Case(op, chance.tensor((2, 3), dtype), 0, bound=bounds.exact)
            continue
        for shape in SHAPES:
            for keepdim in [False, True]:
                yield Case(op, chance.tensor(shape, dtype, chance.any_layout(), "few"),
                           dim_of(shape), keepdim, bound=bounds.exact)
    for dtype in [torch.float32, torch.float64, torch.int64, torch.uint8]:
        for shape in [(2, 3, 4), (3, 5), (), (1,), (40,), (2, 3, 4, 5), (7, 33), (33, 7)]:
            for mode in ["ordinary", "few", "special"] * 2:
                yield Case(op, chance.tensor(shape, dtype, chance.any_layout(), mode),
                           dim_of(shape), chance.random() < 0.5, bound=bounds.exact)
    for _ in range(200):
        shape = tuple(max(size, 1) for size in chance.shape(5))
        yield Case(op, chance.tensor(shape, chance.choice([torch.float32, torch.int64]),
                                     chance.any_layout(), "few"), dim_of(shape),
                   chance.random() < 0.5, bound=bounds.exact)
    for shape in [(0,), (2, 0), (0, 2), (0, 0)]:
        for dim in range(len(shape)):
            yield Case(op, chance.tensor(shape), dim, bound=bounds.exact)
        if op == "aten::argmax":
            yield Case(op, chance.tensor(shape), bound=bounds.exact)
    for _ in range(40):
        yield Case(op, with_specials(chance, (4, 5)), chance.choice([0, 1]), bound=bounds.exact)


SIZES = [(2, 3, 4), (1, 1, 1), (3, 1, 2), (7, 16, 5), (33, 20, 17), (0, 3, 2), (2, 0, 3), (2, 3, 0),
         (0, 0, 0), (1, 5, 3), (4, 5, 1), (64, 64, 64)]


@cases("aten::mm")
def mm(op, chance):
    for m, k, n in SIZES:
        for dtype in COMMON + [torch.complex64]:
            yield Case(op, chance.tensor((m, k), dtype, chance.any_layout()),
                       chance.tensor((k, n), dtype, chance.any_layout()), bound=bounds.multiplied)
    for first in LAYOUTS[:6]:
        for second in LAYOUTS[:6]:
            yield Case(op, chance.tensor((5, 4), layout=first),
                       chance.tensor((4, 3), layout=second), bound=bounds.multiplied)
    for dtype in DTYPES:
        mode = moderate(chance, dtype)
        yield Case(op, chance.tensor((3, 4), dtype, mode=mode),
                   chance.tensor((4, 2), dtype, mode=mode), bound=bounds.multiplied)
    for first in COMMON:
        for second in COMMON:
            yield Case(op, chance.tensor((3, 4), first), chance.tensor((4, 2), second),
                       bound=bounds.multiplied)
    for a, b in [((2, 3), (2, 3)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 2, 3), (3, 2)),
                 ((), (1, 1)), ((0, 2), (3, 0)), ((2, 3), (2, 3, 4))]:
        yield Case(op, chance.tensor(a), chance.tensor(b), bound=bounds.multiplied)
    for _ in range(20):
        yield Case(op, with_specials(chance, (3, 4)), with_specials(chance, (4, 3)),
                   bound=bounds.multiplied)


@cases("aten::addmm")
def addmm(op, chance):
    def operands(m, k, n, dtype=torch.float32):
        mode = moderate(chance, dtype)
        return (chance.tensor((m, k), dtype, chance.choice(LAYOUTS[:6]), mode),
                chance.tensor((k, n), dtype, chance.choice(LAYOUTS[:6]), mode))

    for _ in range(150):
        m, k, n = (chance.choice([0, 1, 2, 3, 6]) for _ in range(3))
        yield Case(op, chance.tensor(chance.choice([(m, n), (n,), (m, 1)]),
                                     layout=chance.any_layout()), *operands(m, k, n),
                   beta=chance.choice([0, 1, 0.5]), alpha=chance.choice([0, 1, 2.5]),
                   bound=bounds.added_product)
    for m, k, n in SIZES:
        for shape in [(m, n), (n,), (1,), (), (m, 1), (1, n)]:
            for dtype in [torch.float32, torch.float64, torch.int64]:
                yield Case(op, chance.tensor(shape, dtype, chance.any_layout()),
                           *operands(m, k, n, dtype), bound=bounds.added_product)
    for dtype in DTYPES:
        for beta in [1, 0, 2, 0.5, True]:
            for alpha in [1, 0, -2, 1.5]:
                yield Case(op, chance.tensor((2, 3), dtype), *operands(2, 4, 3, dtype), beta=beta,
                           alpha=alpha, bound=bounds.added_product)
    for beta in [0, 1]:
        yield Case(op, torch.full((2, 3), float("nan")), *operands(2, 4, 3), beta=beta,
                   bound=bounds.added_product)
        yield Case(op, torch.full((3,), float("inf")), *operands(2, 4, 3), beta=beta,
                   bound=bounds.added_product)
        yield Case(op, torch.full((2, 3), float("nan")), *operands(2, 0, 3), beta=beta,
                   bound=bounds.added_product)
    for shape in [(4,), (2, 4), (3, 3), (1, 2, 3), (2, 1, 3), (0,)]:
        yield Case(op, chance.tensor(shape), *operands(2, 4, 3), bound=bounds.added_product)
    for a, b in [((2, 3), (4, 5)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 2, 3), (3, 2))]:
        yield Case(op, chance.tensor((2, 2)), chance.tensor(a), chance.tensor(b),
                   bound=bounds.added_product)
    for first in [torch.float32, torch.float64, torch.int64]:
        for second in [torch.float32, torch.float64, torch.int64]:
            for third in [torch.float32, torch.float64]:
                yield Case(op, chance.tensor((3,), first), chance.tensor((2, 4), second),
                           chance.tensor((4, 3), third), bound=bounds.added_product)


STACKS = [(), (4,), (1,), (0,), (3, 4), (4, 3), (1, 4), (0, 4), (4, 0), (2, 3, 4), (2, 4, 3),
          (1, 4, 5), (0, 3, 4), (2, 0, 4), (3, 2, 3, 4), (1, 2, 4, 5), (2, 4, 2), (2, 1, 1, 4)]


def matches(first, second):
    """Whether matmul takes these shapes."""
    if not first or not second or first[-1] != second[-2:][0]:
        return False
    return all(a == b or 1 in (a, b) for a, b in zip(first[-3::-1], second[-3::-1]))


@cases("aten::matmul")
def matmul(op, chance):
    for first in STACKS:
        for second in STACKS:
            if not matches(first, second) and chance.random() > RARELY:
                continue
            yield Case(op, chance.tensor(first), chance.tensor(second), bound=bounds.multiplied)
            yield Case(op, chance.tensor(first, layout=chance.any_layout()),
                       chance.tensor(second, layout=chance.any_layout()), bound=bounds.multiplied)
    for _ in range(300):
        k, first, second = chance.choice([0, 1, 2, 5]), *chance.shapes()
        yield Case(op, chance.tensor(first + (chance.choice([0, 1, 3, 4]), k),
                                     layout=chance.any_layout()),
                   chance.tensor(second + (k, chance.choice([0, 1, 3, 4])),
                                 layout=chance.any_layout()), bound=bounds.multiplied)
    for dtype in DTYPES:
        mode = moderate(chance, dtype)
        for a, b in [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 3)), ((2, 3, 4), (4, 2))]:
            # PyTorch with Debian's BLAS gives 0 for the product of two complex vectors.
            by_hand = dtype.is_complex and len(a) == len(b) == 1
            yield Case(op, chance.tensor(a, dtype, mode=mode), chance.tensor(b, dtype, mode=mode),
                       bound=bounds.multiplied,
                       through=(lambda one, other: (one * other).sum()) if by_hand else None)
    for first in COMMON:
        for second in COMMON:
            yield Case(op, chance.tensor((3, 4), first), chance.tensor((4,), second),
                       bound=bounds.multiplied)


@cases("aten::linear")
def linear(op, chance):
    for shape in [(4,), (3, 4), (2, 3, 4), (2, 1, 3, 4), (0, 4), (2, 0, 4), (), (3, 5), (1, 4)]:
        for weight in [(5, 4), (1, 4), (0, 4), (4,), (2, 5, 4), (5, 3)]:
            for bias in ["none", (5,), (1,), (), (3, 5), (4,)]:
                if (shape[-1:], weight[-1:], len(weight)) != ((4,), (4,), 2) \
                        and chance.random() > RARELY:
                    continue
                arguments = [chance.tensor(shape, layout=chance.any_layout()),
                             chance.tensor(weight, layout=chance.any_layout())]
                if bias != "none":
                    arguments.append(chance.tensor(bias))
                yield Case(op, *arguments, bound=bounds.linear)
    for dtype in DTYPES:
        mode = moderate(chance, dtype)
        for shape in [(3, 4), (2, 3, 4)]:
            for with_bias in [False, True]:
                bias = [chance.tensor((5,), dtype, mode=mode)] if with_bias else [None]
                yield Case(op, chance.tensor(shape, dtype, mode=mode),
                           chance.tensor((5, 4), dtype, mode=mode), *bias, bound=bounds.linear)
    yield Case(op, chance.tensor((3, 4)), chance.tensor((5, 4), torch.float64),
               bound=bounds.linear)
    yield Case(op, chance.tensor((3, 4)), chance.tensor((5, 4)), chance.tensor((5,), torch.float64),
               bound=bounds.linear)


TARGETS = [[], [1], [-1], [0], [6], [24], [2, 3], [3, 2], [6, 4], [4, 6], [2, -1], [-1, 4],
           [2, 3, 4], [4, 3, 2], [2, 12], [1, 24, 1], [2, 3, 2, 2], [-1, -1], [-2, 3], [5, -1],
           [0, -1], [-1, 0], [0, 3], [3, 0, 7], [2, 3, 1], [1, 2, 3], [2 ** 40, 2 ** 40]]


def may_hold(target, numel):
    """Whether a shape may have that many elements."""
    known = 1
    for size in target:
        known *= 1 if size == -1 else size
    return target.count(-1) < 2 and (known == numel or (-1 in target and known != 0
                                                        and numel % known == 0 and known > 0))


@cases("aten::view", "aten::reshape")
def reshaped(op, chance):
    def wanted(tensor, target):
        return may_hold(target, tensor.numel()) or chance.random() < RARELY

    for tensor, target in reshaped_pairs(chance):
        if wanted(tensor, target):
            yield Case(op, tensor, target, bound=bounds.exact)


def factors(chance, shape):
    """Another shape of as many elements: neighbouring sizes multiplied, ones put in, one size
    left to be found out."""
    target = []
    for size in shape:
        if target and chance.random() < 0.4:
            target[-1] *= size
        else:
            target += [1] * (chance.random() < 0.2) + [size]
    if target and 0 not in target and chance.random() < 0.3:
        target[chance.randrange(len(target))] = -1
    return target


def reshaped_pairs(chance):
    for shape in [(), (1,), (6,), (2, 3), (24,), (2, 3, 4), (0,), (0, 3), (3, 0), (1, 2, 3),
                  (2, 1, 3), (4, 3, 2)]:
        for target in TARGETS:
            yield chance.tensor(shape), target
            yield chance.any_tensor(shape, chance.choice(DTYPES)), target
    for _ in range(300):
        shape = chance.shape(5)
        yield chance.any_tensor(shape), factors(chance, shape)
    for layout in LAYOUTS:
        for target in TARGETS + [[2, 3, 4, 5], [6, 20], [2, 3, 20], [2, 60], [120], [2, 3, 5, 4]]:
            yield chance.tensor((2, 3, 4, 5), layout=layout), target
            yield chance.tensor((2, 3, 4), layout=layout), target


@cases("aten::transpose.int")
def transposed(op, chance):
    for shape in SHAPES:
        for first in range(-max(len(shape), 1), max(len(shape), 1)):
            for _ in range(3):
                yield Case(op, chance.any_tensor(shape, chance.choice(DTYPES)), first,
                           dimension(chance, len(shape)), bound=bounds.exact)
        yield Case(op, chance.any_tensor(shape), len(shape) + 1, 0, bound=bounds.exact)


@cases("aten::slice.Tensor")
def sliced(op, chance):
    ends = [None, 0, 1, 2, 3, 5, -1, -2, -7, 100, -100, 2 ** 60, -2 ** 60]
    steps = [1, 1, 2, 3, 7]
    for shape in [(5,), (0,), (4, 3), (2, 3, 4), (3, 0), (2, 3, 4, 5)]:
        yield Case(op, chance.tensor(shape), bound=bounds.exact)
        for dim in range(-len(shape), len(shape)):
            for _ in range(40):
                yield Case(op, chance.any_tensor(shape, chance.choice(DTYPES)), dim,
                           chance.choice(ends), chance.choice(ends), chance.choice(steps),
                           bound=bounds.exact)
        for step in [0, -1, 2 ** 60]:
            yield Case(op, chance.tensor(shape), 0, None, None, step, bound=bounds.exact)
        for dim in [len(shape), -len(shape) - 1]:
            yield Case(op, chance.tensor(shape), dim, bound=bounds.exact)
    yield Case(op, chance.tensor(()), bound=bounds.exact)
    yield Case(op, chance.tensor(()), 0, 0, 1, bound=bounds.exact)


@cases("aten::select.int")
def selected(op, chance):
    for shape in [(5,), (1,), (4, 3), (2, 3, 4), (2, 3, 4, 5)]:
        for dim in range(-len(shape), len(shape)):
            for index in range(-shape[dim], shape[dim]):
                yield Case(op, chance.any_tensor(shape, chance.choice(DTYPES)), dim, index,
                           bound=bounds.exact)
            for index in [shape[dim], -shape[dim] - 1]:
                yield Case(op, chance.any_tensor(shape), dim, index, bound=bounds.exact)
    for shape in [(), (0,), (3, 0), (2, 3)]:
        for dim, index in [(0, 0), (0, -1), (1, 0), (-1, 0), (2, 0), (-3, 1), (0, 2 ** 60),
                           (0, -2 ** 60)]:
            yield Case(op, chance.tensor(shape), dim, index, bound=bounds.exact)


EXTENTS = [[], [0], [3], [2, 3], [0, 2], [1, 1, 1, 1], [2, 3, 4, 5], [2, 1, 2, 3, 2], [-1], [2, -3],
           [2 ** 40, 2 ** 40], [0, 2 ** 62]]
PLACES = [{}, {"device": torch.device("cpu")}, {"device": torch.device("meta")},
          {"layout": torch.strided}, {"pin_memory": False},
          {"device": torch.device("cpu"), "layout": torch.strided, "pin_memory": False}]


@cases("aten::zeros", "aten::ones", "aten::empty.memory_format")
def factory(op, chance):
    values = op != "aten::empty.memory_format"
    for size in EXTENTS:
        for place in PLACES:
            yield Case(op, size, **place, meta=False, bound=bounds.exact, values=values)
    for dtype in DTYPES:
        for place in PLACES:
            yield Case(op, chance.choice([[2, 3], [], [0], [4]]), dtype=dtype, **place, meta=False,
                       bound=bounds.exact, values=values)
    if values:
        return
    for memory_format in [None, torch.contiguous_format, torch.preserve_format,
                          torch.channels_last, torch.channels_last_3d]:
        for size in EXTENTS:
            for device in ["cpu", "meta"]:
                yield Case(op, size, memory_format=memory_format, device=torch.device(device),
                           meta=False, values=False)


@cases("aten::full")
def full(op, chance):
    # A bool is an int to PyTorch's boxed call, a bool to its function.
    for number in [True, False]:
        for dtype in [None, torch.float32, torch.int64]:
            yield Case(op, [2], number, dtype=dtype, through=torch.full, meta=False,
                       bound=bounds.exact)
    for number in [0, 1, -3, 2.5, 1 + 2j, float("nan"), float("-inf"), 2 ** 40, 1e300]:
        for place in PLACES:
            yield Case(op, chance.choice([[2, 3], [], [0], [4]]), number, **place, meta=False,
                       bound=bounds.exact)
        for dtype in DTYPES:
            if dtype in FLOATS or number in (0, 1, 2.5):
                yield Case(op, [2], number, dtype=dtype, meta=False, bound=bounds.exact)
    for size in EXTENTS:
        yield Case(op, size, 7, meta=False, bound=bounds.exact)
