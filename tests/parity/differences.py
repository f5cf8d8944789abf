# SPDX-License-Identifier: MIT
"""Where we differ from PyTorch 1.13 on purpose, each with its reason; and the messages that are
fixed: theirs must be ours, word for word."""

import re

import torch


class Difference:
    """Cases of the operators that `ops` matches for which `applies (case, expected, found)` holds
    may differ."""

    def __init__(self, reason, ops, applies):
        self.reason, self.ops, self.applies, self.count = reason, re.compile(ops), applies, 0

    def covers(self, case, expected, found):
        if not self.ops.fullmatch(case.op) or not self.applies(case, expected, found):
            return False
        self.count += 1
        return True


def is_half_complex(case, expected, found):
    """Whether PyTorch's result is, or would be, of a dtype that we lack."""
    if expected.klass:
        return "'ComplexHalf'" in expected.message
    return expected.results[0].dtype == torch.complex32


def is_step_overflow(case, expected, found):
    return expected.message.startswith("as_strided: Negative strides are not supported")


def is_sparse(case):
    return any(isinstance(value, torch.Tensor) and value.layout == torch.sparse_coo
               for value in [*case.args, *case.kwargs.values()])


def is_fractional_alpha(case, expected, found):
    return is_sparse(case) and found.message.startswith("For integral input tensors")


def is_integer_product(case, expected, found):
    return is_sparse(case) and expected.message.startswith('"sparse_matmul" not implemented')


def is_missing_dimension(case, expected, found):
    return is_sparse(case) and expected.klass == "IndexError" and found.klass == "RuntimeError"


def is_coalesced_already(case, expected, found):
    return expected.message.startswith("!self.is_coalesced() INTERNAL ASSERT")


def is_grown(case, expected, found):
    """Whether the output had no room for the result, and an offset."""
    return expected.results is not None and found.results is not None \
        and expected.results[0].storage_offset() != 0 and found.results[0].offset == 0


def is_mean_of_integers(case, expected, found):
    return is_sparse(case) and found.message.startswith("mean(): could not infer output dtype")


def is_on_meta(case, expected, found):
    return case.kwargs.get("device") == torch.device("meta")


def is_misfit_on_meta(case, expected, found):
    return case.args[0].device.type == "meta" and found.message.startswith("The size of tensor")


DIFFERENCES = [
    Difference("there is no complex32 here, as PyTorch itself calls it experimental; a complex "
               "number beside float16 gives complex64", r"aten::(add|sub|mul|div)\..*",
               is_half_complex),
    Difference("a step whose stride overflows leaves one index at most, so no stride is needed; "
               "PyTorch computes it and fails", r"aten::slice\.Tensor", is_step_overflow),
    Difference("alpha must be whole for integers, sparse ones included; PyTorch truncates it there",
               r"aten::add_\.Tensor", is_fractional_alpha),
    Difference("products of two sparse matrices of integers are computed here",
               r"aten::(mm|addmm|matmul|linear)", is_integer_product),
    Difference("a vector for a matrix is said to be one; PyTorch reads a dimension that it lacks",
               r"aten::mm", is_missing_dimension),
    Difference("_coalesce of what is coalesced already gives it back; PyTorch fails an assertion",
               r"aten::_coalesce", is_coalesced_already),
    Difference("an output without room moves to memory of its own, where it has no offset; PyTorch "
               "enlarges the storage that its views share", r"aten::add\.out", is_grown),
    Difference("full on meta gives the dtype that it gives elsewhere; PyTorch always float32",
               r"aten::full", is_on_meta),
    Difference("copy_ to a tensor on meta looks at the shapes too", r"aten::copy_",
               is_misfit_on_meta),
    Difference("mean looks at the dtype before the backend", r"aten::mean", is_mean_of_integers),
]

# Messages whose first line is the same, as the reference or our own kernels promise.
FIXED_MESSAGES = [re.compile(pattern) for pattern in [
    r"\"(?!dot|addm)\w+\" not implemented for '(?:Bool|Byte|Char|Short|Int|Long|Half|BFloat16)'",
    r"\S+ expected at most ",
    r"\S+ is missing value for argument ",
    r"((?:shrinking|changing) the (?:size|number) of sparse dimensions .* is not supported)",
    r"(?:max|argmax)\(\): ",
    r"(?:mat1|mat2|self) must be a matrix",
    r"(?:slice|select)\(\)",
    r"Boolean alpha only supported",
    r"Boolean inputs not supported",
    r"Cannot copy out of meta tensor",
    r"Dimension out of range ",
    r"For integral input tensors",
    r"Negation, ",
    r"Subtraction, ",
    r"The expanded size of the tensor ",
    r"The size of tensor a \(",
    r"Trying to create tensor with negative dimension ",
    r"Unknown keyword argument ",
    r"approximate argument must be ",
    r"both arguments to matmul ",
    r"cannot reshape tensor of 0 elements",
    r"clamp is not supported",
    r"dim \d+ appears multiple times",
    r"expected scalar type (?:Float|Double|Long|Byte)",
    r"invalid shape dimension ",
    r"mat1 and mat2 shapes cannot be multiplied ",
    r"mean\(\): could not infer output dtype",
    r"only one dimension can be inferred",
    r"output with shape ",
    r"required rank \d tensor to use ",
    r"result type .* can't be cast to ",
    r"shape '.*' is invalid for input of size ",
    r"slice step must be positive",
    r"unsupported memory format ",
    r"unsupported operation: ",
    r"value cannot be converted to type ",
    r"view size is not compatible ",
    r"(Could not run '.*' with arguments from the '\w+' backend\.)",
]]

# Kernels that one of both has registered directly, and the other not: operators, keys, whether it
# is PyTorch that has one, reason.
KERNEL_DIFFERENCES = [
    (".*", ["QuantizedCPU"], True, "there are no quantized tensors here yet"),
    (r"aten::copy_", ["CPU", "Meta"], False,
     "copy_ is a kernel of each device; PyTorch's only one asks which devices there are"),
    (r"aten::(transpose|select)\.int", ["SparseCPU"], False,
     "views of sparse tensors are kernels of sparse; PyTorch's only one asks for the layout"),
]
