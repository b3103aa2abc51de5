"""The formulas and the words of the glossary on the pages of the site, and the reference of C."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from document_blocks import ROOT

markdown = pytest.importorskip("markdown", reason="no zensical here")
pytest.importorskip("latex2mathml", reason="no latex2mathml here")


TEXT = """# A schedule

A `schedule`, *schedules* and a schedule.

| radix |
| --- |
| the radix of a [plan](x) |
"""


@pytest.fixture
def docs_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield ROOT / "docs"
    sys.modules.pop("website", None)


def html(text: str) -> str:
    return str(markdown.markdown(text, extensions=["tables", "website.extension"]))


@pytest.mark.usefixtures("docs_path")
def test_the_first_use_of_a_word_is_explained() -> None:
    made = html(TEXT)
    assert re.findall(r"<abbr title=\"[^\"]+\">(\w+)</abbr>", made) == ["schedules", "radix"]
    assert 'title="stages of messages: the result of a pattern and an algorithm"' in made
    assert re.sub(r"</?abbr[^>]*>", "", made) == markdown.markdown(TEXT, extensions=["tables"])


@pytest.mark.usefixtures("docs_path")
def test_everyday_words_stay_as_they_are() -> None:
    assert "abbr" not in html("In this case a window is a path, and to run is no stagecoach.")


@pytest.mark.usefixtures("docs_path")
def test_formulas_become_mathematics() -> None:
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in html("Here $x^2$ grows.")
    assert 'display="block"' in html("$$\\frac{a}{b}$$\n\nText.")
    assert "<math" not in html("It costs $5 or 6 $ of `$HOME` and \\$x$.")


@pytest.mark.usefixtures("docs_path")
def test_every_function_of_c_is_in_its_reference(docs_path: Path) -> None:
    header = (ROOT / "include" / "tradewind" / "tradewind.h").read_text(encoding="utf-8")
    declared = re.findall(r"^TW_API [\w* ]+?\b(tw_\w+)\(", header, re.MULTILINE)
    code = "\n".join(
        re.findall(r"^```c\n(.*?)^```", (docs_path / "reference" / "c-header.md").read_text(), re.M | re.S)
    )
    assert len(declared) > 60
    assert [name for name in declared if f"{name}(" not in code] == []
