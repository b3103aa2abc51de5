"""An extension of Python-Markdown for the pages: formulas as MathML, and words of the glossary that explain themselves.

Formulas, `$...$` in a line and `$$...$$` on lines of their own, become MathML, which browsers draw without a script
and without fonts of the site. In each page the first use of a word of the glossary shows its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.treeprocessors import Treeprocessor

GLOSSARY = Path(__file__).parents[1] / "reference" / "glossary.md"
EVERYDAY = frozenset({"bound", "case", "delay", "finding", "group", "handle", "host", "interior", "method", "path"}) | {
    *("port", "process", "run", "seam", "window"),
}
"""Words of the glossary that pages also use in a sense of every day: they stay as they are."""
TEXTS = frozenset({"p", "li", "td", "dd", "em", "strong"})
"""Elements whose texts have words that are explained; headings, links and code have none."""


@cache
def meanings() -> dict[str, str]:
    """Return the words of the glossary, and their meanings as plain text."""
    rows = re.findall(r"^\| ([\w -]+) \| (.+) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return {word: re.sub(r"[`*]", "", text) for word, text in rows if word not in {"word", *EVERYDAY}}


@cache
def _words() -> re.Pattern[str]:
    longest_first = sorted(meanings(), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])({'|'.join(longest_first)})s?(?![\w-])")


class Glossary(Treeprocessor):
    """Wraps the first use of each word of the glossary in an `abbr` with its meaning."""

    def run(self, root: ElementTree.Element) -> None:
        self._explain(root, set())

    def _explain(self, element: ElementTree.Element, seen: set[str]) -> None:
        if element.tag in TEXTS:
            pieces = list(_split(element.text, seen))
            if pieces[1:]:
                element.text = pieces[0]  # type: ignore[assignment]
                element[:0] = pieces[1:]  # type: ignore[assignment]
        position = 0
        for child in list(element):
            position = list(element).index(child, position) + 1
            if child.tag in ("abbr", "a", "code", "pre", "math"):
                pass
            elif child.tag not in ("h1", "h2", "h3", "h4", "th"):
                self._explain(child, seen)
            if element.tag in TEXTS and child.tag != "abbr":
                pieces = list(_split(child.tail, seen))
                if pieces[1:]:
                    child.tail = pieces[0]  # type: ignore[assignment]
                    element[position:position] = pieces[1:]  # type: ignore[assignment]


def _split(text: str | None, seen: set[str]) -> Iterator[str | ElementTree.Element | None]:
    """Yield a text up to the first word that is new, and then elements, each with the text after it."""
    end, last = 0, None
    for found in _words().finditer(text or ""):
        if found[1] in seen:
            continue
        seen.add(found[1])
        before = (text or "")[end : found.start()]
        if last is None:
            yield before
        else:
            last.tail = before
            yield last
        last, end = ElementTree.Element("abbr", title=meanings()[found[1]]), found.end()
        last.text = found[0]
    if last is None:
        yield text
    else:
        last.tail = (text or "")[end:]
        yield last


class Formula(InlineProcessor):
    """A formula in a line."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 (Python-Markdown's name)
        self, m: re.Match[str], data: str
    ) -> tuple[str, int, int]:
        del data
        return self.md.htmlStash.store(convert(m[1])), m.start(0), m.end(0)


class Display(BlockProcessor):
    """A formula on lines of its own."""

    def test(self, parent: ElementTree.Element, block: str) -> bool:
        del parent
        return block.startswith("$$") and block.rstrip().endswith("$$")

    def run(self, parent: ElementTree.Element, blocks: list[str]) -> None:
        formula = convert(blocks.pop(0).strip().strip("$").strip(), display="block")
        box = ElementTree.SubElement(parent, "div", {"class": "formula", "tabindex": "0"})
        box.text = self.parser.md.htmlStash.store(formula)


class Website(Extension):
    """Formulas and glossary."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        md.inlinePatterns.register(
            Formula(r"(?<![\\$\w])\$([^$\s](?:[^$\n]*[^$\s\\])?)\$(?![\w$])", md), "formula", 185
        )
        md.parser.blockprocessors.register(Display(md.parser), "formula", 95)
        md.treeprocessors.register(Glossary(md), "glossary", 12)


def makeExtension(**options: object) -> Website:  # noqa: N802 (Python-Markdown's name)
    return Website(**options)
