# SPDX-License-Identifier: MIT
"""One case of parity: an operator called in PyTorch and here with equal arguments, and all that may
be seen of both calls compared."""

import warnings

import torch

import bounds
from crosspoint_ffi import CrosspointError, Number, Session, Tensor
from inputs import copy_of

warnings.simplefilter("ignore")


class Case:
    """A call of `op`.

    bound: what results may differ by, see bounds.py
    through: what PyTorch is called by, where it is not the operator of that name
    meta: whether copies without memory give a result of the same shape
    values: whether elements are compared
    """

    def __init__(self, op, /, *args, bound=bounds.relative, through=None, meta=True, values=True,
                 **kwargs):
        self.op, self.args, self.kwargs = op, list(args), kwargs
        self.bound, self.through, self.meta, self.values = bound, through, meta, values

    def size(self):
        return sum(tensor.numel() for tensor in tensors_in([self.args, self.kwargs.values()]))

    def __str__(self):
        words = [describe(argument) for argument in self.args]
        words += [f"{key}={describe(value)}" for key, value in self.kwargs.items()]
        return f"{self.op}({', '.join(words)})"


def describe(value):
    if not isinstance(value, torch.Tensor):
        return repr(value)
    dtype = str(value.dtype)[len("torch."):]
    text = f"{dtype}{list(value.shape)}"
    if value.layout != torch.strided:
        return f"{text} sparse"
    if value.device.type != "cpu":
        text += f" on {value.device}"
    if not value.is_contiguous() or value.storage_offset() != 0:
        text += f" strides {list(value.stride())} offset {value.storage_offset()}"
    if value.device.type == "cpu" and 0 < value.numel() <= 8:
        text += f" {value.tolist()}"
    return f"<{text}>"


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (str, Number)) or not hasattr(value, "__iter__"):
        return []
    return [tensor for element in value for tensor in tensors_in(element)]


def replace_tensors(value, replace):
    if isinstance(value, torch.Tensor):
        return replace(value)
    if isinstance(value, (list, tuple)):
        return type(value)(replace_tensors(element, replace) for element in value)
    return value


def operator_of(name):
    """PyTorch's own operator of the name `aten::add.Tensor`."""
    namespace, rest = name.split("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


class Outcome:
    """What a call gave: results, or the class and message of an error."""

    def __init__(self, results=None, klass=None, message="", error=None):
        self.results, self.klass, self.error = results, klass, error
        self.message = message.split("\n")[0] if message else message

    def __str__(self):
        return f"{self.klass}: {self.message}" if self.klass else "a result"


def call_torch(case):
    """Gives the outcome, and the copies of the arguments that were passed."""
    storages, copies = {}, {}

    def replace(tensor):
        if id(tensor) not in copies:
            copies[id(tensor)] = copy_of(tensor, storages)
        return copies[id(tensor)]

    args = replace_tensors(case.args, replace)
    kwargs = {key: replace_tensors(value, replace) for key, value in case.kwargs.items()}
    try:
        results = (case.through or operator_of(case.op))(*args, **kwargs)
    except Exception as error:  # PyTorch raises many classes; which one is compared
        return Outcome(klass=type(error).__name__, message=str(error)), copies
    return Outcome(list(results) if isinstance(results, tuple) else [results]), copies


def call_ours(session, case):
    try:
        return Outcome(session.call(case.op, case.args, case.kwargs))
    except CrosspointError as error:
        return Outcome(klass=error.klass, message=error.message, error=error)


def facts(tensor):
    """What must be equal of two tensors besides their elements. A tensor without elements has no
    offset here, so that its address never lies beyond its memory."""
    if isinstance(tensor, Tensor):
        shape, device = tensor.shape, tensor.device
    else:
        shape, device = list(tensor.shape), tensor.device.type
    known = {"shape": shape, "dtype": tensor.dtype, "device": device, "layout": tensor.layout}
    if tensor.layout == torch.strided:
        ours = isinstance(tensor, Tensor)
        known["strides"] = tensor.strides if ours else list(tensor.stride())
        if 0 not in shape:
            known["offset"] = tensor.offset if ours else tensor.storage_offset()
    return known


def first_difference(expected, found):
    """The first of two dictionaries' values that differ, as a text."""
    for key, value in expected.items():
        if found.get(key) != value:
            return f"{key}: expected {value}, found {found.get(key)}"
    return None


class Comparison:
    """Compares outcomes; keeps what it has seen of messages."""

    def __init__(self, library):
        self.library = library
        self.messages = {}

    def tensors(self, case, expected, found):
        """The difference of two tensors, as a text, or None."""
        if not isinstance(found, Tensor):
            return f"expected a tensor, found a value of tag {found.tag}"
        difference = first_difference(facts(expected), facts(found))
        if difference or not case.values or expected.device.type == "meta":
            return difference
        if expected.layout != torch.strided:
            return self.sparse(case, expected, found)
        return bounds.difference(expected, found.to_torch(), case)

    def ours(self, op, *args):
        """An operator of ours, called to look into a tensor."""
        return Session(self.library).call(op, args, {})[0]

    def sparse(self, case, expected, found):
        """Compares sparse tensors: whether coalesced, then indices and values once they are."""
        try:
            self.ours("aten::indices", found)
            coalesced = True
        except CrosspointError:
            coalesced = False
        if expected.is_coalesced() != coalesced:
            return f"coalesced: expected {expected.is_coalesced()}, found {coalesced}"
        # PyTorch calls a product of sparse matrices coalesced whose indices are not sorted.
        one = torch.sparse_coo_tensor(expected._indices(), expected._values(),
                                      expected.shape).coalesce()
        other = self.ours("aten::coalesce", found)
        for part, bound in (("indices", bounds.exact), ("values", case.bound)):
            want, got = getattr(one, part)(), self.ours(f"aten::{part}", other).to_torch()
            if want.shape != got.shape:
                return f"{part}: expected {list(want.shape)}, found {list(got.shape)}"
            difference = bounds.difference(want, got, case, bound)
            if difference:
                return f"{part}: {difference}"
        return None

    def aliases(self, session, copies, expected, found):
        """Whether a result is an argument, or shares its storage, here as there."""
        for key, copy in copies.items():
            argument = session.tensors[key][0]
            if (expected is copy) != (found.address == argument.address):
                return "a result is an argument itself in one of both"
            if copy.layout != torch.strided or expected.layout != torch.strided:
                continue
            shares = expected.storage()._cdata == copy.storage()._cdata
            if shares != found.shares_storage(argument):
                return f"a result {'does not share' if shares else 'shares'} an argument's storage"
        return None

    def arguments(self, case, session, copies):
        for key, copy in copies.items():
            difference = self.tensors(case, copy, session.tensors[key][0])
            if difference:
                return f"an argument after the call: {difference}"
        return None

    def write_through(self, case, session, copies, expected, found):
        """Writes to a result that shares storage, and looks whether the arguments show it."""
        if not any(copy.layout == torch.strided
                   and expected.storage()._cdata == copy.storage()._cdata
                   for copy in copies.values()):
            return None
        try:
            expected.fill_(1)
        except RuntimeError:  # an expanded tensor; fill_ has cases of its own
            return None
        session.call("aten::fill_.Scalar", [found, 1], {})
        difference = self.arguments(case, session, copies)
        return difference and f"after writing to the result, {difference}"

    def errors(self, expected, found):
        """Compares two errors; a message that differs is noted."""
        if not self.library.is_a(found.error, expected.klass):
            return f"expected {expected}, found {found}"
        key = expected.message, found.message
        self.messages[key] = self.messages.get(key, 0) + 1
        return None

    def results(self, case, session, copies, expected, found):
        if len(expected) != len(found):
            return f"expected {len(expected)} results, found {len(found)}"
        for one, other in zip(expected, found):
            difference = self.tensors(case, one, other) \
                or self.aliases(session, copies, one, other)
            if difference:
                return difference
        return self.arguments(case, session, copies) or next(
            (difference for one, other in zip(expected, found)
             if one.layout == torch.strided and one.device.type == "cpu"
             for difference in [self.write_through(case, session, copies, one, other)]
             if difference), None)

    def meta(self, case, found, seen):
        """Calls with copies that have no memory; what was seen of results, or the error, must be
        the same."""
        if "not implemented for" in found.message:
            return None  # which dtypes the kernels of another device take, Meta cannot know
        outcome = call_ours(Session(self.library, "meta"), case)
        if found.klass or outcome.klass:
            same = str(found) == str(outcome)
            return None if same else f"on meta: expected {found}, found {outcome}"
        for one, other in zip(seen, outcome.results):
            difference = first_difference({**one, "device": "meta"}, facts(other))
            if difference:
                return f"on meta: {difference}"
        return None

    def case(self, case):
        """The first difference of a case, as a text, or None; and both outcomes."""
        try:
            return self.checked_case(case)
        except CrosspointError as error:
            lost = Outcome(klass=error.klass, message=error.message, error=error)
            return f"an operator that the test itself needs fails: {lost}", lost, lost

    def checked_case(self, case):
        session = Session(self.library)
        for tensor in tensors_in([case.args, case.kwargs.values()]):
            session.tensor(tensor)
        expected, copies = call_torch(case)
        seen = []
        found = call_ours(session, case)
        if expected.klass and found.klass:
            difference = self.errors(expected, found)
        elif expected.klass or found.klass:
            difference = f"expected {expected}, found {found}"
        else:
            seen = [facts(result) for result in found.results if isinstance(result, Tensor)]
            difference = self.results(case, session, copies, expected.results, found.results)
        if difference is None and case.meta:
            difference = self.meta(case, found, seen)
        return difference, expected, found
