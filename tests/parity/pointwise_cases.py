# SPDX-License-Identifier: MIT
"""Cases of elementwise operators, of copies and of fills."""

import torch

import bounds
from compare import Case
from crosspoint_ffi import Number
from inputs import (BROADCASTS, COMMON, DTYPES, FLOATS, INTEGERS, LAYOUTS, MISFITS, MODES,
                    SHAPES)
from registry import cases

BINARY = {
    "aten::add.Tensor": bounds.added, "aten::sub.Tensor": bounds.added,
    "aten::mul.Tensor": bounds.exact, "aten::div.Tensor": bounds.exact,
    "aten::eq.Tensor": bounds.exact,
}
# What PyTorch is called by where a number stands for the second tensor.
WITH_NUMBER = {
    "aten::add.Tensor": torch.add, "aten::sub.Tensor": torch.sub, "aten::mul.Tensor": torch.mul,
    "aten::div.Tensor": torch.div, "aten::add_.Tensor": torch.Tensor.add_,
    "aten::add.out": torch.add,
}
NUMBERS = [0, 1, 2, -3, 2.5, -0.5, True, False, float("nan"), float("inf"), 1e10, 2 ** 40]
UNARY = {
    "aten::neg": bounds.exact, "aten::relu": bounds.exact, "aten::gelu": bounds.gelu,
    "aten::sigmoid": bounds.sigmoid, "aten::exp": bounds.relative,
}


def complex_bound(bound, *dtypes):
    """Products and quotients of complex numbers are rounded several times on the way."""
    if bound is bounds.exact and any(dtype.is_complex for dtype in dtypes):
        return bounds.relative
    return bound


def mode_for(chance, *dtypes):
    """NaN and infinities in complex arithmetic are where PyTorch's own paths differ."""
    return "ordinary" if any(dtype.is_complex for dtype in dtypes) else chance.choice(MODES)


def pair(chance, shapes, first, second, layouts=LAYOUTS):
    mode = mode_for(chance, first, second)
    return (chance.tensor(shapes[0], first, chance.choice(layouts), mode),
            chance.tensor(shapes[1], second, chance.choice(layouts), mode))


@cases(*BINARY)
def binary(op, chance):
    bound = BINARY[op]
    for dtype in COMMON:
        for shapes in BROADCASTS + MISFITS:
            yield Case(op, *pair(chance, shapes, dtype, dtype, ["contiguous"]), bound=bound)
            yield Case(op, *pair(chance, shapes, dtype, dtype), bound=bound)
    for first in LAYOUTS:
        for second in LAYOUTS:
            for shape in [(4, 3), (2, 3, 4, 5)]:
                yield Case(op, chance.tensor(shape, torch.float32, first),
                           chance.tensor(shape, torch.float32, second), bound=bound)
    for first in DTYPES:
        for second in DTYPES:
            for shapes in [((5,), (5,)), ((2, 3), ()), ((), (3,)), chance.choice(BROADCASTS)]:
                yield Case(op, *pair(chance, shapes, first, second),
                           bound=complex_bound(bound, first, second))


@cases(*BINARY)
def binary_at_random(op, chance):
    for _ in range(400):
        first, second = chance.choice(DTYPES), chance.choice(DTYPES)
        yield Case(op, *pair(chance, chance.shapes(), first, second),
                   bound=complex_bound(BINARY[op], first, second))
    for dtype in COMMON:
        for mode in ["ordinary", "special", "wide"]:
            for layout in ["contiguous", "step", "offset"]:
                yield Case(op, chance.tensor((1000,), dtype, layout, mode),
                           chance.tensor((1000,), dtype, "contiguous", mode), bound=BINARY[op])


@cases("aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor", "aten::div.Tensor")
def binary_with_number(op, chance):
    for dtype in DTYPES:
        for number in [*NUMBERS, 1 + 2j]:
            shape = chance.choice([(), (4,), (2, 3)])
            mode = mode_for(chance, dtype, *([torch.complex64] if number == 1 + 2j else []))
            yield Case(op, chance.tensor(shape, dtype, chance.any_layout(), mode), Number(number),
                       bound=complex_bound(BINARY[op], dtype, torch.result_type(
                           torch.empty(1, dtype=dtype), number)), through=with_number(op))


def with_number(op):
    def call(self, number, **kwargs):
        return WITH_NUMBER[op](self, number.value, **kwargs)

    return call


def function_of(op, *numbers):
    """What PyTorch is called by where a bool is among the numbers: to its boxed call it is an
    int."""
    if not any(isinstance(number, bool) for number in numbers):
        return None
    function = WITH_NUMBER[op.replace(".Scalar", ".Tensor")]
    if op != "aten::add.Scalar":
        return function
    return lambda self, other, alpha=1: function(self, other, alpha=alpha)


@cases("aten::add.Tensor", "aten::sub.Tensor")
def scaled(op, chance):
    for dtype in DTYPES:
        for alpha in [2, -1, 0, 0.5, True, False, 1.0, 3j]:
            shapes = chance.choice(BROADCASTS)
            yield Case(op, *pair(chance, shapes, dtype, dtype), alpha=alpha, bound=bounds.added,
                       through=function_of(op, alpha))


@cases("aten::add.Scalar", "aten::mul.Scalar", "aten::div.Scalar")
def with_scalar(op, chance):
    bound = bounds.added if op == "aten::add.Scalar" else bounds.exact
    for dtype in DTYPES:
        for number in [*NUMBERS, 1 + 2j]:
            shape = chance.choice(SHAPES)
            mode = mode_for(chance, dtype, *([torch.complex64] if number == 1 + 2j else []))
            self = chance.tensor(shape, dtype, chance.any_layout(), mode)
            yield Case(op, self, number, bound=complex_bound(bound, dtype, torch.result_type(
                torch.empty(1, dtype=dtype), number)), through=function_of(op, number))
    for layout in LAYOUTS:
        yield Case(op, chance.tensor((2, 3, 4, 5), layout=layout), 3, bound=bound)
    if op == "aten::add.Scalar":
        for dtype in [torch.bool, torch.int64, torch.float32]:
            for alpha in [2, 0.5, True]:
                for other in [2, 0.5, True]:
                    yield Case(op, chance.tensor((3,), dtype), other, alpha, bound=bound,
                               through=function_of(op, other, alpha))


@cases("aten::add.out")
def add_out(op, chance):
    for first in COMMON:
        for second in COMMON:
            for out in [first, chance.choice(DTYPES)]:
                yield Case(op, *pair(chance, ((2, 3), (3,)), first, second),
                           out=chance.tensor((2, 3), out), bound=bounds.added,
                           through=torch.add)
    for shapes in BROADCASTS + MISFITS:
        a, b = pair(chance, shapes, torch.float32, torch.float32)
        try:
            right = torch.broadcast_shapes(*shapes)
        except RuntimeError:
            right = (2,)
        for shape in [right, (), (0,), (2, 2), (3,), (60,)]:
            yield Case(op, a, b, out=chance.tensor(shape), bound=bounds.added, through=torch.add)
        for layout in LAYOUTS:
            yield Case(op, a, b, out=chance.tensor(right, layout=layout), alpha=2,
                       bound=bounds.added)
    for layout in LAYOUTS:
        yield Case(op, chance.tensor((3, 4)), Number(2.5), out=chance.tensor((3, 4), layout=layout),
                   through=with_number(op), bound=bounds.added)
    for _ in range(200):
        shapes = chance.shapes()
        out = torch.broadcast_shapes(*shapes) if chance.random() < 0.6 else chance.shape()
        yield Case(op, *pair(chance, shapes, torch.float32, chance.choice(COMMON)),
                   out=chance.tensor(out, chance.choice([torch.float32, torch.float64]),
                                     "contiguous" if 0 in out else chance.any_layout()),
                   alpha=chance.choice([1, 1, 2, -3]), bound=bounds.added, through=torch.add)
    yield from add_out_overlaps(op, chance)


def add_out_overlaps(op, chance):
    """The output is an input, or lies over a part of it."""
    block = chance.tensor((12,))
    square = chance.tensor((4, 4))
    other = chance.tensor((4, 4))
    yield Case(op, square, other, out=square, bound=bounds.added)
    yield Case(op, other, square, out=square, alpha=3, bound=bounds.added)
    yield Case(op, square, square, out=square, bound=bounds.added)
    yield Case(op, square.t(), other, out=square, bound=bounds.added)
    yield Case(op, square, other, out=square.t(), bound=bounds.added)
    yield Case(op, block[:8], block[4:], out=block[2:10], bound=bounds.added)
    yield Case(op, block[:6], block[6:], out=block[::2], bound=bounds.added)
    yield Case(op, block[:4], block[4:8], out=block[8:], bound=bounds.added)
    yield Case(op, block[::2], block[::2], out=block[1::2], bound=bounds.added)
    yield Case(op, block[:3], block[3:6], out=block[:1].expand(3), bound=bounds.added)


@cases("aten::add_.Tensor")
def add_in_place(op, chance):
    for first in DTYPES:
        for second in DTYPES:
            yield Case(op, *pair(chance, ((2, 3), chance.choice([(2, 3), (3,), ()])), first,
                                 second), bound=bounds.added)
        for number in NUMBERS:
            yield Case(op, chance.tensor((3,), first, mode=mode_for(chance, first)),
                       Number(number), through=with_number(op), bound=bounds.added)
        for alpha in [2, 0.5, True]:
            yield Case(op, *pair(chance, ((3,), (3,)), first, first), alpha=alpha,
                       bound=bounds.added, through=function_of(op, alpha))
    for shapes in BROADCASTS + MISFITS:
        for layout in LAYOUTS:
            yield Case(op, chance.tensor(shapes[0], layout=layout),
                       chance.any_tensor(shapes[1]), bound=bounds.added)
    for _ in range(200):
        shape, other = chance.shapes()
        yield Case(op, *pair(chance, (shape, other), torch.float32, chance.choice(COMMON)),
                   alpha=chance.choice([1, 1, 2, -3]), bound=bounds.added)
    block = chance.tensor((12,))
    square = chance.tensor((4, 4))
    yield Case(op, square, square, bound=bounds.added)
    yield Case(op, square, square.t(), bound=bounds.added)
    yield Case(op, block[:8], block[4:], bound=bounds.added)
    yield Case(op, block[::2], block[1::2], bound=bounds.added)
    yield Case(op, square, square[0], bound=bounds.added)


@cases(*UNARY)
def unary(op, chance):
    bound = UNARY[op]
    for dtype in DTYPES:
        if op == "aten::gelu" and dtype not in FLOATS + [torch.bfloat16]:
            yield Case(op, chance.tensor((2, 3), dtype), bound=bound)
            continue
        for shape in SHAPES:
            yield Case(op, chance.tensor(shape, dtype, mode=mode_for(chance, dtype)),
                       bound=complex_bound(bound, dtype))
        for layout in LAYOUTS:
            for shape in [(4, 3), (2, 3, 4), (2, 3, 4, 5)]:
                yield Case(op, chance.tensor(shape, dtype, layout, mode_for(chance, dtype)),
                           bound=complex_bound(bound, dtype))
    for _ in range(150):
        yield Case(op, chance.any_tensor(chance.shape(5), chance.choice(FLOATS)), bound=bound)
    for dtype in FLOATS + [torch.bfloat16]:
        for mode in ["ordinary", "special", "wide"]:
            for n in [1, 3, 8, 16, 31, 100, 1000]:
                yield Case(op, chance.tensor((n,), dtype, mode=mode), bound=bound)


@cases("aten::gelu")
def gelu_approximations(op, chance):
    for approximate in ["sigmoid", "", "None"]:
        yield Case(op, chance.tensor((3,)), approximate=approximate, bound=bounds.gelu)
    for approximate in ["none", "tanh"]:
        for dtype in [*FLOATS, torch.bfloat16]:
            for shape in [(7,), (35,), (), (0,), (3, 4)]:
                mode = mode_for(chance, dtype)
                yield Case(op, chance.tensor(shape, dtype, chance.any_layout(), mode),
                           approximate=approximate, bound=bounds.gelu)


def source_mode(chance, source, target):
    """Numbers that the target can hold: beyond them PyTorch's conversion is undefined."""
    if source in INTEGERS or source == torch.bool or target == torch.bool:
        return chance.choice(["ordinary", "special"])
    if target in INTEGERS:
        return "positive"
    return chance.choice(MODES)


@cases("aten::copy_")
def copy_in_place(op, chance):
    for target in DTYPES:
        for source in DTYPES:
            shapes = chance.choice([((2, 3), (2, 3)), ((2, 3), (3,)), ((5,), ()), ((), ())])
            mode = source_mode(chance, source, target)
            yield Case(op, chance.tensor(shapes[0], target, chance.choice(LAYOUTS[:4])),
                       chance.tensor(shapes[1], source, chance.any_layout(), mode),
                       non_blocking=chance.random() < 0.5, bound=bounds.exact)
    for shapes in BROADCASTS + MISFITS:
        for layout in LAYOUTS:
            yield Case(op, chance.tensor(shapes[0], layout=layout), chance.any_tensor(shapes[1]),
                       bound=bounds.exact)
    for _ in range(150):
        yield Case(op, *pair(chance, chance.shapes(), torch.float32, chance.choice(FLOATS)),
                   bound=bounds.exact)
    square = chance.tensor((4, 4))
    yield Case(op, square, square, bound=bounds.exact)
    yield Case(op, square[:2], square[2:], bound=bounds.exact)
    yield Case(op, square[0], square[1], bound=bounds.exact)
    yield Case(op, chance.tensor((2, 3)), torch.empty(2, 3, device="meta"), meta=False)
    yield Case(op, torch.empty(2, 3, device="meta"), chance.tensor((2, 3)), meta=False)
    yield Case(op, torch.empty(2, 3, device="meta"), chance.tensor((2, 2)), meta=False)


@cases("aten::fill_.Scalar")
def fill(op, chance):
    for dtype in DTYPES:
        for number in [0, 3, 2.5, True, -1, 200, 1e10, float("nan"), float("inf"), 1 + 2j, 1 + 0j]:
            if dtype in INTEGERS and number not in (0, 3, 2.5, True):
                continue
            yield Case(op, chance.tensor(dtype=dtype, layout=chance.any_layout()), number,
                       bound=bounds.exact)
    for dtype in INTEGERS:
        for number in [-1, 200, 300, 2 ** 40, -2 ** 62, 1 + 2j, 1 + 0j]:
            yield Case(op, chance.tensor((3,), dtype), number, bound=bounds.exact)
    for layout in LAYOUTS:
        for shape in SHAPES:
            yield Case(op, chance.tensor(shape, layout=layout), 1.5, bound=bounds.exact)


FORMATS = [None, torch.contiguous_format, torch.preserve_format, torch.channels_last,
           torch.channels_last_3d]


@cases("aten::clone")
def clone(op, chance):
    for dtype in DTYPES:
        for shape in SHAPES:
            yield Case(op, chance.any_tensor(shape, dtype), bound=bounds.exact)
    for _ in range(150):
        yield Case(op, chance.any_tensor(chance.shape(5)), memory_format=chance.choice(FORMATS[:3]),
                   bound=bounds.exact)
    for memory_format in FORMATS:
        for layout in LAYOUTS:
            for shape in [(), (3,), (0, 3), (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 2, 2)]:
                yield Case(op, chance.tensor(shape, layout=layout), memory_format=memory_format,
                           bound=bounds.exact)


@cases("aten::_to_copy")
def to_copy(op, chance):
    for source in DTYPES:
        for target in DTYPES:
            for shape in [(2, 3), chance.choice(SHAPES)]:
                mode = source_mode(chance, source, target)
                yield Case(op, chance.tensor(shape, source, chance.any_layout(), mode),
                           dtype=target, bound=bounds.exact)
    for memory_format in FORMATS:
        for layout in LAYOUTS:
            for shape in [(), (3,), (2, 3), (2, 3, 4, 5), (2, 1, 3, 2, 2)]:
                yield Case(op, chance.tensor(shape, layout=layout), memory_format=memory_format,
                           dtype=chance.choice([None, torch.float64]),
                           non_blocking=chance.random() < 0.5, bound=bounds.exact)
    for _ in range(150):
        yield Case(op, chance.any_tensor(chance.shape(5)), dtype=torch.float64,
                   memory_format=chance.choice(FORMATS[:3]), bound=bounds.exact)
    for layout in [None, torch.strided]:
        for pin_memory in [None, False]:
            yield Case(op, chance.tensor((2, 3)), layout=layout, pin_memory=pin_memory,
                       device=torch.device("cpu"), meta=False, bound=bounds.exact)
    for layout in LAYOUTS:
        yield Case(op, chance.tensor((2, 3), layout=layout), device=torch.device("meta"),
                   meta=False)
    yield Case(op, torch.empty(2, 3, device="meta"), device=torch.device("cpu"), meta=False)
    yield Case(op, torch.empty(2, 3, device="meta"), dtype=torch.int64, meta=False)

