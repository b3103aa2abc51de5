"""Planted faults: the lists, and how a fault is written into a file."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LISTS = ("core.toml", "python.toml")
"""In the order in which faults are numbered, from 1 on."""


@dataclass(frozen=True)
class Fault:
    """A place of a file, and what stands there instead while the fault is active."""

    id: str
    file: str
    kind: str
    was: str
    becomes: str
    number: int

    @property
    def in_python(self) -> bool:
        return self.file.endswith(".py")


def read_faults() -> list[Fault]:
    """Return the faults of all lists."""
    tables = [
        table
        for name in LISTS
        if (HERE / name).exists()
        for table in tomllib.loads((HERE / name).read_text(encoding="utf-8"))["fault"]
    ]
    return [Fault(**table, number=number) for number, table in enumerate(tables, 1)]


def problem_of(fault: Fault, root: Path = ROOT) -> str:
    """Return what is wrong with a fault; "" where nothing is."""
    path = root / fault.file
    if fault.kind not in ("expression", "statement"):
        return f"{fault.id}: kind {fault.kind!r}; expression and statement are allowed"
    if not path.is_file():
        return f"{fault.id}: there is no {fault.file}"
    text = path.read_text(encoding="utf-8")
    if (count := text.count(fault.was)) != 1:
        return f"{fault.id}: its text stands {count} times in {fault.file}; once is allowed"
    try:
        if fault.in_python:
            ast.parse(planted(text, fault))
    except SyntaxError as error:
        return f"{fault.id}: planted as {fault.kind}, {fault.file} is no Python any more: {error}"
    return ""


def planted(text: str, fault: Fault) -> str:
    """Return the text of a file with one fault planted."""
    return (_in_python if fault.in_python else _in_cpp)(text, fault)


def _in_cpp(text: str, fault: Fault) -> str:
    active = f"::tradewind_fault({fault.number})"
    if fault.kind == "expression":
        return text.replace(fault.was, f"({active} ? ({fault.becomes}) : ({fault.was}))")
    return text.replace(fault.was, f"if ({active}) {{ {fault.becomes} }} else {{ {fault.was} }}")


def _in_python(text: str, fault: Fault) -> str:
    active = f"_tradewind_fault({fault.number})"
    if fault.kind == "expression":
        return text.replace(fault.was, f"(({fault.becomes}) if {active} else ({fault.was}))")
    begin = text.index(fault.was)
    begin += len(fault.was) - len(fault.was.lstrip(" "))
    indent = text[text.rfind("\n", 0, begin) + 1 : begin]
    end = text.index(fault.was) + len(fault.was.rstrip("\n"))
    return (
        f"{text[:begin]}if {active}:\n{_block(fault.becomes, indent)}\n{indent}else:\n{_block(fault.was, indent)}"
        + text[end:]
    )


def _block(code: str, indent: str) -> str:
    """Return statements one level deeper; the first line of `code` may lack the indentation of the others."""
    first, *others = (code.strip("\n") or "pass").split("\n")
    return "\n".join(
        [f"{indent}    {first.lstrip(' ')}", *(f"    {line}" if line.strip() else line for line in others)]
    )


def with_import(text: str, fault: Fault, header: Path) -> str:
    """Return the text of a file with faults that can ask which one is active."""
    if not fault.in_python:
        return f'#include "{header}"\n{text}'
    after = 0
    for node in ast.parse(text).body:
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (future or docstring):
            break
        after = node.end_lineno or 0
    lines = text.split("\n")
    lines.insert(after, "from _tradewind_fault import fault as _tradewind_fault")
    return "\n".join(lines)


def acts_on_import(fault: Fault, root: Path = ROOT) -> bool:
    """Return whether the place of a fault is computed when its module is imported, not in a function."""
    if not fault.in_python:
        return False
    text = (root / fault.file).read_text(encoding="utf-8")
    line = text[: text.index(fault.was)].count("\n") + 1 + len(re.match(r"\n*", fault.was)[0])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.body[0].lineno <= line <= (node.end_lineno or 0):
                return False
        elif isinstance(node, ast.Lambda) and node.lineno <= line <= (node.end_lineno or 0):
            return False
    return True
