"""Pages are as short as readers need them, and explanations begin with their answer."""

from __future__ import annotations

import re

import pytest
from document_blocks import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.glob("**/*.md"))
WORDS = 3000
LINES, COLUMNS = 5, 120
"""The size of an answer."""
TABLES = re.compile(r"reference/|.*-claims\.md")
"""Pages to look things up in, and tables of all claims of a source: they may be longer."""


def words(text: str) -> int:
    """Count words: marks of tables and lists, and comments, are none."""
    return sum(bool(re.search(r"\w", word)) for word in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split())


def answer(text: str) -> list[str]:
    """Return the lines of the answer of an explanation: a quotation right below its title."""
    found = re.match(r"# [^\n]+\n\n((?:> [^\n]+\n)+)\n", text)
    return found[1].splitlines() if found and found[1].startswith("> **Answer.** ") else []


def test_pages_have_at_most_3000_words() -> None:
    counts = {page: words((DOCS / page).read_text(encoding="utf-8")) for page in PAGES if not TABLES.match(page)}
    assert len(counts) > 70
    assert {page: count for page, count in counts.items() if count > WORDS} == {}


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("explanation/")])
def test_explanations_begin_with_their_answer(page: str) -> None:
    lines = answer((DOCS / page).read_text(encoding="utf-8"))
    assert 2 <= len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS


def test_words_are_counted() -> None:
    assert words("# A page\n\n<!-- begin x -->\n| a | b-c |\n| --- | --- |\n- 3 `d e`") == 7


@pytest.mark.parametrize(
    "text", ["# T\n\nText.\n", "# T\n\n> A quotation.\n\n", "# T\n\nText.\n\n> **Answer.** Late.\n\n"]
)
def test_a_missing_answer_is_seen(text: str) -> None:
    assert answer(text) == []


def test_every_page_stands_in_the_navigation() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == PAGES


def headings(text: str) -> set[str]:
    """Return the anchors of the headings of a page."""
    found = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in found}


def test_each_link_of_readme_leads_to_a_page_and_its_heading() -> None:
    """Those of the pages are checked where the site is built."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = {tuple(link.partition("#")[::2]) for link in re.findall(r"\]\(([^)\s:]+)\)", text)}
    assert len(targets) > 20
    assert [target for target, _ in targets if not (ROOT / target).exists()] == []
    anchors = [(target, anchor) for target, anchor in targets if anchor]
    assert len(anchors) > 5
    assert [each for each in anchors if each[1] not in headings((ROOT / each[0]).read_text(encoding="utf-8"))] == []
