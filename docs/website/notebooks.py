"""The notebooks: pages of docs/notebook as files that Jupyter opens, with the outputs of their code."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import jupytext
import nbclient
import nbformat

PAGES = Path(__file__).parents[1] / "notebook"
TIMEOUT_S = 600
_QUIET = ["--log-level=ERROR"]
"""A kernel listens on this machine alone, and need not warn of it."""
_OUTPUT = re.compile(r"(^```python\n.*?^```\n)\n```text\n.*?^```\n", re.DOTALL | re.MULTILINE)
"""A block of code, and after it what it prints: in a notebook the code prints it."""
_DOWNLOAD = re.compile(r' <a href="\w+\.ipynb" download>[^<]*</a>[^\n]*')
_SIBLING = re.compile(r"\]\((\w+)\.md\)")
_PAGE = re.compile(r"\]\((\.\./[\w/-]+)\.md")


def as_notebook(page: str) -> Any:
    """Return a page as a notebook without outputs; its links are those of the site."""
    text = _DOWNLOAD.sub("", _OUTPUT.sub(r"\1", page))
    text = _PAGE.sub(r"](\1.html", _SIBLING.sub(r"](\1.ipynb)", text))
    notebook = jupytext.reads(text, fmt="md")
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def execute(notebook: Any) -> None:
    """Run all cells in a kernel of their own, in an empty folder. Raises nbclient's CellExecutionError."""
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(
            notebook, timeout=TIMEOUT_S, kernel_name="python3", resources=resources, extra_arguments=_QUIET
        ).execute()


def write_notebooks(folder: Path) -> list[Path]:
    """Write all pages of `PAGES` as notebooks with their outputs; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in sorted(PAGES.glob("*.md")):
        notebook = as_notebook(page.read_text(encoding="utf-8"))
        execute(notebook)
        file = folder / f"{page.stem}.ipynb"
        nbformat.write(notebook, file)
        written.append(file)
    return written
