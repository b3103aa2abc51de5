"""The sentence about a plot, against times that say plainly what is fastest."""

from __future__ import annotations

from typing import Any

from tradewind.figure.answering import Drawing
from tradewind.report.content import Figure
from tradewind.report.outcome import NOTHING, outcome
from tradewind.report.page import summary
from tradewind.study.model.labels import LABELS
from tradewind.study.model.study import Plot

Record = dict[str, Any]
PLOT = Plot(title="t", of=[{}], curve="algorithm", panel="machine")


def case(algorithm: str | None, time: float, **labels: Any) -> Record:
    known = {label: None for label in LABELS} | {"kind": "simulate", "exchange": "e", "machine": "torus-M"}
    return {**known, "ranks": 100, "algorithm": algorithm, "time_s": time, "result": {}, **labels}


def test_the_fastest_the_next_and_the_slowest() -> None:
    cases = [case("a", 2e-3), case("b", 1e-3), case("c", 8e-3)]
    assert outcome(PLOT, cases) == (
        "on 100 ranks, torus-M: b (1 ms) is the fastest, 2 times as fast as a, the next, and 8 times as fast as c, "
        "the slowest."
    )
    alone = Plot(title="t", of=[{}], curve="algorithm")
    assert outcome(alone, cases[:2]) == "on 100 ranks, b (1 ms) is the fastest, 2 times as fast as a."


def test_the_maximum_of_ranks_on_which_most_curves_have_a_case() -> None:
    cases = [case(name, time, ranks=ranks) for ranks in (100, 10000) for name, time in (("a", 1.0), ("b", 3.0))]
    cases += [case("a", 1.0, ranks=10**6)]
    assert outcome(PLOT, cases).startswith("on 10\u202f000 ranks, torus-M: a (1 s)")
    cases += [case("c", 2.0, ranks=100)]
    assert outcome(PLOT, cases).startswith("on 100 ranks, ")


def test_one_winner_of_all_panels() -> None:
    cases = [
        case(name, time, machine=machine)
        for machine, factor in (("torus-M", 1), ("fattree-M", 2))
        for name, time in (("a", 1.0), ("b", 2.0 * factor), ("c", 2500.0 * factor))
    ]
    assert outcome(PLOT, cases) == (
        "on 100 ranks, a is the fastest for torus-M and fattree-M, 2 to 4 times as fast as the next and 2\u202f500 to "
        "5\u202f000 times as fast as the slowest."
    )
    cases += [case("a", 9.0, machine="dgx-2"), case("b", 3.0, machine="dgx-2")]
    printed = outcome(PLOT, cases)
    assert "; dgx-2: b (3 s) is the fastest, 3 times as fast as a." in printed
    assert printed.startswith("on 100 ranks, torus-M: a (1 s) is the fastest, 2 times as fast as b, the next, ")


def test_seeds_that_overlap_are_not_told_apart() -> None:
    cases = [case("a", time, seed=i) for i, time in enumerate((1.0, 2.0, 3.0))]
    cases += [case("b", time, seed=i) for i, time in enumerate((3.0, 4.0, 5.0))] + [case("c", 8.0)]
    assert outcome(PLOT, cases) == (
        "on 100 ranks, torus-M: a and b cannot be distinguished (2 s to 4 s); a is 4 times as fast as c, the slowest."
    )
    apart = [each for each in cases if each["time_s"] != 3.0 or each["algorithm"] == "a"]
    assert "a (2 s) is the fastest, 2.25 times as fast as b, the next" in outcome(PLOT, apart)


def test_times_within_one_per_cent_are_equal() -> None:
    assert "cannot be distinguished" in outcome(PLOT, [case("a", 1.0), case("b", 1.009)])
    assert "1.01 times as fast" in outcome(PLOT, [case("a", 1.0), case("b", 1.011)])


def measured(algorithm: str, samples: list[float], oversubscribed: bool = False) -> Record:
    best = {"samples_s": samples, "min_s": min(samples)}
    result = {"results": [best], "oversubscribed": oversubscribed}
    return case(algorithm, sorted(samples)[len(samples) // 2], kind="measure", machine=None, result=result)


def test_samples_whose_middle_halves_overlap_are_not_told_apart() -> None:
    a, b = measured("a", [1, 2, 3, 4, 5]), measured("b", [1, 4, 4.5, 5, 6])
    assert "cannot be distinguished" in outcome(PLOT, [a, b]), "2 to 4 and 4 to 5"
    assert "is the fastest" in outcome(PLOT, [measured("a", [1, 2, 3, 3.5, 9]), b]), "2 to 3.5"


def test_oversubscribed_times_say_so() -> None:
    a, b = measured("a", [1.0], True), measured("b", [2.0], True)
    assert outcome(PLOT, [a, b]).endswith("as fast as b (oversubscribed: no times of this machine).")


def test_where_nothing_can_be_said() -> None:
    assert outcome(PLOT, []) == ""
    assert outcome(PLOT, [case("a", 1.0), case("a", 2.0, ranks=200)]) == "", "one curve"
    assert outcome(PLOT, [case("a", 1.0), case("b", 2.0, ranks=200)]) == "", "at no place two"
    assert outcome(PLOT, [case("a", 1.0), case("b", 2.0, kind="published")]) == "", "they do not compete"
    for other in ({"kind": "delay"}, {"quantity": "efficiency"}, {"over": {"packet": ["4KiB"]}}):
        assert outcome(PLOT.model_copy(update=other), [case("a", 1.0), case("b", 2.0)]) == "", other
    assert summary([]) == NOTHING
    drawing = Drawing({}, [])
    figures = [Figure("n", "First", "", drawing), Figure("m", "Second", "", drawing, "a is the fastest.")]
    assert summary(figures) == "Second: a is the fastest."


def test_places_that_are_no_numbers_of_ranks() -> None:
    cases = [case(name, time, width=width) for width in (2, 3) for name, time in (("a", 1.0), (None, 2.0))]
    along = PLOT.model_copy(update={"along": "width", "panel": None})
    assert outcome(along, cases) == "with width 3, a (1 s) is the fastest, 2 times as fast as no algorithm."
    split = PLOT.model_copy(update={"along": "split", "panel": None})
    cases = [each | {"split": "2x2"} for each in cases[:2]]
    assert outcome(split, cases).startswith("with split 2x2, a (1 s)")
