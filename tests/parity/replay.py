#!/usr/bin/python3
"""Replays PyTorch's own rows, and random ones made through its registration functions, and compares
every cell that both versions have with the table that PyTorch computes. Prints TAP.

  replay.py PROGRAM
"""
import random
import subprocess
import sys
import tempfile

import torch

C = torch._C
ALIASES = ["Autograd", "CompositeImplicitAutograd", "CompositeImplicitAutogradNestedTensor",
           "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"]
BACKENDS = "CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy Meta PrivateUse1 PrivateUse2 PrivateUse3".split()
PREFIXES = ["", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd"]
FUNCTIONALITIES = """Dense FPGA ORT Vulkan Metal Quantized CustomRNGKeyId MkldnnCPU Sparse NestedTensor
    BackendSelect Python Fake FuncTorchDynamicLayerBackMode Functionalize Named Conjugate Negative ZeroTensor
    ADInplaceOrView AutogradOther AutogradFunctionality AutogradNestedTensor Tracer AutocastCPU AutocastXPU
    AutocastCUDA FuncTorchBatched FuncTorchVmapMode Batched VmapMode FuncTorchGradWrapper DeferredInit
    PythonTLSSnapshot FuncTorchDynamicLayerFrontMode TESTING_ONLY_GenericWrapper TESTING_ONLY_GenericMode
    PythonDispatcher""".split()
DEBUGS = ["kernel {}", r"registered at C:\a b\kernel.cpp:{}", "a :: (b) [ boxed ] {}", ""]

# Keys of which one side has no cell; everything else must be equal.
ONLY_PYTORCH = {"ORT"}
ONLY_OURS = ({prefix + backend for prefix in PREFIXES for backend in ("MTIA", "MAIA")}
             | {"SparseCsr" + backend for backend in BACKENDS if backend not in ("CPU", "CUDA")}
             | {"Autocast" + key for key in "MTIA MAIA IPU HPU XLA MPS PrivateUse1".split()}
             | {"PreDispatch", "BatchedNestedTensor"})

RANDOM_ROWS = 1500
SHOWN = 10


def parses(name):
    try:
        C._dispatch_key_parse(name)
    except RuntimeError:
        return False
    return True


KEYS = [key for key in [*FUNCTIONALITIES, *ALIASES, *(a + b for a in PREFIXES for b in BACKENDS)]
        if parses(key)]


def rows_there_are():
    """A dump and a table for each row of PyTorch."""
    for name in sorted(C._dispatch_get_registrations_for_dispatch_key("")):
        yield C._dispatch_dump(name), C._dispatch_dump_table(name)


def random_rows(chance):
    """The same of one row, with kernels on random keys each time."""
    for number in range(RANDOM_ROWS):
        name = f"replay::row{number}"
        rows = C._dispatch_library("FRAGMENT", "replay", "")
        if chance.random() < 0.9:
            rows.def_(f"row{number}(Tensor x) -> Tensor")
        blocks = []
        for _ in range(chance.randrange(1, 8)):
            key = chance.choice(ALIASES if chance.random() < 0.4 else KEYS)
            block = C._dispatch_library("IMPL", "replay", key)
            if chance.random() < 0.15:
                block.impl(f"row{number}", key, lambda x: x)
            else:
                debug = chance.choice(DEBUGS).format(chance.randrange(100))
                block.impl_t_t(f"row{number}", "", debug=debug)
            blocks.append(block)
        yield C._dispatch_dump(name), C._dispatch_dump_table(name)


def cells_of(text):
    """The lines of a table by key."""
    return dict(line.split(": ", 1) for line in text.split("\n") if line)


def replayed(program, arguments, dumps):
    """The tables that the program prints, and what it says on standard error."""
    found = subprocess.run([program, "replay", *arguments, "-"], input="\n".join(dumps), text=True,
                           capture_output=True, check=True)
    return found.stdout[:-1].split("\n\n"), found.stderr.splitlines()


def differences(expected, found):
    """Cells of one row that differ, as texts; and how many are compared."""
    head, _, table = found.partition("\n")
    theirs, ours = cells_of(expected), cells_of(table)
    keys = (theirs.keys() | ours.keys()) - ONLY_PYTORCH - ONLY_OURS
    return [f"{head}, {key}: expected {theirs.get(key)}, found {ours.get(key)}"
            for key in sorted(keys) if theirs.get(key) != ours.get(key)], len(keys)


def compare(program, rows, arguments):
    """What is wrong, and how many cells are compared."""
    tables, problems = replayed(program, arguments, [dump for dump, _ in rows])
    wrong = [line for line in problems if ": warning: ORT is a key of former versions" not in line]
    if len(tables) != len(rows):
        return [f"{len(rows)} rows, {len(tables)} tables"], 0
    count = 0
    for (_, expected), found in zip(rows, tables):
        lines, n = differences(expected, found)
        wrong += lines
        count += n
    return wrong, count


def main():
    program = sys.argv[1]
    rows = list(rows_there_are())
    empty = C._dispatch_library("FRAGMENT", "replay", "")
    empty.def_("empty() -> ()")
    fallbacks = tempfile.NamedTemporaryFile("w", suffix=".txt")
    fallbacks.write(C._dispatch_dump_table("replay::empty"))
    fallbacks.flush()
    cases = [("rows of PyTorch", rows), ("random rows", list(random_rows(random.Random(13))))]
    number = failed = 0
    for name, rows in cases:
        for how, arguments in (("standard", []), ("its own", ["--fallbacks", fallbacks.name])):
            wrong, count = compare(program, rows, arguments)
            number += 1
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {len(rows)} {name}, {how} fallbacks: "
                  f"{count} cells")
            print("".join(f"#   {line}\n" for line in wrong[:SHOWN]), end="")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
