"""Compares the times of two results, case by case: which is faster, by what factor, and how sure that is.

Cases are matched as `tradewind.dataset.matching` does. Measured cases are compared by the ratio of their medians, with
its confidence interval; simulated times have no spread and are compared as they are. Tuning files keep no samples, so
that the ratio of their medians has no interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError
from tradewind.base.intervals import CONFIDENCE, MIN_SAMPLES, Ratio, exact_ratio, mean_ratio, ratio_of_medians
from tradewind.dataset.claim_changes import ClaimChanges, claim_changes
from tradewind.dataset.matching import REPEATED, Matching, match
from tradewind.dataset.open_table import is_tuning, open_table
from tradewind.study.model.labels import LABELS

if TYPE_CHECKING:
    import pandas as pd

Case = dict[str, Any]
"""The labels of a case, its `key`, its `time`, its `samples` and whether it was `measured`. Copies of a case in several
sweeps have one key."""
THRESHOLD = 0.05
FASTER, SLOWER, EQUAL, UNDECIDED, TOO_FEW = "faster", "slower", "equal", "not distinguishable", "too few samples"
APART = ("study", "memory", "program", "message_bytes")
"""Columns beside the labels by which cases are different ones."""
_METHOD = ("algorithm", "transport", "packing")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Compared:
    """One case of both results. `ratio`: the new time over the old one; without `sure`, it has no interval."""

    old: Case
    new: Case
    ratio: Ratio
    sure: bool
    verdict: str
    differences: Mapping[str, tuple[Any, Any]]
    """Labels that differ between all such cases of both results: those that agree in `APART`."""

    @property
    def samples(self) -> int:
        """The smaller number of samples of the two; 0 where times have none."""
        return min(len(self.old["samples"]), len(self.new["samples"]))

    def exceeds(self, threshold: float) -> bool:
        """Whether the new time is longer by more than a threshold, with confidence where there are samples."""
        return self.verdict == SLOWER and self.ratio.low > 1 + threshold


@dataclass(frozen=True)
class Comparison:
    """All cases that two results have in common, and what only one of them has."""

    cases: list[Compared]
    only_old: list[Case]
    only_new: list[Case]
    differences: Mapping[str, tuple[Any, Any]]
    """Labels that differ between the results as a whole, such as the machine: alike in all studies."""
    claims: ClaimChanges
    threshold: float
    confidence: float
    seed: int

    @property
    def too_slow(self) -> list[Compared]:
        """The cases whose new time exceeds the old one by more than the threshold."""
        return [case for case in self.cases if case.exceeds(self.threshold)]

    @cached_property
    def mean(self) -> Ratio:
        """The geometric mean of all ratios that could be judged; cases without a time on both sides are left out."""
        judged = [case for case in self.judged if case.new["time"]] or self.judged
        return mean_ratio([case.ratio for case in judged], self.confidence)

    @property
    def judged(self) -> list[Compared]:
        """The cases with enough samples."""
        return [case for case in self.cases if case.verdict != TOO_FEW]

    def count(self, verdict: str) -> int:
        """Return the number of cases with a verdict."""
        return sum(case.verdict == verdict for case in self.cases)


def compare(
    old: str | Path,
    new: str | Path,
    *,
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
    seed: int = 1,
) -> Comparison:
    """Return the comparison of two results, each anything that `open_table` opens.

    `threshold`: fraction of the old time by which a new one counts as too slow. `confidence`: of the intervals, between
    0 and 1. `seed`: of the resamples. Raises InputError for results without a common case, and where no common case has
    the samples that a judgement needs.
    """
    _check(threshold, confidence, seed)
    tables = [open_table(path) for path in (old, new)]
    tuned = all(Path(path).suffix == ".toml" and is_tuning(Path(path)) for path in (old, new))
    first, second = (_cases(table) for table in tables)
    for path, cases in ((old, first), (new, second)):
        if not cases:
            raise InputError(f"{path}: no case has a time")
    matched = _match(first, second, _METHOD if tuned else ())
    pairs = [(_pooled(pair.old), _pooled(pair.new), each.differences) for each in matched for pair in each.pairs]
    if not pairs:
        raise InputError(_nothing_in_common(old, new, first, second))
    compared = [_compared(*pair, confidence, seed, number) for number, pair in enumerate(pairs)]
    found = Comparison(
        compared,
        [dict(case) for each in matched for case in each.only_old],
        [dict(case) for each in matched for case in each.only_new],
        _common([each.differences for each in matched if each.pairs]),
        claim_changes(Path(old), Path(new)),
        threshold,
        confidence,
        seed,
    )
    if not found.judged:
        raise InputError(
            f"no case can be judged: {max(case.samples for case in compared)} samples at most, and {MIN_SAMPLES} of "
            "each are needed; measure again, with --repeat 20 or more"
        )
    return found


def _check(threshold: float, confidence: float, seed: int) -> None:
    problems = [
        text
        for good, text in (
            (0 <= threshold < 100, f"threshold {threshold}: 0 or more is allowed, like 5% or 0.05"),
            (0.5 <= confidence < 1, f"confidence {confidence}: 0.5 or more, and less than 1, is allowed"),
            (seed >= 0, f"seed {seed}: 0 or more is allowed"),
        )
        if not good
    ]
    if problems:
        raise InputError(*problems)


def _cases(table: pd.DataFrame) -> list[Case]:
    """Return the cases of a table that have a time."""
    own = table[(table["quantity"] == "time") & (table["part"] == "")]
    samples = {int(case): list(each) for case, each in own[own["statistic"] == "sample"].groupby("case")["value"]}
    named = [name for name in (*APART, *LABELS) if name in table]
    whole = own[own["statistic"].isin(("median", "value"))].drop_duplicates("case")
    found = []
    for row in whole[["case", "statistic", "value", *named]].itertuples(index=False):
        values = row._asdict()
        labels = {name: _text(values[name]) for name in named}
        time, own = float(values["value"]), samples.get(int(values["case"]), [])
        key = (tuple(value for name, value in labels.items() if name not in REPEATED), time, tuple(own))
        found.append({**labels, "key": key, "time": time, "samples": own, "measured": values["statistic"] == "median"})
    return found


def _text(value: Any) -> str | None:
    """A label as text: files of several forms have one value as a number and as text."""
    import pandas as pd

    return None if pd.isna(value) else str(value)


def _match(old: Sequence[Case], new: Sequence[Case], across: Sequence[str]) -> list[Matching]:
    """Match the cases of each study, memory and program."""
    first, second = _apart(old), _apart(new)
    return [match(first.get(key, []), second.get(key, []), across) for key in dict.fromkeys((*first, *second))]


def _apart(cases: Sequence[Case]) -> dict[tuple[Any, ...], list[Case]]:
    found: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        found.setdefault(tuple(case.get(name) for name in APART), []).append(case)
    return found


def _pooled(cases: Sequence[Mapping[str, Any]]) -> Case:
    """Return cases of one problem as one, with the samples of all."""
    import statistics

    samples = [seconds for case in cases for seconds in case["samples"]]
    time = statistics.median(samples) if samples else statistics.median(case["time"] for case in cases)
    return {**cases[0], "time": time, "samples": samples}


def _common(differences: Sequence[Mapping[str, tuple[Any, Any]]]) -> dict[str, tuple[Any, Any]]:
    """Return the differences that are the same in all groups of cases."""
    first, *others = differences
    return {label: values for label, values in first.items() if all(each.get(label) == values for each in others)}


def _compared(
    old: Case, new: Case, differences: Mapping[str, tuple[Any, Any]], confidence: float, seed: int, number: int
) -> Compared:
    if (old["time"] > 0) != (new["time"] > 0):
        named = ", ".join(f"{label} {new[label]}" for label in LABELS if new.get(label) is not None)
        times = f"{old['time']:g} s and {new['time']:g} s"
        raise InputError(f"{named}: the times of both results are {times}: both above 0, or both 0 are allowed")
    measured = [case for case in (old, new) if case["measured"]]
    if not all(case["samples"] for case in measured):  # tuning files
        return _without_interval(old, new, differences)
    if any(len(case["samples"]) < MIN_SAMPLES for case in measured):
        return Compared(old, new, exact_ratio(new["time"], old["time"]), False, TOO_FEW, differences)
    if not measured or not new["time"]:
        ratio = exact_ratio(new["time"], old["time"])
    else:
        ratio = ratio_of_medians(_samples(new), _samples(old), confidence, seed, number)
    return Compared(old, new, ratio, True, _verdict(ratio, bool(measured)), differences)


def _samples(case: Case) -> list[float]:
    """Return the samples of a case; a time without spread as two equal ones, which resampling needs."""
    return list(case["samples"]) if case["measured"] else [case["time"]] * 2


def _without_interval(old: Case, new: Case, differences: Mapping[str, tuple[Any, Any]]) -> Compared:
    ratio = exact_ratio(new["time"], old["time"])
    return Compared(old, new, ratio, False, _verdict(ratio, False), differences)


def _verdict(ratio: Ratio, has_spread: bool) -> str:
    if ratio.high < 1 - _ROUNDING:
        return FASTER
    if ratio.low > 1 + _ROUNDING:
        return SLOWER
    return UNDECIDED if has_spread else EQUAL


def _nothing_in_common(old: Any, new: Any, first: Sequence[Case], second: Sequence[Case]) -> str:
    """Return an error that names the labels that differ between the results."""
    differing = list(_differing(first, second))
    where = "; ".join(differing[:6]) or "no label alone differs, only their combinations"
    return f"{old} and {new} have no case in common: {where}"


def _differing(first: Sequence[Case], second: Sequence[Case]) -> Iterator[str]:
    for label in (*APART, *LABELS):
        if label in ("sweep", "exchange"):
            continue
        one, other = ({case.get(label) for case in cases} for cases in (first, second))
        if not one & other:
            yield f"{label} {_listed(one)} and {_listed(other)}"


def _listed(values: set[Any]) -> str:
    texts = sorted("none" if value is None else str(value) for value in values)
    return ", ".join(texts[:3]) + (", ..." if len(texts) > 3 else "")
