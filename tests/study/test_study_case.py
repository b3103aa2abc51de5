from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from study_fakes import FAKES, HERE

from tradewind.base.errors import InputError
from tradewind.machine import machine_folder
from tradewind.study.cases.case import Case, digest, identity
from tradewind.study.cases.expand import expand
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan
from tradewind.study.plan.quick import quick_study
from tradewind.workload.exchange import Exchange


def test_lists_multiply_and_what_cannot_be_is_skipped(small_study: Path) -> None:
    cases, skips = expand(load_study(small_study).study)
    assert [case.kind for case in cases] == ["verify"] * 2 + ["measure"] * 2 + ["simulate"] * 6
    assert [case.labels["algorithm"] for case in cases[2:4]] == ["burst", "native"]
    assert {(case.workload.ranks, case.labels["algorithm"]) for case in cases[4:]} == {
        (4, "ring-1"),
        (8, "ring-1"),
        (8, "ring-5"),
    }
    assert {case.options["machine"] for case in cases[4:]} == {"torus-M", "fattree-M"}
    assert {case.options["seed"] for case in cases[4:]} == {3}
    assert len(skips) == 1
    assert skips[0].name == "transpose ring-5, 4 ranks as 4x1"
    assert "radix 5 is out of range, 1..3 are allowed" in skips[0].reason


def test_ways_that_do_not_go_together_are_skipped() -> None:
    text = (
        'title = "t"\n[[sweep]]\nname = "a"\nkind = "measure"\npattern = "halo"\ngrid = "8x8x8"\nranks = 2\n'
        'algorithm = ["sweep", "direct"]\ntransport = ["shared", "neighbor"]\npacking = ["direct", "datatype"]\n'
    )
    cases, skips = expand(load_study("a.toml", text).study)
    assert [(case.labels["algorithm"], case.options["transport"], case.options["packing"]) for case in cases] == [
        ("sweep", "shared", "direct"),
        ("direct", "shared", "direct"),
        ("direct", "neighbor", "datatype"),
    ]
    assert len(skips) == 5
    assert any("carries a schedule of one stage, and sweep has 2" in skip.reason for skip in skips)


def test_ranks_that_no_split_fits_are_skipped() -> None:
    text = 'title = "t"\n[[sweep]]\nname = "a"\nkind = "verify"\npattern = "halo"\ngrid = "5x5x5"\nranks = [4, 26]\n'
    cases, skips = expand(load_study("a.toml", text).study)
    assert [case.workload.ranks for case in cases] == [4]
    assert "26 ranks: no split" in skips[0].reason


def test_settings_multiply() -> None:
    text = (
        'title = "t"\n[[sweep]]\nname = "a"\nkind = "simulate"\npattern = "allreduce"\nranks = 4\nmachine = "torus-M"\n'
        'set = { "link.bandwidth" = ["1GB/s", "10GB/s"], "link.latency" = ["1us", "2us", "3us"] }\nseed = [1, 2]\n'
    )
    cases, _ = expand(load_study("a.toml", text).study)
    assert len(cases) == 12
    assert cases[0].labels["settings"] == "link.bandwidth=1GB/s, link.latency=1us"
    assert len({digest(case.request) for case in cases}) == 12


def case(kind: str, **options: object) -> Case:
    return Case("s", kind, Exchange("allreduce", 4, algorithm="recursive-2"), options)


def test_identity_holds_what_the_result_depends_on() -> None:
    elsewhere = replace(HERE, host="elsewhere")
    committed = replace(HERE, commit="def")
    simulated, measured = case("simulate", seed=1), case("measure", repeat=3)

    assert identity(simulated, HERE, "m", 1) == identity(simulated, elsewhere, "m", 1)
    assert identity(simulated, HERE, "m", 1) == identity(replace(simulated, sweep="other"), HERE, "m", 1)
    assert identity(simulated, HERE, "m", 1) != identity(simulated, HERE, "changed", 1)
    assert identity(simulated, HERE, "m", 1) != identity(simulated, HERE, "m", 2)
    assert identity(simulated, HERE, "m", 1) != identity(case("simulate", seed=2), HERE, "m", 1)
    assert identity(measured, HERE) != identity(measured, elsewhere)
    assert identity(measured, HERE) != identity(measured, committed)
    assert identity(case("verify"), HERE) == identity(case("verify"), elsewhere)
    assert identity(case("verify"), HERE) != identity(case("verify"), committed)


def test_the_same_case_under_another_name_is_the_same_case(small_study: Path) -> None:
    sweep = (
        '[[sweep]]\nname = "{}"\nkind = "simulate"\npattern = "allreduce"\nranks = 4\nmachine = "dragonfly-MM"\n{}\n'
    )
    bare = 'packet = "4096B"\n'
    named = 'packet = "4KiB"\nrouting = "minimal"\nset = { "link.bandwidth" = "10GB/s" }\n'
    other = 'routing = "minimal"\nset = { "link.bandwidth" = "11GB/s" }\n'
    text = 'title = "t"\n' + "".join(
        sweep.format(i, s) for i, s in enumerate(("", bare, named, other, "steady = true\n", "steady = 0.001\n"))
    )
    keys = [planned.key for planned in make_plan(load_study(small_study, text), FAKES, HERE).planned]
    assert keys[0] == keys[1] == keys[2]
    assert len({*keys}) == 4


def test_what_is_kept_beside_the_time_is_an_input_only_where_it_is_asked_for() -> None:
    sweep = 'title = "t"\n[[sweep]]\nname = "a"\nkind = "simulate"\npattern = "allreduce"\nranks = 4\n'
    sweep += 'machine = "torus-M"\n'
    (bare,) = expand(load_study("a.toml", sweep).study)[0]
    assert not {"pairs", "congestion", "steady"} & set(bare.options)
    (kept,) = expand(load_study("a.toml", sweep + "pairs = 2\ncongestion = true\n").study)[0]
    assert (kept.options["pairs"], kept.options["congestion"]) == (2, True)


def test_algorithms_of_a_sweep_share_a_split_that_suits_all() -> None:
    sweep = (
        'title = "t"\n[[sweep]]\nname = "a"\nkind = "verify"\npattern = "transpose"\ngrid = "60x60x60"\nranks = 48\n'
    )
    cases, skips = expand(load_study("a.toml", sweep + 'algorithm = ["burst", "ring-1", "ring-5"]\n').study)
    assert skips == []
    assert len({case.workload.split for case in cases}) == 1
    alone = expand(load_study("a.toml", sweep + 'algorithm = "ring-1"\n').study)[0][0]
    assert alone.workload.split != cases[0].workload.split, "else this test says nothing"


def test_a_quick_run_is_a_part_of_the_full_one_and_says_what_it_leaves_out(small_study: Path) -> None:
    text = small_study.read_text().replace(
        'machine = ["torus-M", "fattree-M"]', 'machine = ["torus-M", "fattree-M"]\nquick = { ranks = 8 }'
    )
    text = text.replace('name = "timing"', 'name = "timing"\nquick = false')
    study_file = load_study(small_study, text)
    study, notes = quick_study(study_file.study)
    full = {planned.key for planned in make_plan(study_file, FAKES, HERE).planned}
    quick = {planned.key for planned in make_plan(replace(study_file, study=study), FAKES, HERE).planned}
    assert quick < full
    assert notes == [
        "quick run: 6 of 10 cases",
        "quick run, timing: 0 of 2 cases; all are left out",
        "quick run, network: 4 of 6 cases; left out: ranks 4",
    ]


def test_a_plan_forecasts_simulations_and_skips_what_the_machine_has_no_room_for(small_study: Path) -> None:
    text = small_study.read_text()
    text += '[[sweep]]\nname = "large"\nkind = "simulate"\npattern = "allreduce"\nranks = [8, 400000]\n'
    text += 'machine = "torus-M"\n'
    plan = make_plan(load_study(small_study, text), FAKES, HERE)
    simulated = [planned for planned in plan.planned if planned.case.kind == "simulate"]
    assert all(planned.forecast is not None and planned.forecast["packet_hops"] > 0 for planned in simulated)
    assert [skip.sweep for skip in plan.skips] == ["network", "large"]
    assert "390625" in plan.skips[1].reason


def test_a_plan_skips_what_takes_longer_than_can_be_simulated(small_study: Path) -> None:
    text = small_study.read_text()
    text += '[[sweep]]\nname = "long"\nkind = "simulate"\npattern = "allreduce"\nranks = 4\ncount = 2000000000\n'
    text += 'times = [1, 1000000]\nmodel = ["packet", "loggp"]\nmachine = "torus-M"\n'
    text += 'set = { "nic.injection_bandwidth" = "1GB/s" }\n'
    plan = make_plan(load_study(small_study, text), FAKES, HERE)
    skipped = [skip for skip in plan.skips if skip.sweep == "long"]
    assert len(skipped) == 2
    assert all("times of at most 9000000 s (104 days) can be simulated" in skip.reason for skip in skipped), skipped


def test_unknown_machines_routings_and_settings_are_errors_with_lines(small_study: Path) -> None:
    text = small_study.read_text()
    line = text.count("\n") + 1
    text += '[[sweep]]\nname = "b"\nkind = "simulate"\npattern = "allreduce"\nranks = 4\n'
    text += 'machine = [\n"torus-M",\n"tours-M"]\n'
    text += 'routing = "minimla"\nset = { "link.bandwith" = "1GB/s" }\n'
    with pytest.raises(InputError) as caught:
        make_plan(load_study(small_study, text), FAKES, HERE)
    problems = caught.value.problems
    assert any(p.startswith(f"{small_study}:{line + 7}: sweep 4: unknown machine 'tours-M'") for p in problems)
    assert any(p.startswith(f"{small_study}:{line + 8}: sweep 4: ") and "minimla" in p for p in problems)
    assert any(p.startswith(f"{small_study}:{line + 9}: sweep 4: ") and "link.bandwith" in p for p in problems)


def test_a_machine_file_beside_the_study(small_study: Path) -> None:
    original = (machine_folder() / "torus-M.toml").read_text()
    (small_study.parent / "mine.toml").write_text(original.replace('latency = "100ns"', 'latency = "200ns"', 1))
    text = small_study.read_text().replace('["torus-M", "fattree-M"]', '["torus-M", "mine.toml"]')
    plan = make_plan(load_study(small_study, text), FAKES, HERE)
    simulated = [planned for planned in plan.planned if planned.case.kind == "simulate"]
    assert {planned.machine for planned in simulated} == {
        machine_folder() / "torus-M.toml",
        small_study.parent / "mine.toml",
    }
    assert len({planned.identity["machine"] for planned in simulated}) == 2
