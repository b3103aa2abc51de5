from __future__ import annotations

import math
from typing import Any

import pytest

from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, NOT_TESTABLE, WORDED, Verdict, judge
from tradewind.study.claims.judgement import counted
from tradewind.study.claims.wording import WORDINGS
from tradewind.study.model.study import Finding

TIMES = {
    "ring-1": {100: 10.0, 1000: 2.0, 10000: 0.5},
    "ring-4": {100: 9.8, 1000: 1.9, 10000: 0.5},
    "bruck": {100: 30.0, 1000: 4.0, 10000: 0.4},
}


def records(**changes: Any) -> list[dict[str, Any]]:
    return [
        {"sweep": "s", "algorithm": algorithm, "ranks": ranks, "time_s": time, "seed": 1, "routing": "minimal"}
        | changes
        for algorithm, times in TIMES.items()
        for ranks, time in times.items()
    ]


def verdict(cases: list[dict[str, Any]] | None = None, **test: Any) -> tuple[str, str]:
    result = judge(Finding(figure="1", claim="so", **test), records() if cases is None else cases)
    return result.verdict, result.because


RING_1, RING_4, BRUCK = {"algorithm": "ring-1"}, {"algorithm": "ring-4"}, {"algorithm": "bruck"}


def test_better() -> None:
    assert verdict(better=RING_1, than=BRUCK, ranks=[100, 1000])[0] == CONFIRMED
    found, because = verdict(better=RING_1, than=BRUCK)
    assert found == CONTRADICTED
    assert because == "at 10000 ranks ring-1 (500 ms) is not below bruck (400 ms)"
    assert verdict(better=RING_1, than=BRUCK, ranks=100, factor=2.9)[0] == CONFIRMED
    assert verdict(better=RING_1, than=BRUCK, ranks=100, factor=3)[0] == CONTRADICTED
    assert verdict(better={"algorithm": ["bruck", "ring-4"]}, than=RING_1, ranks=[100, 1000, 10000])[0] == CONFIRMED


def test_curves_against_nodes_compare_cases_with_unlike_ranks_per_node() -> None:
    per_node = {"ring-1": 100, "ring-4": 10, "bruck": 1}
    cases = [
        {**case, "ranks": case["ranks"] * per_node[case["algorithm"]], "nodes": case["ranks"]} for case in records()
    ]
    assert verdict(cases, better=RING_4, than=RING_1, ranks=[100, 1000], along="nodes")[0] == CONFIRMED
    assert verdict(cases, better=RING_4, than=RING_1, ranks=[100, 1000])[0] == NOT_TESTABLE
    found, because = verdict(cases, better=RING_1, than=BRUCK, along="nodes")
    assert found == CONTRADICTED
    assert because == "at 10000 nodes ring-1 (500 ms) is not below bruck (400 ms)"
    near = {"near": RING_1, "than": BRUCK, "value": 3.0, "ranks": 1000, "along": "nodes"}
    assert verdict(cases, **near) == (
        CONTRADICTED,
        "at 1000 nodes ring-1 over bruck is 0.5, 0.167 times the published 3",
    )
    unknown = [{**case, "nodes": None, "exchange": "e"} for case in cases]
    assert verdict(unknown, falls=RING_1, along="nodes") == (NOT_TESTABLE, "e on 10000 ranks has no number of nodes")
    measured = [{**case, "kind": "run", "nodes": None} for case in cases if case["nodes"] == 100]
    assert verdict(measured, better=RING_4, than=RING_1, ranks=1, along="nodes")[0] == CONFIRMED


def test_same() -> None:
    assert verdict(same=[RING_1, RING_4])[0] == CONFIRMED
    found, because = verdict(same=[RING_1, RING_4], tolerance=0.03)
    assert found == CONTRADICTED
    assert "differ by 5.26 %" in because
    assert verdict(same=[RING_1, RING_4, BRUCK])[0] == CONTRADICTED


def test_slopes() -> None:
    assert verdict(falls=RING_1)[0] == CONFIRMED
    assert verdict(rises=RING_1)[0] == CONTRADICTED
    flat = [record | {"time_s": 1.0} for record in records()]
    assert verdict(flat, falls=RING_1)[0] == CONTRADICTED
    assert verdict(flat, rises=RING_1)[0] == CONTRADICTED
    assert verdict(flatter=RING_1, than=BRUCK)[0] == CONFIRMED
    assert verdict(flatter=BRUCK, than=RING_1)[0] == CONTRADICTED
    assert verdict(falls=RING_1, ranks=100)[0] == NOT_TESTABLE
    counted = [record | {"result": {"messages": 7}} for record in records()]
    rising = verdict(counted, falls=RING_1, quantity="messages")
    assert rising == (
        CONTRADICTED,
        "ring-1 is at 7 on 100 ranks and at 7 on 1000; ring-1 is at 7 on 1000 ranks and at 7 on 10000",
    )


def test_order() -> None:
    assert verdict(order=[RING_4, RING_1, BRUCK], ranks=[100, 1000])[0] == CONFIRMED
    found, because = verdict(order=[RING_4, BRUCK, RING_1], ranks=[100])
    assert found == CONTRADICTED
    assert because == "at 100 ranks bruck (30 s) is not below ring-1 (10 s)"
    assert verdict(order=[RING_4, RING_1], ranks=[10000])[0] == CONTRADICTED, "equal is not below"


def test_crosses() -> None:
    assert verdict(crosses=BRUCK, than=RING_1, between=(1000, 10000))[0] == CONFIRMED
    found, because = verdict(crosses=BRUCK, than=RING_1, between=(100, 1000))
    assert found == CONTRADICTED
    assert because == "at 1000 ranks bruck is not below ring-1 (bruck 4 s, ring-1 2 s)"
    assert verdict(crosses=RING_1, than=BRUCK, between=(1000, 10000))[0] == CONTRADICTED
    assert verdict(crosses=BRUCK, than=RING_1, between=(10, 10000))[0] == NOT_TESTABLE
    finding = Finding(figure="1", claim="so", crosses=BRUCK, than=RING_1, between=(1000, 10000))
    assert judge(finding, records()).figures[-1] == "they cross between 1000 and 10000 ranks"


def shaped(*times: float) -> list[dict[str, Any]]:
    return [
        {"sweep": "s", "algorithm": "ring-1", "ranks": 100 * 2**i, "time_s": time, "seed": 1, "routing": "minimal"}
        for i, time in enumerate(times)
    ]


def test_jumps() -> None:
    cases = shaped(5.0, 4.0, 9.0, 8.0, 8.8)
    assert verdict(cases, jumps=RING_1, between=(200, 400), factor=2)[0] == CONFIRMED
    assert verdict(cases, jumps=RING_1, between=(200, 400), factor=2.5)[0] == CONTRADICTED
    found, because = verdict(cases, jumps=RING_1, between=(400, 1600), factor=2)
    assert (found, because) == (CONTRADICTED, "the steepest step is from 200 to 400 ranks, by 2.25")
    assert verdict(cases, jumps=RING_1, between=(250, 390))[0] == NOT_TESTABLE, "no step lies there"
    assert verdict(cases[:2], jumps=RING_1, between=(200, 400))[0] == NOT_TESTABLE


def radices(*best: int) -> list[dict[str, Any]]:
    """Cases with radices 2..8; the i-th of `best` is the fastest on 100 + i ranks."""
    return [
        {"algorithm": f"recursive-{k}", "ranks": 100 + i, "time_s": 1.0 + abs(k - b), "seed": 1, "routing": "minimal"}
        for i, b in enumerate(best)
        for k in range(2, 9)
    ]


def test_best() -> None:
    cases = radices(3, 5, 5, 6, 8)
    assert verdict(cases, best="algorithm", within=(3, 8), median=5)[0] == CONFIRMED
    found, because = verdict(cases, best="algorithm", within=(4, 8))
    assert (found, because) == (CONTRADICTED, "at 100 ranks the best algorithm has 3, which is not in 4..8")
    assert verdict(cases, best="algorithm", median=6, tolerance=0.1)[0] == CONTRADICTED
    assert "a median over 4" in verdict(radices(3, 5, 5, 6), best="algorithm", median=5)[1]
    without = [case for case in cases if (case["ranks"], case["algorithm"]) != (100, "recursive-3")]
    assert verdict(without, best="algorithm", within=(4, 8))[0] == CONFIRMED, (
        "a number of ranks with a gap says nothing"
    )
    assert verdict(cases[:1], best="algorithm")[0] == NOT_TESTABLE


def waited(*counts: float, **labels: Any) -> dict[str, Any]:
    """A case whose packets waited 0..1, 1..2, 2..4, 4..8 us."""
    delay = {"edges_s": [0.0, 1e-6, 2e-6, 4e-6, 8e-6][: len(counts) + 1], "counts": list(counts)}
    case = {"algorithm": "ring-1", "ranks": 100, "time_s": 1.0, "seed": 1, "routing": "minimal"}
    return case | {"result": {"delay": delay}} | labels


def test_delays() -> None:
    cases = [waited(10.0, 20.0, 30.0, 40.0)]
    assert verdict(cases, delays=RING_1, below="2us", share=(0.3, 0.3))[0] == CONFIRMED
    assert verdict(cases, delays=RING_1, above="2us", share=(0.7, 0.7))[0] == CONFIRMED
    found, because = verdict(cases, delays=RING_1, below="3us", share=(0.3, 0.5))  # the limit divides a bin of 30 %
    assert (found, because) == (CONTRADICTED, "ring-1, 100 ranks, seed 1: 30.0..60.0 % below 3 us, not 30..50 %")
    assert verdict(cases, delays=RING_1, below="3us", share=(0.3, 0.6))[0] == CONFIRMED
    assert verdict([waited()], delays=RING_1, below="3us", share=(0, 1))[0] == NOT_TESTABLE
    seeds = [waited(10.0, 0.0, 0.0, 90.0, seed=seed, routing="valiant") for seed in range(5)]
    assert verdict(seeds[:4], delays=RING_1, above="2us", share=(0.5, 1))[0] == NOT_TESTABLE
    assert verdict(seeds, delays=RING_1, above="2us", share=(0.5, 1))[0] == CONFIRMED
    seeds[3] = waited(90.0, 0.0, 0.0, 10.0, seed=3, routing="valiant")
    assert verdict(seeds, delays=RING_1, above="2us", share=(0.5, 1))[0] == CONTRADICTED


def test_alike() -> None:
    cases = [
        waited(10.0, 20.0, 30.0, 40.0),
        waited(1.0, 2.5, 3.0, 3.5, algorithm="ring-4"),
        waited(1.0, algorithm="bruck"),
    ]
    assert verdict(cases, alike=[RING_1, RING_4], tolerance=0.06)[0] == CONFIRMED
    found, because = verdict(cases, alike=[RING_1, RING_4], tolerance=0.04)
    assert (found, because) == (CONTRADICTED, "ring-1 and ring-4: at most 5 % apart")
    assert "ring-1 and bruck: at most 90 % apart" in verdict(cases, alike=[RING_1, BRUCK])[1]


def test_bands() -> None:
    request = {"pattern": "halo", "ranks": 12, "grid": [40, 30, 1], "split": [4, 3], "algorithm": "sweep", "width": 2}
    case = {"exchange": "halo", "algorithm": "sweep", "ranks": 12, "split": "4x3", "time_s": None, "request": request}
    assert verdict([case], bands={"ranks": [12]}, offsets=[1, 4])[0] == CONFIRMED
    assert verdict([case], bands={"ranks": [12]}, offsets=[1, 3, 4])[0] == CONTRADICTED
    case["request"] = request | {"periodic": "xy"}
    assert verdict([case], bands={"ranks": [12]}, offsets=[1, 3, 4, 8])[0] == CONFIRMED
    assert verdict([case], bands={"ranks": [13]}, offsets=[1])[0] == NOT_TESTABLE


def test_a_span_of_ranks() -> None:
    assert verdict(better=RING_1, than=BRUCK, ranks={"to": 1000})[0] == CONFIRMED
    assert verdict(better=RING_1, than=BRUCK, ranks={"from": 1000, "to": 10000})[0] == CONTRADICTED
    assert verdict(better=RING_1, than=BRUCK, ranks={"from": 20000}) == (
        NOT_TESTABLE,
        "no case of ring-1 at these numbers of ranks",
    )
    many = "no case of ring-1 at 101, 102, 103, ..., 109 (9) ranks"
    assert verdict(falls=RING_1, ranks=list(range(100, 110))) == (NOT_TESTABLE, many)


def test_other_quantities_than_time() -> None:
    cases = [record | {"result": {"imbalance": 100 / record["time_s"]}, "exchange": "e"} for record in records()]
    assert verdict(cases, better=BRUCK, than=RING_1, ranks=100, quantity="imbalance")[0] == CONFIRMED
    assert verdict(cases, better=BRUCK, than=RING_1, ranks=100)[0] == CONTRADICTED
    assert verdict(cases, better=BRUCK, than=RING_1, quantity="bound") == (NOT_TESTABLE, "e on 100 ranks has no bound")


def test_apart() -> None:
    assert verdict(apart="algorithm", factor=3)[0] == CONFIRMED
    found, because = verdict(apart="algorithm", factor=5)
    assert found == CONTRADICTED
    assert because == "the widest gap is 3.06 times, at 100 ranks"
    assert verdict(where=RING_1, apart="algorithm")[0] == NOT_TESTABLE


@pytest.mark.parametrize(("word", "limits"), WORDINGS.items())
def test_a_wording_has_limits_on_both_sides(word: str, limits: tuple[float, float]) -> None:
    for limit, outwards in zip(limits, (0.99, 1.01), strict=True):
        if limit == math.inf:
            continue
        for ratio, holds in ((limit / outwards, True), (limit * outwards, limit == 1.0)):
            cases = [*shaped(1.0, 1.0), *({**case, "algorithm": "bruck"} for case in shaped(ratio, ratio))]
            expected = CONFIRMED if holds else CONTRADICTED
            wanted = CONTRADICTED if ratio < 1 and word != "no worse" else expected
            assert verdict(cases, better=RING_1, than=BRUCK, wording=word)[0] == wanted, ratio
            if ratio > 1:
                assert verdict(cases, apart="algorithm", wording=word)[0] == expected, ratio
                assert verdict(shaped(1, 1, ratio), jumps=RING_1, between=(200, 400), wording=word)[0] == expected
            if ratio > 1 and word in WORDED["same"]:
                assert verdict(cases, same=[RING_1, BRUCK], wording=word)[0] == expected, ratio


def test_slightly_other_delays_are_other() -> None:
    cases = [waited(10.0, 20.0), waited(10.0, 20.0, algorithm="ring-4"), waited(11.0, 19.0, algorithm="bruck")]
    assert verdict(cases, alike=[RING_1, RING_4], wording="slightly")[0] == CONTRADICTED
    assert verdict(cases, alike=[RING_1, BRUCK], wording="slightly")[0] == CONFIRMED


def test_a_gain_holds_within_a_fifth_of_itself_and_a_span_within_its_ends() -> None:
    def gained(*ratios: float, **test: Any) -> str:
        cases = [*shaped(*([1.0] * len(ratios))), *({**case, "algorithm": "bruck"} for case in shaped(*ratios))]
        return verdict(cases, near=BRUCK, than=RING_1, **test)[0]

    for ratio, holds in ((1.017, False), (1.103, False), (1.105, True), (1.155, True), (1.157, False), (1.24, False)):
        assert gained(ratio, gain=0.13) == (CONFIRMED if holds else CONTRADICTED), ratio
    for ratio, holds in ((1.09, False), (1.11, True), (1.19, True), (1.21, False)):
        assert gained(ratio, gain=(0.1, 0.2)) == gained(ratio, value=(1.1, 1.2))
        assert gained(ratio, gain=(0.1, 0.2)) == (CONFIRMED if holds else CONTRADICTED), ratio
    assert gained(2.25, value=2) == CONTRADICTED
    assert gained(2.25, value=2, wording="about") == CONFIRMED
    assert gained(1.0, 1.26, gain=0.13) == CONTRADICTED
    assert gained(1.0, 1.26, gain=0.13, taken="mean") == CONFIRMED
    assert gained(2.0, 9.5, value=10, taken="largest") == CONFIRMED
    assert gained(2.0, 11.5, value=10, taken="largest") == CONTRADICTED
    for ratio in (0.82, 1.22):
        assert gained(ratio, wording="similar") == CONFIRMED, "neither may be the faster one"
    assert gained(1.05, 1.25, wording="clearly") == CONTRADICTED
    assert gained(1.05, 1.25, wording="clearly", taken="mean") == CONFIRMED
    because = verdict(near=BRUCK, than=RING_4, gain=0.5, taken="largest")[1]
    assert because == "at most, at 100 ranks, bruck over ring-4 is 3.06, 2.04 times the published 1.5"


def test_not_testable() -> None:
    assert verdict(untestable="no such machine") == (NOT_TESTABLE, "no such machine")
    assert verdict(falls={"algorithm": "burst"}) == (NOT_TESTABLE, "no case of burst")
    assert verdict(falls=RING_1, ranks=[100, 20000]) == (NOT_TESTABLE, "no case of ring-1 at 20000 ranks")
    assert verdict([record | {"time_s": None} for record in records()], falls=RING_1)[0] == NOT_TESTABLE


@pytest.mark.parametrize("chance", [{"routing": "valiant"}, {"routing": "of tomorrow"}, {"placement": "random"}])
def test_chance_needs_five_seeds_and_a_gap_beyond_their_spread(chance: dict[str, str]) -> None:
    found, because = verdict(records(**chance), better=RING_1, than=BRUCK, ranks=100)
    assert found == NOT_TESTABLE
    assert "1 seeds, 5 are needed" in because
    seeds = [record | {"seed": seed} for seed in range(5) for record in records(**chance)]
    assert verdict(seeds, better=RING_1, than=BRUCK, ranks=100)[0] == CONFIRMED
    seeds[0] = seeds[0] | {"time_s": 31.0}  # one seed of ring-1 on 100 ranks is slower than bruck
    assert verdict(seeds, better=RING_1, than=BRUCK, ranks=100)[0] == CONTRADICTED


def test_a_remark_goes_with_the_verdict() -> None:
    finding = Finding(figure="1", claim="so", better=RING_1, than=BRUCK, ranks=100, remark="by much")
    assert judge(finding, records()).remark == "by much"


def test_a_contradicted_claim_says_its_cause_and_how_it_was_found() -> None:
    test = {"figure": "1", "claim": "so", "better": BRUCK, "than": RING_1, "cause": "so many bytes"}
    asserted = Finding(**test, ranks=100, remark="By much.")
    assert judge(asserted, records()).remark == "By much. Cause, asserted: so many bytes."
    shown = Finding(**test, ranks=100, shown=["1 (few bytes)", "more: 1 (fewer bytes)"])
    assert judge(shown, records()).remark == "Cause, shown by 1 (few bytes), 1 (fewer bytes): so many bytes."
    assert judge(Finding(**test, ranks=10000, remark="By little."), records()).remark == "By little."
    own = Finding(**test, ranks=100, shown=["more: few bytes"])
    remark = "Cause, shown by more: few bytes: so many bytes."
    assert judge(own, records(), own=["more: few bytes"]).remark == remark
    nobody = Finding(**(test | {"cause": None}), ranks=100, remark="By much. Nobody knows why.")
    assert judge(nobody, records()).remark == "By much. Nobody knows why."


def waits(algorithm: str, pairs: list[list[float]]) -> dict[str, Any]:
    known = {"sweep": "s", "exchange": "e", "algorithm": algorithm, "ranks": 100, "seed": 1, "routing": "minimal"}
    return {**known, "time_s": 2.0, "switches": 3, "links": 5, "result": {"delay_pairs": pairs}}


def test_delays_between_pairs_and_how_even_they_are() -> None:
    cases = [waits("ring-1", [[0.0, 1.0], [1.0, 4.0]]), waits("bruck", [[3.0, 3.0], [3.0, 3.0]])]
    assert verdict(cases, better=RING_1, than=BRUCK, quantity="delay")[0] == CONFIRMED, "a mean of 2 s and of 3 s"
    found, because = verdict(cases, better=RING_1, than=BRUCK, quantity="delay-imbalance")
    assert (found, because) == (CONTRADICTED, "at 100 ranks ring-1 (2) is not below bruck (1)")
    without = [{**case, "result": {}} for case in cases]
    assert verdict(without, better=RING_1, than=BRUCK, quantity="delay")[1] == "e on 100 ranks has no delay"


def test_cost_is_time_times_switches_or_links() -> None:
    cases = [waits("ring-1", []), {**waits("bruck", []), "time_s": 1.5, "switches": 4, "links": 6}]
    found, because = verdict(cases, same=[RING_1, BRUCK], quantity="switch-time", tolerance=0)
    assert (found, because) == (CONFIRMED, ""), "2 x 3 and 1.5 x 4"
    found, because = verdict(cases, better=RING_1, than=BRUCK, quantity="link-time")
    assert because == "at 100 ranks ring-1 (10 link-seconds) is not below bruck (9 link-seconds)"
    unknown = [{**case, "links": None} for case in cases]
    assert verdict(unknown, better=RING_1, than=BRUCK, quantity="link-time")[0] == NOT_TESTABLE


def test_verdicts_in_earlier_words_are_read() -> None:
    words = ("reproduced", "not reproduced", "not testable here", CONFIRMED, CONTRADICTED, NOT_TESTABLE)
    stored = [{"figure": "1", "claim": "c", "verdict": word, "because": "", "figures": ["1 s"]} for word in words]
    read = [Verdict.from_dict(each) for each in stored]
    assert [each.verdict for each in read] == 2 * [CONFIRMED, CONTRADICTED, NOT_TESTABLE]
    assert read[0].figures == ["1 s"]
    assert Verdict.from_dict(read[1].as_dict()) == read[1]
    assert counted(read) == "2 confirmed, 2 contradicted, 2 not testable"
    assert counted([]) == "0 confirmed, 0 contradicted, 0 not testable"
