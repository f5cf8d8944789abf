#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the text of tensors with PyTorch's, byte for byte.

usage: print_parity.py PRINT_NPY [COUNT]

Makes COUNT random tensors of each kind with a fixed seed, saves them as .npy files, has the program
PRINT_NPY (tests/value/print_npy.c) print them, and compares each text with str() of the same tensor
in PyTorch. Prints TAP: one test per kind. Needs /usr/bin/python3 with torch.
"""

import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError:
    print("1..0 # SKIP python3-torch is not installed; apt install python3-torch")
    sys.exit(0)

SEED = 20240917

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEXES = [torch.complex64, torch.complex128]
DTYPES = [torch.bool, *INTEGERS, *FLOATS, *COMPLEXES]


def random_shape(chance):
    """A shape of rank 0 to 4; one in seven is so large that its middle is left out."""
    rank = chance.randint(0, 4)
    if rank and chance.random() < 1 / 7:
        longest = {1: 3000, 2: 120, 3: 24, 4: 13}[rank]
        return [chance.randint(longest // 3, longest) for _ in range(rank)]
    longest = {0: 0, 1: 60, 2: 14, 3: 7, 4: 4}[rank]
    return [chance.choice([0, 1, 1, 2, 3]) if chance.random() < 0.2 else chance.randint(1, longest)
            for _ in range(rank)]


def reals(chance, n, largest):
    """Real numbers of one of several looks, in float64."""
    look = chance.choice(["normal", "integral", "scaled", "wide", "tiny", "special", "zeros",
                          "edges"])
    scale = 10.0 ** chance.uniform(-6, min(10, largest))
    generator = numpy.random.default_rng(chance.getrandbits(32))
    normal = generator.standard_normal(n)
    if look == "integral":
        return numpy.rint(normal * scale)
    if look == "scaled":
        return normal * scale
    if look == "wide":
        return normal * 10.0 ** generator.uniform(-largest, largest, n)
    if look == "tiny":
        return normal * 10.0 ** -generator.uniform(3, 8, n)
    if look == "special":
        specials = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 1.0, -2.5])
        return numpy.where(generator.random(n) < 0.3, generator.choice(specials, n), normal)
    if look == "zeros":
        return generator.choice(numpy.array([0.0, -0.0, numpy.nan, numpy.inf, -numpy.inf]), n)
    if look == "edges":
        edges = [0.0001, 0.00011, 0.1, 1.0, 1000.0, 1001.0, 0.99995, 99999.5, 1e8, 100000001.0, 2.5]
        return generator.choice(numpy.array(edges[: chance.randint(1, len(edges))]), n)
    return normal


def random_tensor(chance, dtype):
    shape = random_shape(chance)
    n = int(numpy.prod(shape))
    if dtype == torch.bool:
        values = numpy.random.default_rng(chance.getrandbits(32)).random(n) < chance.random()
        return torch.from_numpy(values).reshape(shape)
    if dtype in INTEGERS:
        limits = torch.iinfo(dtype)
        width = chance.choice([limits.max, 10, 1000])
        low, high = max(limits.min, -width), min(limits.max, width)
        return torch.tensor([chance.randint(low, high) for _ in range(n)],
                            dtype=dtype).reshape(shape)
    largest = {torch.float16: 4, torch.float64: 300, torch.complex128: 300}.get(dtype, 37)
    tensor = torch.from_numpy(reals(chance, n, largest))
    if dtype in COMPLEXES:
        tensor = torch.complex(tensor, torch.from_numpy(reals(chance, n, largest)))
    return tensor.to(dtype).reshape(shape)


def save(folder, tensors):
    paths = []
    for i, tensor in enumerate(tensors):
        paths.append(os.path.join(folder, f"{i}.npy"))
        # NumPy has no bfloat16; the program rounds the exact float32 back.
        plain = tensor.detach()
        array = (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()
        numpy.save(paths[-1], array)
    return paths


def compare(program, options, tensors):
    """Returns how many texts differ, and a comment on the first that does."""
    with tempfile.TemporaryDirectory() as folder:
        paths = save(folder, tensors)
        printed = subprocess.run([program, *options, *paths], check=True, stdout=subprocess.PIPE)
    texts = printed.stdout.decode().split("\0")[:-1]
    if len(texts) != len(tensors):
        return len(tensors), f"# {len(texts)} texts for {len(tensors)} tensors"
    wrong, comment = 0, ""
    for tensor, text in zip(tensors, texts):
        expected = str(tensor)
        if text != expected:
            wrong += 1
            comment = comment or "\n".join(
                "# " + line for line in
                [f"shape {list(tensor.shape)}, expected:", *expected.split("\n"), "found:",
                 *text.split("\n")])
    return wrong, comment


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    chance = random.Random(SEED)
    cases = [(dtype, False) for dtype in DTYPES] + [(torch.float64, True), (torch.float32, True)]
    failures = total = equal = 0
    print(f"1..{len(cases)}")
    for number, (dtype, requires_grad) in enumerate(cases, 1):
        tensors = [random_tensor(chance, dtype).requires_grad_(requires_grad)
                   for _ in range(count)]
        options = ["--requires-grad"] if requires_grad else []
        if dtype == torch.bfloat16:
            options.append("--bfloat16")
        wrong, comment = compare(program, options, tensors)
        failures += wrong > 0
        total += count
        equal += count - wrong
        name = str(dtype) + (" that requires gradients" if requires_grad else "")
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}: {count - wrong} of {count} equal")
        if wrong:
            print(comment)
    print(f"# {equal} of {total} texts equal those of PyTorch {torch.__version__}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
