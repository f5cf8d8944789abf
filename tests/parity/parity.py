#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Parity with PyTorch 1.13 over all operators of schemas/aten.ops that have a kernel here.

usage: parity.py [--plugin NAME] LIBRARY OPS [OPERATOR…]

LIBRARY is the built libcrosspoint, beside which the plugins are; OPS is schemas/aten.ops; --plugin
loads a provider over the reference kernels, as openblas. Each
operator is called in PyTorch and here with the same arguments, drawn from a seeded generator; see
compare.py for what is compared, bounds.py for how far elements may differ, and differences.py for
what differs on purpose. Prints TAP: one test per operator, then key sets and kernels. Where
operators are named only those are tested, and every message that differs is shown.
"""

import argparse
import ctypes
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

try:
    import torch
except ImportError:
    print("1..0 # SKIP python3-torch is not installed; apt install python3-torch")
    sys.exit(0)

import array_cases
import parity_sparse
import pointwise_cases
import registry
from compare import Comparison, describe, facts, operator_of
from crosspoint_ffi import Library, Session
from differences import DIFFERENCES, FIXED_MESSAGES, KERNEL_DIFFERENCES
from inputs import DTYPES, LAYOUTS, MODES, SHAPES, Chance
from wrong_cases import wrong_calls

PLUGINS = ["aten", "composite", "cpu", "meta", "sparse"]
KEYS = ["CPU", "SparseCPU", "Meta", "QuantizedCPU", "CUDA"]
COMPOSITES = ["BackendSelect", "CompositeImplicitAutograd", "CompositeExplicitAutograd"]
SHOWN = 4
CASE_MODULES = [array_cases, parity_sparse, pointwise_cases]


class Tap:
    """Prints the results of tests."""

    def __init__(self, planned):
        self.number = self.failed = 0
        print(f"1..{planned}")

    def test(self, good, name, comments=()):
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}")
        for comment in comments:
            for line in str(comment).split("\n"):
                print(f"#   {line[:400]}")
        sys.stdout.flush()


def cases_for(op):
    yield from registry.cases_of(op)
    yield from wrong_calls(op)
    yield from parity_sparse.mixed_cases(op, Chance(op))


def message_difference(case, expected, found):
    """How a message that is fixed differs, as a text, or None."""
    if not expected.klass or not found.klass:
        return None
    if expected.message.startswith("Could not run") and f"'{case.op}'" not in expected.message:
        return None  # it names an operator that PyTorch's kernel calls
    for pattern in FIXED_MESSAGES:
        match = pattern.match(expected.message)
        # What a pattern has in parentheses is fixed; without those, the whole line.
        wanted = match and (match.group(1) if pattern.groups else expected.message)
        if match and wanted != found.message[:len(wanted) if pattern.groups else None]:
            return f"message: expected {expected.message}, found {found.message}"
    return None


def run_operator(comparison, op):
    """All cases of an operator: how many, how many differ on purpose, and the failures."""
    count, excused, failures = 0, 0, []
    for case in cases_for(op):
        count += 1
        difference, expected, found = comparison.case(case)
        difference = difference or message_difference(case, expected, found)
        if difference is None:
            continue
        if any(entry.covers(case, expected, found) for entry in DIFFERENCES):
            excused += 1
        else:
            failures.append((case.size(), len(failures), case, difference))
    return count, excused, sorted(failures, key=lambda failure: failure[:2])


def kind_of(difference):
    """The difference without its numbers, to show different ones."""
    return "".join(letter for letter in difference if not letter.isdigit())[:60]


def show(failures, limit):
    """The failures with the smallest inputs, each kind once."""
    kinds = {}
    for failure in failures:
        kinds.setdefault(kind_of(failure[3]), []).append(failure)
    lines = []
    for group in list(kinds.values())[:limit]:
        _, _, case, difference = group[0]
        lines.append(f"{len(group)} like {case}:\n  {difference}")
    return lines


def test_operator(tap, comparison, op, limit):
    if op not in registry.generators:
        files = ", ".join(module.__name__ + ".py" for module in CASE_MODULES)
        tap.test(False, f"{op}: no cases", [f"draw some in one of {files}"])
        return 0
    schema = comparison.library.schema(op)
    declared = str(operator_of(op)._schema)
    if schema != declared:
        tap.test(False, f"{op}: schema", [f"expected {declared}", f"found    {schema}"])
        return 0
    count, excused, failures = run_operator(comparison, op)
    name = f"{op}: {count} cases"
    name += f", {excused} differ on purpose" if excused else ""
    name += f", {len(failures)} wrong" if failures else ""
    tap.test(not failures, name, show(failures, limit))
    return count


def test_round_trips(tap, library):
    """Tensors come back from here as they went: the test of crosspoint_ffi.py itself."""
    chance = Chance("round trips")
    wrong, count = [], 0
    for dtype in DTYPES:
        for layout in LAYOUTS:
            for shape in SHAPES:
                tensor = chance.tensor(shape, dtype, layout, chance.choice(MODES))
                session = Session(library)
                again = session.tensor(tensor).to_torch()
                count += 1
                same = facts(tensor) == facts(again) and elements(tensor) == elements(again)
                if not same:
                    wrong.append(f"{describe(tensor)} came back as {describe(again)}")
    tap.test(not wrong, f"{count} tensors come back as they went", wrong[:SHOWN])


def elements(tensor):
    """The bytes of all elements, row by row."""
    rows = tensor.clone(memory_format=torch.contiguous_format)
    return ctypes.string_at(rows.data_ptr(), rows.numel() * rows.element_size())


def torch_key_set(tensor):
    return torch._C._dispatch_keyset_to_string(torch._C._dispatch_keys(tensor))


def test_key_sets(tap, library):
    """Dense, requiring gradients, sparse, meta, integer, zero-dimensional."""
    dense = torch.ones(2, 3)
    kinds = [(name, tensor, Session(library).tensor(tensor)) for name, tensor in [
        ("dense", dense), ("requires_grad", torch.ones(2, 3, requires_grad=True)),
        ("integer", torch.ones(2, dtype=torch.int64)), ("0-dim", torch.tensor(1.0)),
        ("meta", torch.ones(2, device="meta"))]]
    session = Session(library)
    kinds.append(("sparse", dense.to_sparse(), session.call("aten::to_sparse", [dense], {})[0]))
    wrong = [f"{name}: expected {torch_key_set(tensor)}, found {library.key_set(ours)}"
             for name, tensor, ours in kinds if torch_key_set(tensor) != library.key_set(ours)]
    tap.test(not wrong, f"key sets of {len(kinds)} kinds of tensors", wrong)


def reason_for(op, key, theirs):
    """Why one of both has a kernel there and the other not, if that is on purpose."""
    return next((reason for ops, keys, has, reason in KERNEL_DIFFERENCES
                 if re.fullmatch(ops, op) and key in keys and has == theirs), None)


def test_kernels(tap, library, operators):
    """Which operators have a kernel under exactly each of the keys."""
    wrong, excused, count = [], {}, 0
    for op in operators:
        for key in KEYS:
            expected = torch._C._dispatch_has_kernel_for_dispatch_key(op, key)
            found = library.has_kernel(op, key)
            count += 1
            if expected == found:
                continue
            cell = f"{op} {key}"
            reason = reason_for(op, key, expected)
            if reason:
                excused.setdefault(reason, []).append(cell)
            else:
                wrong.append(f"{cell}: PyTorch {'has' if expected else 'lacks'} a kernel")
    stale = [entry[-1] for entry in KERNEL_DIFFERENCES if entry[-1] not in excused]
    differ = sum(len(cells) for cells in excused.values())
    tap.test(not wrong and not stale, f"direct kernels: {count} cells, {differ} differ on purpose",
             wrong + [f"no cell differs any more: {reason}" for reason in stale]
             + [f"{', '.join(cells)}: {reason}" for reason, cells in excused.items()])


def test_differences(tap):
    """A difference that no case shows any more is struck off the list."""
    stale = [entry.reason for entry in DIFFERENCES if entry.count == 0]
    reasons = [f"{entry.count} cases: {entry.reason}" for entry in DIFFERENCES]
    tap.test(not stale, f"{len(DIFFERENCES)} differences on purpose, each seen",
             stale or reasons)


def report_messages(comparison, everything):
    """Messages of errors that both raise, where they differ; no failure."""
    different = [(count, pair) for pair, count in comparison.messages.items() if pair[0] != pair[1]]
    named = re.compile("Expected a (value of type|proper Tensor)")  # types have other names here
    same = sum(count for pair, count in comparison.messages.items() if pair[0] == pair[1])
    total = sum(count for count, _ in different)
    print(f"# messages of errors: {same} equal, {total} in other words")
    if not everything:
        return
    for count, (expected, found) in sorted(different, key=lambda entry: -entry[0]):
        if named.search(expected):
            continue
        print(f"#   {count} times:\n#     PyTorch: {expected[:300]}\n#     ours:    {found[:300]}")


def warn_at_once():
    """PyTorch warns once of each of these; from functions of Python, where it is not printed."""
    torch.ones(1, dtype=torch.complex64).to(torch.float32)
    torch.add(torch.ones(1, dtype=torch.float16), 1j)


def operators_in(path):
    with open(path, encoding="utf-8") as lines:
        return [line.split("(")[0] for line in lines if line.startswith("aten::")]


def has_any_kernel(library, op):
    return any(library.has_kernel(op, key) for key in KEYS + COMPOSITES)


def read_command_line():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plugin", action="append", default=[])
    parser.add_argument("library")
    parser.add_argument("ops")
    parser.add_argument("operators", nargs="*")
    return parser.parse_args()


def main():
    options = read_command_line()
    library = Library(options.library, PLUGINS + options.plugin)
    chosen = options.operators
    operators = [op for op in operators_in(options.ops)
                 if (op in chosen if chosen else has_any_kernel(library, op))]
    torch.set_num_threads(1)
    warn_at_once()
    comparison = Comparison(library)
    tap = Tap(len(operators) + (0 if chosen else 4))
    count = sum(test_operator(tap, comparison, op, 40 if chosen else SHOWN) for op in operators)
    if not chosen:
        test_round_trips(tap, library)
        test_key_sets(tap, library)
        test_kernels(tap, library, operators)
        test_differences(tap)
    report_messages(comparison, bool(chosen))
    print(f"# {count} calls compared with PyTorch {torch.__version__}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
