"""Evidence for the values of a machine file: each text under ``[source]`` states its kind by how it begins.

============== ======================================================================================================
cited          a text that names what is published: author or publisher with a year, a document, URL, DOI or arXiv
estimated      ``estimated: `` and from what, which is cited
assumed        ``assumed: `` and why; or ``imaginary``, of a machine that is made up
other          any other text, such as how something was measured
============== ======================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

Evidence = Literal["cited", "estimated", "assumed", "other"]
EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)
WHOLE = ""
"""Key of a source that stands for all values of a file, ``source = "..."``."""
IMAGINARY = "imaginary"
"""Source of values that are made up."""

# A name, which begins with a capital, and within the same clause a year or a kind of document. The year of a date such
# as 2026-11-22 (when something was measured) does not count, nor does 2000 of "2000 MHz".
_YEAR = r"\b(?:19|20)\d\d\b(?!-\d|\s?[kMGT]?(?:Hz|B|bit|flop)\b)"
_DOCUMENT = r"\b(?:data sheet|documents|guide|man page|manual|white paper)\b"
_CITATION = re.compile(rf"https?://\w|\bdoi:10\.|\barXiv:\d|[A-Z][^;:]*?(?:{_YEAR}|{_DOCUMENT})")
_MARK = re.compile(r"\s*(assumed|estimated)\b", re.IGNORECASE)


def evidence_of(text: str) -> Evidence:
    """Return the kind of evidence that a text under ``[source]`` states."""
    if text.startswith("assumed: ") or text == IMAGINARY:
        return "assumed"
    if text.startswith("estimated: "):
        return "estimated"
    return "cited" if _CITATION.search(text) else "other"


def problem_of(text: str) -> str | None:
    """Return the problem of a text under ``[source]``: `evidence_of` needs one spelling of each mark."""
    if not text.strip():
        return "the text is empty: name what is published, or write 'assumed: ' and why"
    if found := _MARK.match(text):
        mark = found[1].lower()
        if not re.match(rf"{mark}: \S", text):
            return f"{text[:40]!r}: write '{mark}: ' and {'why' if mark == 'assumed' else 'from what'}"
    if evidence_of(text) == "estimated" and not _CITATION.search(text):
        return f"{text[:40]!r}: estimated from what? Name what is published, or write 'assumed: ' and why"
    return None


def naming(key: str, sources: Mapping[str, str]) -> str | None:
    """The entry under ``[source]`` that a value rests on: its own, or that of the nearest table around it."""
    while key and key not in sources:
        key = key.rpartition(".")[0]
    return key if key in sources else None
