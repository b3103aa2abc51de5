"""The reference page says what header and module declare, and the header what Fortran has."""

from __future__ import annotations

import re

from tradewind_header import FORTRAN, ROOT, fortran_functions, functions, options, statuses

PAGE = (ROOT / "docs" / "reference" / "c.md").read_text()
ROWS = [[cell.strip() for cell in line.split("|")[1:3]] for line in PAGE.splitlines() if line.startswith("| `")]


def documented(column: int) -> dict[str, list[str]]:
    """The functions in a column of the tables, with their arguments."""
    found = re.findall(r"`(tw_\w+)\(([^)]*)\)`", "\n".join(row[column] for row in ROWS))
    return {name: [argument.strip() for argument in text.split(",") if argument.strip()] for name, text in found}


def test_all_functions_of_c():
    assert documented(0) == functions()
    assert len(functions()) > 20


def test_all_functions_of_fortran():
    public = fortran_functions()
    assert documented(1) == public
    only_c = {name for name in functions() if name.endswith("_f")}
    only_c |= {
        "tw_default_options",
        "tw_default_transform_options",
        "tw_default_description",
        "tw_dense",
        "tw_vector",
        "tw_field_server_open_plan",
    }
    assert set(functions()) - set(public) == only_c


def test_statuses_are_the_same():
    in_fortran = (FORTRAN / "interfaces.f90").read_text()
    for name, value in statuses().items():
        assert f"| `{name}` | `{name.lower()}` | {value}" in PAGE
        assert f"{name.lower()} = {value}" in in_fortran
    assert len(statuses()) == 7


def test_options():
    section = PAGE.split("\n## Options\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(options())
    body = (FORTRAN / "tradewind.f90").read_text().split("type :: tw_options")[1].split("end type")[0]
    assert set(options()) <= set(re.findall(r":: (\w+)", body))
