"""Every code block of the documents runs, and prints what the document says."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import installed
import pytest
from document_blocks import ROOT, Block, Page, agrees, blocks, commands

PAGES = sorted(
    path
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if path.parent.name != "notebook"  # which tests/docs/test_notebooks.py runs
    and any(block.language in ("python", "console") for block in blocks(path.read_text(encoding="utf-8")))
)

LONG = {
    "README.md",
    *(f"dwarfs/{name}.md" for name in ("diffusion", "helmholtz", "limited_area", "mpdata", "nekbone")),
    *(f"dwarfs/{name}.md" for name in ("semi_lagrangian", "spherical_harmonics", "spherical_harmonics_ranks")),
    *(f"explanation/{name}.md" for name in ("algorithms", "layouts", "validation", "validation-sstmacro", "zheng2018")),
    *(f"how-to/{name}.md" for name in ("calibrate", "choose", "compare", "congestion", "exchange")),
    *(f"how-to/{name}.md" for name in ("fetch", "gather-scatter", "model")),
    *("how-to/compare-offers.md", "how-to/halo-code.md"),
    *(f"how-to/{name}.md" for name in ("install", "languages", "measure", "nodes", "output", "output-fortran")),
    *(
        f"how-to/{name}.md"
        for name in ("packets", "program", "record", "replay", "simulate", "study", "timeline", "tune", "verify")
    ),
    *("tutorial/index.md", "tutorial/output.md", "tutorial/veros.md"),
}
"""README, and pages below docs/ that take more than a second of processor time: `make test-all` runs them."""

MEASURING = {f"how-to/{name}.md" for name in ("calibrate", "choose", "compare", "measure", "tune")}
"""Pages that are about measured times. Of the others most blocks run on one core: they may run beside other tests."""

NEEDED = {
    ROOT / "docs" / "how-to" / "install.md": ("cc", "gfortran", "cmake"),
    ROOT / "docs" / "how-to" / "languages.md": ("cc", "c++", "gfortran"),
    ROOT / "docs" / "how-to" / "halo-code.md": ("patch",),
}
"""Programs that the blocks of a page run, and that a machine may lack."""
INSTALLED = {ROOT / "docs" / "tutorial" / "veros.md": installed.veros}
"""Functions that install programs of others for the blocks of a page, and return the folder of their commands."""


MARKS = ((pytest.mark.slow, LONG), (pytest.mark.ranks, MEASURING))


def _parameter(path: Path) -> object:
    name = str(path.relative_to(ROOT))
    marks = [mark for mark, pages in MARKS if name.removeprefix("docs/") in pages]
    return pytest.param(path, id=name, marks=marks)


@pytest.mark.parametrize("path", list(map(_parameter, PAGES)))
def test_the_blocks_of_a_page_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Page(tmp_path)
    if path in INSTALLED:
        page.environment["PATH"] += f"{os.pathsep}{INSTALLED[path]()}"
    for program in NEEDED.get(path, ()):
        if shutil.which(program, path=page.environment["PATH"]) is None:
            pytest.skip(f"there is no {program}")
    for block in blocks(path.read_text(encoding="utf-8")):
        page.run(block)


def test_pages_are_found() -> None:
    assert {str(path.relative_to(ROOT)).removeprefix("docs/") for path in PAGES} > LONG | MEASURING


def test_no_output_is_quoted_as_anything_at_all() -> None:
    """Where a page quotes an output there is a word or a figure in it that must come."""
    quoted = {
        f"{path.relative_to(ROOT)}:{block.line}: {command}": output.replace("...", "")
        for path in PAGES
        for block in blocks(path.read_text(encoding="utf-8"))
        if block.language == "console"
        for command, output in commands(block)
        if output.strip()
    }
    assert len(quoted) > 80
    assert [name for name, output in quoted.items() if not re.search(r"\w", output)] == []


def test_blocks_are_found_with_title_and_output() -> None:
    page = 'a\n```python title="a.py"\nx\n```\nb\n```python\nprint(1)\n```\n\n```text\n1\n```\n```sh\nno\n```\n'
    assert blocks(page) == [
        Block("python", "a.py", "x\n", 3),
        Block("python", None, "print(1)\n", 7, "1\n"),
        Block("sh", None, "no\n", 14),
    ]


def test_a_console_block_has_commands_and_their_output() -> None:
    assert commands(Block("console", None, "$ a b\nx\ny\n$ c\n", 1)) == [("a b", "x\ny\n"), ("c", "")]


@pytest.mark.parametrize(
    ("quoted", "actual", "same"),
    [
        ("time 1 s\n", "time  1 s \n", True),
        ("time 1 s\n", "time 2 s\n", False),
        ("time ... s\n", "time 2 s\n", True),
        ("time ... s\n", "time 2 ms\n", False),
        ("...\nb\n...\n", "a\na\nb\nc\n", True),
        ("...\nb\n", "b\n", True),
        ("...\nb\n", "a\nb\nc\n", False),
        ("a\nb\n", "a\nx\nb\n", False),
        ("a (1) [x]\n", "a (1) [x]\n", True),
    ],
)
def test_quoted_output_is_compared(quoted: str, actual: str, same: bool) -> None:
    assert agrees(quoted, actual) is same


@pytest.mark.parametrize(
    ("text", "language"),
    [("$ exit 3\n", "console"), ("$ echo a\nb\n", "console"), ("raise ValueError\n", "python")],
)
def test_a_block_that_fails_is_seen(text: str, language: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ValueError)):
        Page(tmp_path).run(Block(language, None, text, 1))
