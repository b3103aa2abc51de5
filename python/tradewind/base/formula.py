"""Formulas in files: numbers, names, + - * / // % **, brackets and a few functions."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.names import unknown

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
    "sqrt": math.sqrt,
    "log2": math.log2,
}
_ALLOWED = f"numbers, names, + - * / // % **, brackets and {', '.join(FUNCTIONS)} are allowed"


class Formula:
    """A formula that is parsed once and evaluated for any values of its names. Raises InputError for an invalid one."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._body = ast.parse(text, mode="eval").body
        except (SyntaxError, RecursionError, ValueError, MemoryError) as error:
            raise InputError(f"formula {text!r}: {error}; {_ALLOWED}") from None

    @cached_property
    def names(self) -> set[str]:
        """The names that stand in it, without those of functions."""
        return {node.id for node in ast.walk(self._body) if isinstance(node, ast.Name)} - FUNCTIONS.keys()

    def value(self, names: Mapping[str, float]) -> float:
        """Return its value. Raises InputError for a name that is not there, and where there is no finite value."""
        if not self.names <= names.keys():
            strange = sorted(self.names - names.keys())
            raise InputError(f"formula {self.text!r}: {unknown('name', strange[0], names)}")
        try:
            found = _value(self._body, names)
            is_finite = isinstance(found, int | float) and math.isfinite(found)
        except (ArithmeticError, RecursionError, ValueError, TypeError) as error:
            raise InputError(f"formula {self.text!r}: {error}") from None
        if not is_finite:
            raise InputError(f"formula {self.text!r}: {found} is not a finite number")
        return float(found) if isinstance(found, float) else int(found)


def _value(node: ast.expr, names: Mapping[str, float]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = FUNCTIONS.get(node.func.id)
        if function is not None:
            return function(*(_value(each, names) for each in node.args))
    raise ValueError(_ALLOWED)
