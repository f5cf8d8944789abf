# SPDX-License-Identifier: MIT
"""Which function draws the cases of which operators."""

from inputs import Chance

SEED = 20240917
generators = {}


def cases(*operators):
    """For a function (op, chance) that yields the cases of these operators."""

    def register(function):
        for op in operators:
            generators.setdefault(op, []).append(function)
        return function

    return register


def cases_of(op):
    for function in generators.get(op, []):
        yield from function(op, Chance(f"{SEED} {op} {function.__name__}"))
