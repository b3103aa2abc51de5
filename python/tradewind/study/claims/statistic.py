"""Tests of findings about many cases, or many packets, at once: the best values of a label, shares of delays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from statistics import median
from typing import Any

from tradewind.base.units import format_seconds, seconds
from tradewind.study.cases.records import exchange_of
from tradewind.study.claims.curve import NotTestableError, Record, TestOutcome, curve, is_meant, matches, name_of
from tradewind.study.claims.wording import likeness_limits, tolerance_of
from tradewind.study.model.study import Finding
from tradewind.workload.exchange import Exchange

MEDIAN_OF = 5
"""Minimum numbers of ranks for a median."""


def best(finding: Finding, cases: list[Record]) -> TestOutcome:
    """Test whether the number in the best value of a label lies in `within` at all numbers of ranks, and its median."""
    label = finding.best
    assert label is not None
    found = _best_by_ranks(finding, cases, label)
    if finding.median is not None and len(found) < MEDIAN_OF:
        raise NotTestableError(f"a median over {len(found)} numbers of ranks: {MEDIAN_OF} or more are needed")
    listed = ", ".join(f"{ranks} ranks {number}" for ranks, number in found.items())
    middle = median(found.values())
    figures = [
        f"best {label}: {listed}",
        f"minimum {min(found.values())}, maximum {max(found.values())}, median {middle:g}",
    ]
    problems = []
    if finding.within is not None:
        low, high = finding.within
        problems += [
            f"at {ranks} ranks the best {label} has {number}, which is not in {low}..{high}"
            for ranks, number in found.items()
            if not low <= number <= high
        ]
    tolerance = tolerance_of(finding)
    if finding.median is not None and abs(middle - finding.median) > tolerance * finding.median:
        problems.append(f"the median is {middle:g} and not within {100 * tolerance:g} % of {finding.median:g}")
    return problems, figures


def _best_by_ranks(finding: Finding, cases: list[Record], label: str) -> dict[int, int]:
    values = list(dict.fromkeys(case[label] for case in cases if case.get(label) is not None))
    if len(values) < 2:
        raise NotTestableError(f"the cases have {len(values)} values of {label}")
    times: dict[int, dict[Any, list[float]]] = {}
    for value in values:
        for ranks, seeds in curve(finding, cases, {label: [value]}).items():
            times.setdefault(ranks, {})[value] = seeds
    return best_numbers(times)


def best_numbers(times: Mapping[int, Mapping[Any, Sequence[float]]]) -> dict[int, int]:
    """Ranks -> the number in the value whose median over its seeds is lowest: 21 for "recursive-21".

    `times`: ranks -> value -> the times of its seeds. Numbers of ranks with fewer values than others are left out:
    there the best may be missing.
    """
    maximum = max((len(each) for each in times.values()), default=0)
    whole = {ranks: each for ranks, each in sorted(times.items()) if len(each) == maximum}
    return {ranks: number_in(min(each, key=lambda value: median(each[value]))) for ranks, each in whole.items()}


def number_in(value: Any) -> int:
    """ "recursive-21" -> 21. Raises NotTestableError for a value without a number."""
    if match := re.search(r"\d+", str(value)):
        return int(match[0])
    raise NotTestableError(f"{value!r} has no number in it")


def delays(finding: Finding, cases: list[Record]) -> TestOutcome:
    """Test the share of packets per case that are delayed by less than `below`, or more than `above`.

    A bin of the histogram that the limit divides counts on neither side: the share is a range, and all of it must lie
    within `share`.
    """
    assert finding.delays is not None
    assert finding.share is not None
    curve(finding, cases, finding.delays)  # are there cases, and seeds enough?
    limit = seconds(finding.below or finding.above)
    side = f"{'below' if finding.below else 'above'} {format_seconds(limit)}"
    problems, figures = [], []
    low, high = finding.share
    for case in cases:
        if not matches(case, finding.delays) or not is_meant(finding, case["ranks"]):
            continue
        minimum, maximum = share_below(case["result"].get("delay") or {}, limit)
        if finding.above:
            minimum, maximum = 1 - maximum, 1 - minimum
        text = f"{name_of(finding.delays)}, {case['ranks']} ranks, seed {case.get('seed')}: "
        text += f"{100 * minimum:.1f}..{100 * maximum:.1f} % {side}"
        figures.append(text)
        if not (low <= minimum and maximum <= high):
            problems.append(f"{text}, not {100 * low:g}..{100 * high:g} %")
    return problems, figures


def alike(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The histograms of delay differ by no more than `tolerance`, or by what `wording` allows: so do the shares of
    delays longer than any time."""
    assert finding.alike is not None
    tails: dict[str, list[list[float]]] = {}
    for selection in finding.alike:
        curve(finding, cases, selection)
        chosen = [case for case in cases if matches(case, selection) and is_meant(finding, case["ranks"])]
        tails[name_of(selection)] = [_tail(case["result"].get("delay") or {}) for case in chosen]
    names = list(tails)
    gaps = {
        (one, other): max(_gap(a, b) for a in tails[one] for b in tails[other])
        for i, one in enumerate(names)
        for other in names[i + 1 :]
    }
    figures = [f"{one} and {other}: at most {100 * gap:.3g} % apart" for (one, other), gap in gaps.items()]
    low, high = (limit - 1 for limit in likeness_limits(finding))
    return [text for text, gap in zip(figures, gaps.values(), strict=True) if not low <= gap <= high], figures


def _tail(histogram: dict[str, list[float]]) -> list[float]:
    """The share of the packets in each bin or a later one. All histograms have the same bins; some end earlier."""
    counts = histogram.get("counts") or []
    if not sum(counts):
        raise NotTestableError("no delays are known")
    return [sum(counts[i:]) / sum(counts) for i in range(len(counts))]


def _gap(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip_longest(one, other, fillvalue=0.0))


def bands(finding: Finding, cases: list[Record]) -> TestOutcome:
    """The communication matrix consists of bands: the distances of sender and receiver are exactly `offsets`."""
    assert finding.bands is not None
    problems, figures = [], []
    for case in cases:
        if not matches(case, finding.bands) or case["algorithm"] == "native":
            continue
        found = sorted(offsets_of(exchange_of(case)))
        text = f"{case['exchange']} on {case['ranks']} ranks, split {case['split']}: "
        text += f"distances {', '.join(map(str, found))}"
        figures.append(text)
        if found != sorted(finding.offsets or []):
            problems.append(text)
    if not figures:
        raise NotTestableError(f"no case of {name_of(finding.bands)}")
    return problems, figures


def offsets_of(exchange: Exchange) -> set[int]:
    """The distances between the numbers of sender and receiver, over all messages of an exchange."""
    found = set()
    for schedule in exchange.schedules().values():
        for rank in range(schedule.ranks):
            for stage in range(schedule.stages):
                found |= {abs(message.peer - rank) for message in schedule.sends(rank, stage) if message.count}
    return found


def share_below(histogram: dict[str, list[float]], limit_s: float) -> tuple[float, float]:
    """The minimum and the maximum that the share of packets with a delay below a limit can be."""
    counts = histogram.get("counts") or []
    if not sum(counts):
        raise NotTestableError("no delays are known")
    edges = histogram["edges_s"]
    minimum = sum(count for upper, count in zip(edges[1:], counts, strict=True) if upper <= limit_s)
    maximum = sum(count for lower, count in zip(edges, counts, strict=False) if lower < limit_s)
    return minimum / sum(counts), maximum / sum(counts)
