"""Judges the findings of a source by the cases of a study.

A finding is one test over *curves*: the time of the cases that a selection means (or another `quantity`), against their
number of ranks. Where several cases of a selection have the same ranks and seed, the lowest value speaks for it: by
time ``{ algorithm = ["recursive-8", "recursive-21"] }`` is the better of the two.

===================== ==================================================================================
``better``, ``than``  one curve lies below the other, by `factor` or more
``order``             each curve lies below the next
``same``              curves differ by no more than the fraction `tolerance` of the fastest
``crosses``, ``than`` one curve lies above the other up to `between`, and below it from there on
``falls``, ``rises``  a curve goes down, or up, from each number of ranks to the next
``flatter``, ``than`` from the first to the last number of ranks, one curve falls by a smaller factor
``jumps``             the steepest rise of a curve is by `factor` or more, and lies within `between`
``apart``             somewhere the values of this label differ by `factor` or more
``best``              the number in the best value of this label lies `within` limits, and its median near `median`
``delays``            a `share` of the packets is delayed by less than `below`, or more than `above`
``alike``             the histograms of delay differ by no more than `tolerance`
``bands``             senders and receivers are exactly `offsets` apart
``near``, ``value``   a curve lies within the fraction `tolerance` of a published value, or within a published span;
                      with `than`, its ratio to that curve does, or lies above it by `gain`
``passes``            a curve lies below `level` up to the first number of ranks of `between`, and above it from
                      the second on
``proved``            a proof or run of each of `ranks` ended well, with every transport of the selection
``predicts``          the median of how far simulated times are from those of `than` is at most `tolerance`
``ranked``            of the pairs of values of the label `by` whose times in `than` differ by more than `tolerance`,
                      a `share` is simulated in the same order
``untestable``        why these cases cannot show it
===================== ==================================================================================

Where a source uses a word, `wording` sets the limits in place of `factor` and `tolerance`, on both sides (`WORDINGS`).
Where the routing or the placement is random, a comparison must hold for the worst of at least 5 seeds.

A claim that does not hold may name its `cause`, and what has `shown` it: findings that change this cause alone. Without
one the cause is asserted.

A claim that holds is *confirmed*, unless values of the simulation were taken from the data that it is held against
(`fitted` of the finding, or of the study): then it is *fitted*, which shows that the model can take these values, and
no more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tradewind.base.toml_lines import Place
from tradewind.study.claims import comparison, prediction, published_comparison, shape, statistic
from tradewind.study.claims.curve import NotTestableError, Record, TestOutcome, is_meant, matches, number_along
from tradewind.study.claims.remarks import filled
from tradewind.study.claims.wording import WORDINGS
from tradewind.study.model.study import Finding, Fitted, Selection

CONFIRMED, CONTRADICTED, FITTED, NOT_TESTABLE = "confirmed", "contradicted", "fitted", "not testable"
VERDICTS = (CONFIRMED, CONTRADICTED, FITTED, NOT_TESTABLE)
SOURCE = "source"
EARLIER_VERDICTS = {"reproduced": CONFIRMED, "not reproduced": CONTRADICTED, "not testable here": NOT_TESTABLE}
"""Names of the verdicts in older results."""


@dataclass(frozen=True)
class Verdict:
    """Outcome of a finding."""

    figure: str
    claim: str
    verdict: str
    because: str
    figures: list[str] = field(default_factory=list)
    """The values that decided, as text."""
    remark: str = ""
    """The study's own word on it."""
    base: str | None = None
    """The base whose cases were looked at; None: all, as in a study without bases."""
    group: str = SOURCE
    """Origin of the claim: a name of `GROUPS`."""
    decided_by: str | None = None
    """Test that decides it: a name of `DECIDED_BY`."""

    @classmethod
    def untestable(cls, finding: Finding, base: str | None, because: str) -> Verdict:
        """The verdict on a finding that cannot be tested, without its remark."""
        about = finding.figure, finding.claim
        return cls(*about, NOT_TESTABLE, because, base=base, group=finding.group, decided_by=finding.decided_by)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, which `from_dict` reads."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Verdict:
        """Read what `as_dict` returned, by this version or by one with other words for the verdicts."""
        word = stored["verdict"]
        return cls(**{**stored, "verdict": EARLIER_VERDICTS.get(word, word)})


_TESTS: dict[str, Callable[[Finding, list[Record]], TestOutcome]] = {
    "better": comparison.better,
    "order": comparison.order,
    "same": comparison.same,
    "apart": comparison.apart,
    "crosses": comparison.crosses,
    "falls": shape.falls,
    "rises": shape.rises,
    "flatter": shape.flatter,
    "jumps": shape.jumps,
    "best": statistic.best,
    "delays": statistic.delays,
    "alike": statistic.alike,
    "bands": statistic.bands,
    "passes": shape.passes,
    "near": published_comparison.near,
    "proved": comparison.proved,
    "predicts": prediction.predicts,
    "ranked": prediction.ranked,
}
TESTS = (*_TESTS, "untestable")
SELECTIONS = (
    *("better", "order", "same", "crosses", "falls", "rises", "flatter", "jumps", "passes", "than"),
    *("near", "delays", "alike", "bands", "proved", "predicts", "ranked"),
)
"""The keys of a finding that hold one selection, or several; `where` belongs to all of them."""
COMPANIONS: dict[str, tuple[str, ...]] = {
    "better": ("than",),
    "flatter": ("than",),
    "crosses": ("than", "between"),
    "jumps": ("between",),
    "delays": ("share",),
    "bands": ("offsets",),
    "passes": ("level", "between"),
    "proved": ("ranks",),
    "predicts": ("than",),
    "ranked": ("than", "by", "share"),
}
"""The keys that a test needs beside its own."""
CURVES = (
    *("better", "order", "same", "apart", "crosses", "falls", "rises", "flatter", "jumps", "passes"),
    "near",
)
"""The tests of curves, which may be against nodes (`along`)."""
OPTIONAL: dict[str, tuple[str, ...]] = {"near": ("than", "value", "gain", "taken")}
"""Keys that a test may have."""
WORDED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("better", "apart", "jumps"), tuple(WORDINGS)),
    "same": ("same", "similar"),
    "alike": ("same", "similar", "slightly"),
    "near": (*WORDINGS, "about"),
    "best": ("about",),
}
"""The wordings that a test may have."""


def judge(
    finding: Finding,
    records: Iterable[Record],
    base: str | None = None,
    fits: Sequence[Fitted] = (),
    own: Collection[str] = (),
) -> Verdict:
    """Puts one finding to its test; with `base`, over the cases of it, and those of no base, alone.

    `fits`: the values of the study's simulations that were taken from its own data. `own`: the figures of the study.
    """
    every = list(records)
    verdict, because, figures = _tried(finding, _under(base, every))
    if verdict == CONFIRMED and (values := _fitted_by(finding, _under(base, every), fits)):
        verdict, because = FITTED, values
    remark = filled(finding, base or base_of(finding), every)
    if verdict == CONTRADICTED and (cause := cause_of(finding, own)):
        remark = f"{remark.removesuffix('.')}. {cause}" if remark else cause
    return Verdict(
        finding.figure,
        finding.claim,
        verdict,
        because,
        figures,
        remark,
        base or base_of(finding),
        finding.group,
        finding.decided_by,
    )


def cause_of(finding: Finding, own: Collection[str] = ()) -> str:
    """Return the cause that a finding names, and how it was found, as a sentence; empty where it names none.

    `own`: the figures of its study.
    """
    experiments = [experiment_of(name, own)[1] for name in finding.shown]
    how = f"shown by {', '.join(experiments)}" if experiments else "asserted"
    return f"Cause, {how}: {finding.cause}." if finding.cause else ""


def experiment_of(name: str, own: Collection[str] = ()) -> tuple[str, str]:
    """Return the study, empty for its own, and the figure of an experiment: "STUDY: FIGURE", or "FIGURE".

    `own`: the figures of its own study, in which ": " has no meaning.
    """
    if name in own:
        return "", name
    study, _, figure = name.partition(": ")
    return (study, figure) if figure else ("", name)


def _fitted_by(finding: Finding, records: Sequence[Record], fits: Sequence[Fitted]) -> str | None:
    """Return the values that were taken from data of a finding and are used by its simulated cases; None for none."""
    if finding.fitted is not None:
        return finding.fitted
    touched = cases_of(finding, records)
    found = [
        fit.values
        for fit in fits
        if any(matches(record, fit.to) for record in touched)
        and any(record.get("machine") is not None and matches(record, fit.of) for record in touched)
    ]
    return "; ".join(found) or None


def cases_of(finding: Finding, records: Iterable[Record]) -> list[Record]:
    """The cases that a finding looks at."""
    selections = [selection for _, selection in selections_of(finding)] or [{}]
    chosen = [record for record in records if matches(record, finding.where) and _is_along(finding, record)]
    return [record for record in chosen if any(matches(record, selection) for selection in selections)]


def _is_along(finding: Finding, record: Record) -> bool:
    """Whether a case lies where the test must hold."""
    number = number_along(finding, record)
    return finding.ranks is None or (number is not None and is_meant(finding, number))


def selections_of(finding: Finding) -> Iterator[tuple[Place, Selection]]:
    """Yield the selections of a finding, without `where`, and the place of each in it."""
    for key in SELECTIONS:
        value = getattr(finding, key)
        if isinstance(value, list):
            yield from (((key, i), each) for i, each in enumerate(value))
        elif value is not None:
            yield (key,), value


def _under(base: str | None, records: Iterable[Record]) -> list[Record]:
    """The cases of a base, and those of none."""
    return [record for record in records if base is None or record.get("base") in (base, None)]


def why_untestable(finding: Finding, records: Iterable[Record], base: str | None = None) -> str | None:
    """Return why cases like these cannot test a finding, whatever their results; None where they can.

    `records`: labels, and a time that stands for any, as other quantities of a result are not known before.
    """
    like = finding.model_copy(update={"quantity": "time"})
    if finding.bands is not None:  # whose offsets are long to compute
        like = like.model_copy(update={"bands": None, "proved": finding.bands, "ranks": []})
    if finding.ranked is not None:  # of equal times none are in the wrong order
        like = like.model_copy(update={"ranked": None, "predicts": finding.ranked})
    verdict, because, _ = _tried(like, _under(base, records))
    return because if verdict == NOT_TESTABLE else None


def base_of(finding: Finding) -> str | None:
    """The base that a finding names itself for its cases; None for none or several."""
    selections = [finding.where, *(selection for _, selection in selections_of(finding))]
    named = {str(base) for selection in selections for base in selection.get("base", [])}
    return named.pop() if len(named) == 1 else None


def _tried(finding: Finding, records: Iterable[Record]) -> tuple[str, str, list[str]]:
    """The verdict, why, and the values that decided."""
    if finding.untestable is not None:
        return NOT_TESTABLE, finding.untestable, []
    test = next(name for name in _TESTS if getattr(finding, name) is not None)
    cases = [record for record in records if matches(record, finding.where)]
    if test not in ("bands", "proved"):  # which need no time
        cases = [record for record in cases if record["time_s"] is not None]
    try:
        problems, figures = _TESTS[test](finding, cases)
    except NotTestableError as reason:
        return NOT_TESTABLE, str(reason), []
    return CONTRADICTED if problems else CONFIRMED, "; ".join(problems), figures
