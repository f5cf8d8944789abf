# SPDX-License-Identifier: MIT
"""Tensors for the parity tests, drawn from a seeded generator: shapes, dtypes, layouts in memory,
and values with NaN, infinities, zeros of both signs, denormals and the ends of the integers."""

import random

import torch

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, torch.float64]
COMPLEXES = [torch.complex64, torch.complex128]
REALS = [torch.bool, *INTEGERS, *HALVES, *FLOATS]
DTYPES = [*REALS, *COMPLEXES]
# Those that every kernel is expected to be used with; they get most of the cases.
COMMON = [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool]

SHAPES = [(), (1,), (7,), (35,), (0,), (2, 3), (3, 1), (0, 3), (3, 0), (2, 3, 4), (1, 1, 1),
          (2, 0, 4), (2, 3, 4, 5), (1, 2, 1, 3)]
BROADCASTS = [
    ((), ()), ((3,), ()), ((), (3,)), ((5,), (5,)), ((35,), (35,)), ((1,), (3,)), ((2, 3), (3,)),
    ((2, 3), (2, 1)), ((2, 1), (1, 3)), ((3,), (2, 3)), ((), (2, 3)), ((2, 3), (2, 3)),
    ((4, 1, 3), (2, 1)), ((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (1, 4)), ((2, 3, 4, 5), (3, 1, 5)),
    ((0,), ()), ((0,), (1,)), ((0, 3), (3,)), ((2, 0), (2, 1)), ((0,), (2, 0)), ((1,), (0,)),
]
MISFITS = [((2,), (3,)), ((2, 3), (2, 4)), ((0,), (2,)), ((2, 3), (2,)), ((3, 2, 1), (4, 3, 1))]
LAYOUTS = ["contiguous", "transposed", "step", "offset", "expanded", "rotated", "channels_last"]

SPECIALS = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-40, -1e-40, 5e-324, 1.0, -1.0,
            0.5, -2.5, 1e-7, 88.0, -88.0, -104.0, 710.0, 1e10, -1e10, 3e38, -3e38]
MODES = ["ordinary", "special", "ordinary", "wide"]


class Chance(random.Random):
    """What the cases of one operator are drawn from; equal for equal names."""

    def floats(self, n, mode):
        if mode == "special":
            return [self.choice(SPECIALS) for _ in range(n)]
        if mode == "wide":
            return [self.gauss(0, 1) * 10.0 ** self.uniform(-12, 12) for _ in range(n)]
        if mode == "positive":
            return [self.uniform(0, 100) for _ in range(n)]
        if mode == "few":
            return [self.choice([-1.0, 0.0, 1.0, 2.0]) for _ in range(n)]
        return [self.gauss(0, 1) * 3 for _ in range(n)]

    def integers(self, n, mode, dtype):
        limits = torch.iinfo(dtype)
        if mode == "special":
            edges = [limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1]
            return [self.choice(edges) for _ in range(n)]
        return [self.randint(max(limits.min, -9), 9) for _ in range(n)]

    def flat(self, n, dtype, mode="ordinary"):
        """A one-dimensional tensor of n elements."""
        if dtype == torch.bool:
            return torch.tensor([self.random() < 0.5 for _ in range(n)], dtype=dtype)
        if dtype in INTEGERS:
            return torch.tensor(self.integers(n, mode, dtype), dtype=dtype)
        real = torch.tensor(self.floats(n, mode), dtype=torch.float64)
        if dtype in COMPLEXES:
            return torch.complex(real, torch.tensor(self.floats(n, mode),
                                                    dtype=torch.float64)).to(dtype)
        return real.to(dtype)

    def tensor(self, shape=None, dtype=torch.float32, layout="contiguous", mode="ordinary"):
        """A tensor of that shape; the layout is followed as far as the shape has room for it."""
        shape = list(self.choice(SHAPES) if shape is None else shape)
        n_dims = len(shape)

        def block(sizes):
            count = 1
            for size in sizes:
                count *= size
            return self.flat(count, dtype, mode).reshape(sizes)

        if layout == "transposed" and n_dims >= 2:
            return block(shape[::-1]).permute(*reversed(range(n_dims)))
        if layout == "rotated" and n_dims >= 2:
            return block(shape[1:] + shape[:1]).permute(n_dims - 1, *range(n_dims - 1))
        if layout == "step" and n_dims >= 1:
            wide = block([2 * size + 1 for size in shape])
            for dim in range(n_dims):
                wide = wide.narrow(dim, 1, 2 * shape[dim])[(slice(None),) * dim + (slice(0, None,
                                                                                       2),)]
            return wide
        if layout == "offset":
            return block([size + 3 if dim == 0 else size
                          for dim, size in enumerate(shape)])[3:] if n_dims else block([4])[2]
        if layout == "expanded" and any(size > 1 for size in shape):
            dim = self.choice([d for d in range(n_dims) if shape[d] > 1])
            return block(shape[:dim] + [1] + shape[dim + 1:]).expand(shape)
        if layout == "channels_last" and n_dims == 4:
            return block(shape).contiguous(memory_format=torch.channels_last)
        return block(shape)

    def shape(self, most=4):
        """A shape of up to `most` dimensions, small, one in ten sizes 0."""
        return tuple(0 if self.random() < 0.1 else self.choice([1, 2, 3, 5])
                     for _ in range(self.randint(0, most)))

    def shapes(self):
        """Two shapes that broadcast."""
        whole = self.shape()
        parts = [tuple(1 if self.random() < 0.25 else size for size in whole) for _ in range(2)]
        shorter = self.randint(0, 1)
        parts[shorter] = parts[shorter][self.randint(0, len(whole)):]
        return parts

    def any_layout(self):
        return self.choice(LAYOUTS)

    def any_tensor(self, shape=None, dtype=torch.float32):
        return self.tensor(shape, dtype, self.any_layout(), self.choice(MODES))


def copy_of(tensor, storages):
    """A tensor over a copy of the storage; `storages` keeps what shares a storage together."""
    if tensor.layout != torch.strided:
        return tensor.clone()
    key = tensor.storage()._cdata
    if key not in storages:
        size = tensor.storage().nbytes() // tensor.element_size()
        flat = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        flat.set_(tensor.storage(), 0, (size,), (1,))
        storages[key] = flat.clone(), tensor
    base = storages[key][0]
    made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return made.set_(base.storage(), tensor.storage_offset(), tensor.shape, tensor.stride())
