"""The claims of a study: judged under each of its bases, counted by whose they are, and laid side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tradewind.study.cases.records import Record
from tradewind.study.claims.finding import FITTED, SOURCE, VERDICTS, Verdict, judge
from tradewind.study.claims.selection import bases_of, labels_of
from tradewind.study.model.study_file import StudyFile

GROUPS = {SOURCE: "of the source", "variant": "variants", "question": "own questions"}
"""Origins of claims: the source itself; the source under values that we vary; a question of our own."""
DECIDED_BY = {
    "parameter": "a parameter that the source leaves open",
    "simulator": "a fault of the source's simulator",
    "model": "a modelling choice",
    "data": "the source's own data",
    "unexplained": "unexplained",
}
"""Tests that decide a claim, as tables name them."""
_SENTENCES = re.compile(r"(?<=[.?!]) +(?=[A-Z0-9])")


def judge_all(study_file: StudyFile, records: Sequence[Record]) -> list[Verdict]:
    """Put each finding of a study to its test, under each base whose cases it is about."""
    return [verdict for verdicts in judge_each(study_file, records) for verdict in verdicts]


def judge_each(study_file: StudyFile, records: Sequence[Record]) -> list[list[Verdict]]:
    """Return the verdicts on each finding of a study in its order, one under each base whose cases it is about."""
    study = study_file.study
    cases = labels_of(study_file) if study.base else []
    own = {finding.figure for finding in study.finding}
    return [
        [judge(finding, records, base, study.fitted, own) for base in bases_of(finding, study, cases)]
        for finding in study.finding
    ]


@dataclass(frozen=True)
class Count:
    """Counts of verdicts for the claims of one group under one base."""

    group: str
    base: str | None
    """None: of no base, or, where others have one, of several."""
    is_between: bool
    """Whether bases are compared, where others have one."""
    verdicts: Mapping[str, int]
    """The number of claims with each verdict, also where it is 0."""

    @property
    def name(self) -> str:
        """Return a text like "of the source, under SST/macro 7.1"."""
        base = ", between bases" if self.is_between else f", under {self.base}" if self.base else ""
        return GROUPS[self.group] + base

    @property
    def text(self) -> str:
        """Return a text like "16 confirmed, 3 contradicted, 6 not testable"; fitted ones where there are any."""
        return ", ".join(f"{self.verdicts[word]} {word}" for word in verdicts_of([self]))

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it: group, base, and the number of claims by verdict."""
        return {"group": self.group, "base": self.base, **self.verdicts}


def counts(verdicts: Iterable[Verdict]) -> list[Count]:
    """Count claims, apart for each group and base that they have; the groups in the order of `GROUPS`."""
    found: dict[tuple[str, str | None], Counter[str]] = {}
    for each in verdicts:
        found.setdefault((each.group, each.base), Counter())[each.verdict] += 1
    ordered = sorted(found, key=lambda key: [*GROUPS].index(key[0]))  # and of one group in the order of the study
    have_bases = any(base for _, base in found)
    return [
        Count(group, base, have_bases and base is None, {word: found[group, base][word] for word in VERDICTS})
        for group, base in ordered
    ]


def verdicts_of(found: Iterable[Count]) -> list[str]:
    """Return the verdicts that tables of counts have a column for: fitted where there is one."""
    fitted = any(count.verdicts[FITTED] for count in found)
    return [word for word in VERDICTS if word != FITTED or fitted]


def counted(verdicts: Iterable[Verdict]) -> str:
    """Return for example "16 confirmed, 3 contradicted, 6 not testable"; with the name of each group where there are
    others than the source's, or bases."""
    found = counts(verdicts)
    if all((count.group, count.base) == (SOURCE, None) for count in found):
        return found[0].text if found else ", ".join(f"0 {word}" for word in verdicts_of(found))
    return "; ".join(f"{count.name}: {count.text}" for count in found)


@dataclass
class Claim:
    """One claim with its verdicts."""

    figure: str
    text: str
    group: str
    decided_by: str | None
    verdicts: dict[str | None, Verdict] = field(default_factory=dict)
    """By base."""

    @property
    def each(self) -> list[Verdict]:
        """The verdicts in the order of the bases."""
        return list(self.verdicts.values())

    def words(self, bases: Sequence[str]) -> list[str]:
        """Return a cell for each base, and in a study without bases one; a claim that is judged over several bases
        has a note in the first cell."""
        if not bases:
            return [verdict.verdict for verdict in self.each]
        between = self.verdicts.get(None)
        if between is not None:
            return [f"{between.verdict} (between bases)", *[""] * (len(bases) - 1)]
        return [verdict.verdict if (verdict := self.verdicts.get(base)) else "" for base in bases]


def claims_of(verdicts: Iterable[Verdict]) -> list[Claim]:
    """Lay the verdicts on one claim under several bases, which follow one another, side by side."""
    claims: list[Claim] = []
    for each in verdicts:
        about = (each.figure, each.claim, each.group, each.decided_by)
        last = claims[-1] if claims else None
        is_next = last is None or about != (last.figure, last.text, last.group, last.decided_by)
        if last is None or is_next or each.base is None or {None, each.base} & set(last.verdicts):
            last = Claim(*about)
            claims.append(last)
        last.verdicts[each.base] = each
    return claims


def reasons(
    verdicts: Sequence[Verdict], because: Callable[[Verdict], str] = lambda verdict: verdict.because
) -> list[str]:
    """Return why the verdicts on a claim are what they are, and the remarks of the study: once what is the same under
    all bases, and the rest with the name of its base."""
    remarks = [_SENTENCES.split(verdict.remark) if verdict.remark else [] for verdict in verdicts]
    shared = " ".join(text for text in remarks[0] if all(text in others for others in remarks)) if remarks else ""
    own = [
        _joined(because(each), " ".join(text for text in sentences if text not in _SENTENCES.split(shared)))
        for each, sentences in zip(verdicts, remarks, strict=True)
    ]
    if len(set(own)) == 1:
        return [text for text in (own[0], shared.removesuffix(".")) if text]
    named = [f"{verdict.base}: {text}" for verdict, text in zip(verdicts, own, strict=True) if text]
    return [*named, *([shared.removesuffix(".")] if shared else [])]


def _joined(*texts: str) -> str:
    """Texts as sentences of which the last has no full stop."""
    return ". ".join(text.removesuffix(".") for text in texts if text)


def figures_of(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the values that decided, with the names of the bases where there are several."""
    several = len(verdicts) > 1
    return [f"{each.base}: {figure}" if several else figure for each in verdicts for figure in each.figures]


def bases_in(verdicts: Iterable[Verdict]) -> list[str]:
    """Return the bases of some verdicts, in their order."""
    return list(dict.fromkeys(each.base for each in verdicts if each.base is not None))
