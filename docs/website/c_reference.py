"""The reference of C: the declarations of tradewind.h with the comments above them, as a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

HEADER = Path(__file__).parents[2] / "include" / "tradewind" / "tradewind.h"
_SECTION = re.compile(r"/\* --- (.+) --- \*/")
_PART = re.compile(
    r"/\* --- .+? --- \*/|/\*.*?\*/|typedef .*?^\}[^;]*;|TW_API.*?;|^#define TW_NULL.*?$", re.DOTALL | re.MULTILINE
)
"""The parts of the header: headings, comments, types, functions, and the only macro for programs."""


def declarations() -> str:
    """Return the declarations of the header in its order: headings, comments as text, declarations as code."""
    body = HEADER.read_text(encoding="utf-8").partition("#define TW_API\n#endif\n")[2]
    return "\n\n".join(_blocks(_PART.findall(body)))


def _blocks(parts: list[str]) -> Iterator[str]:
    """Yield Markdown: a run of declarations below one comment is one block of code."""
    code: list[str] = []
    for part in parts:
        if part.startswith("/*") and code:
            yield _code(code)
            code = []
        if heading := _SECTION.fullmatch(part):
            yield f"## {heading[1].capitalize()}"
        elif part.startswith("/*"):
            yield _text(part)
        else:
            code.append(part.removeprefix("TW_API "))
    yield _code(code)


def _code(declared: list[str]) -> str:
    return "```c\n" + "\n".join(declared) + "\n```"


def _text(comment: str) -> str:
    """Return a comment without its marks, its paragraphs apart."""
    lines = (re.sub(r"^\s*\*? ?", "", line) for line in comment.removeprefix("/*").removesuffix("*/").splitlines())
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return "\n\n".join(_escaped(" ".join(each.split())) for each in paragraphs)


def _escaped(text: str) -> str:
    """Names as code, and no other character that Markdown takes as its own."""
    named = re.sub(r"(?<![`\w])((?:tw|TW|TRADEWIND|MPI)_\w+(?:\(\))?)(?![`\w])", r"`\1`", text)
    named = re.sub(r"((?:\[\w+\])+)(?=\[)\[\w+\]", r"`\g<0>`", named)
    return re.sub(r"(?<!`)\*(?!`)", r"\\*", named).replace("<", "&lt;")
