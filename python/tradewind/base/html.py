"""Tables of notebooks: plain HTML that needs no style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """Return a table with a title; the first cell of a row is its heading."""
    lines = [f"<tr>{''.join(f'<th>{escape(each)}</th>' for each in header)}</tr>"] if header else []
    for first, *others in rows:
        cells = "".join(f"<td style='text-align:left'>{escape(str(each))}</td>" for each in others)
        lines.append(f"<tr><th style='text-align:left'>{escape(str(first))}</th>{cells}</tr>")
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"
