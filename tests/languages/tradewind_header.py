"""Declarations of tradewind.h and of the Fortran module."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "include" / "tradewind" / "tradewind.h"
FORTRAN = ROOT / "bindings" / "fortran"


def functions() -> dict[str, list[str]]:
    """The names of all functions in C, with those of their arguments."""
    found = re.findall(r"^TW_API [^(]*?(tw_\w+)\(([^;]*)\);", HEADER.read_text(), re.MULTILINE)
    return {name: [_name(argument) for argument in text.split(",") if argument != "void"] for name, text in found}


def _name(argument: str) -> str:
    """Return the name in a declaration: points for "const int64_t points[3]"."""
    return re.findall(r"\w+", argument.split("[")[0])[-1]


def fortran_functions() -> dict[str, list[str]]:
    """The same in Fortran. Generic ones are those of one of their specifics."""
    text = "\n".join(path.read_text() for path in sorted(FORTRAN.glob("*.f90")))
    found = dict(re.findall(r"^ *function (\w+)\(([^)]*)\)", text, re.MULTILINE))
    generic = {
        "tw_plan_make": "make_on_integer",
        "tw_record_begin": "record_on_integer",
        "tw_empty": "real64_3",
        "tw_points_of_ids": "ids64_on_integer",
        "tw_points_of_count": "count_on_integer",
        "tw_gather_scatter": "shared64_on_integer",
        "tw_points_of_layout": "layout_on_integer",
        "tw_points_locate": "locate_64",
        "tw_points_fetch": "fetch_64",
        "tw_points_halo": "halo_64",
        "tw_renumbered": "renumbered64_on_integer",
        "tw_transform_make": "transform_on_integer",
        "tw_transform_make_rows": "rows_on_integer",
        "tw_field_server_open": "open_on_integer",
        "tw_field_server_comm": "comm_as_integer",
        "tw_field_server_write": "write_field",
        "tw_field_server_start": "start_field",
        "tw_field_server_read": "read_field",
    }
    text = (FORTRAN / "tradewind.f90").read_text()
    public = re.findall(r"tw_\w+", " ".join(re.findall(r"^  public :: (.*)$", text, re.MULTILINE)))
    named = {name: generic.get(name, name) for name in public}
    empty = re.search(r"function real64_3\(([^)]*)\)", (FORTRAN / "arrays.f90").read_text())
    assert empty
    found["real64_3"] = empty[1]
    return {
        name: [argument.strip(" &\n") for argument in found[specific].split(",") if argument.strip()]
        for name, specific in named.items()
        if specific in found
    }


def statuses() -> dict[str, int]:
    """The members of tw_status."""
    return {
        name: int(value) for name, value in re.findall(r"^    (TW_OK|TW_ERROR_\w+) = (\d)", HEADER.read_text(), re.M)
    }


def options() -> list[str]:
    """The members of tw_options."""
    body = re.search(r"typedef struct tw_options \{(.*?)\} tw_options;", HEADER.read_text(), re.DOTALL)
    assert body
    return re.findall(r"^ +(?:const )?\w+\*? (\w+);", body[1], re.MULTILINE)
