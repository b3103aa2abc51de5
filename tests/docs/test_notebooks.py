"""The notebooks of the site: their code is that of the pages, and Jupyter runs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from document_blocks import ROOT, agrees, blocks

sys.path.insert(0, str(ROOT / "docs"))
PAGES = sorted((ROOT / "docs" / "notebook").glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_runs_in_jupyter_and_prints_what_its_page_says(page: Path) -> None:
    pytest.importorskip("nbclient", reason="no Jupyter here")
    from website.notebooks import as_notebook, execute

    text = page.read_text(encoding="utf-8")
    notebook = as_notebook(text)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    expected = [block for block in blocks(text) if block.language == "python"]
    assert [cell.source.strip() for cell in code] == [block.text.strip() for block in expected]
    assert not any("```text" in cell.source or ".md)" in cell.source for cell in notebook.cells)
    execute(notebook)
    for cell, block in zip(code, expected, strict=True):
        printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
        assert agrees(block.output or "", printed), printed


def test_each_notebook_has_an_exercise_and_its_answer() -> None:
    assert len(PAGES) == 4
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert 0 < text.index("\n## Exercise\n") < text.index("\n## Answer\n") < text.rindex("```python\n"), page
