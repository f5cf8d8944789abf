# SPDX-License-Identifier: MIT
"""Calls that do not fit an operator's schema, drawn from the schema: too few and too many
arguments, unknown names, values of another type."""

import torch

from compare import Case, operator_of

# A value that fits each type of argument.
FITTING = {
    "Tensor": torch.ones(2, 3), "Scalar": 2, "int": 0, "SymInt": 1, "bool": False, "str": "none",
    "ScalarType": torch.float32, "Layout": torch.strided, "Device": torch.device("cpu"),
    "MemoryFormat": torch.contiguous_format, "int[]": [0], "int[1]": [0], "SymInt[]": [2, 3],
}
# Values, and the types that PyTorch takes them for: it is lenient where it wants a bool,
# and None is a tensor that is not defined.
VALUES = [
    ("abc", {"str"}), (3.5, {"Scalar", "Tensor", "bool"}), ([1.5], set()), (["a"], set()),
    (torch.ones(2), {"Tensor", "SymInt[]"}), (None, {"bool", "Tensor"}),
]


def arguments_of(schema):
    """Name, type with `?`, whether keyword-only and whether it has a default, from the text."""
    text = str(schema)
    inside = text[text.index("(") + 1:text.rindex(" -> ")].rstrip(")")
    keyword_only, found = False, []
    for word in inside.split(", "):
        if word == "*":
            keyword_only = True
            continue
        kind, rest = word.split(" ", 1)
        name, _, default = rest.partition("=")
        for alias in ("(a!)", "(a)"):
            kind = kind.replace(alias, "")
        found.append((name, kind, keyword_only, default != ""))
    return found


def wrong_calls(op):
    arguments = arguments_of(operator_of(op)._schema)
    positional = [FITTING[kind.rstrip("?")] for name, kind, only, _ in arguments if not only]
    keywords = {name: FITTING[kind.rstrip("?")] for name, kind, only, default in arguments
                if only and not default}
    yield Case(op)
    if len(positional) > 1:
        yield Case(op, *positional[:1])
    yield Case(op, *positional, *positional, *positional, *positional, **keywords)
    needed = [FITTING[kind.rstrip("?")] for _, kind, only, default in arguments
              if not only and not default]
    if len(needed) < len(positional) or any(only and default for _, _, only, default in arguments):
        yield Case(op, *needed, nonsense=1, **keywords)
    for index, (name, kind, only, _) in enumerate(arguments):
        for value, taken in VALUES:
            if kind.rstrip("?") in taken or (value is None and kind.endswith("?")):
                continue
            if only:
                yield Case(op, *positional, **{**keywords, name: value})
            else:
                changed = positional[:index] + [value] + positional[index + 1:]
                yield Case(op, *changed, **keywords)
