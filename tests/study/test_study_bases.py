"""Bases: what is taken for what a source leaves open. Everything is simulated under each of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from study_fakes import FAKES, HERE, run_study

from tradewind.base.errors import InputError
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.selection import selection_problems
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import Planned, make_plan
from tradewind.study.plan.quick import quick_study

BASES = """\
title = "t"

[[base]]
name = "near"
set = { "link.latency" = "100ns" }

[[base]]
name = "far"
packet = "1KiB"
placement = "random"
ranks_per_node = 2
set = { "link.latency" = "1us", "nic.latency" = "1us", "switch.buffer" = "8KiB" }
machine_set = { torus-M = { "nic.latency" = "2us", "switch.buffer" = "16KiB" } }
routing_set = { valiant = { "switch.buffer" = "32KiB" }, minimal = { "switch.buffer" = "64KiB" } }
"""
SWEEP = """
[[sweep]]
name = "a"
kind = "simulate"
pattern = "transpose"
grid = "40x40x40"
slab = "xz"
ranks = 4
split = "4x1"
algorithm = "ring-1"
machine = "torus-M"
"""
FALLS = """
[[finding]]
figure = "1"
claim = "c"
falls = { algorithm = "ring-1" }
"""


def planned(text: str) -> list[Planned]:
    plan = make_plan(load_study("a.toml", text), FAKES, HERE)
    assert plan.skips == []
    return plan.planned


def cases(more: str = "", machine: str = '"torus-M"', bases: str = BASES) -> list[Planned]:
    return planned(bases + SWEEP.replace('"torus-M"', machine) + more)


def problems_of(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        make_plan(load_study("a.toml", text), FAKES, HERE)
    return list(caught.value.problems)


def test_a_sweep_is_simulated_under_each_base_with_what_that_says() -> None:
    near, far = (each.case for each in cases())
    assert (near.labels["base"], far.labels["base"]) == ("near", "far")
    assert near.options["settings"] == {"link.latency": "100ns"}
    kept = {key: near.options[key] for key in ("packet", "placement", "ranks_per_node")}
    assert kept == {"packet": None, "placement": "linear", "ranks_per_node": 1}
    kept = {key: far.options[key] for key in ("packet", "placement", "ranks_per_node")}
    assert kept == {"packet": "1KiB", "placement": "random", "ranks_per_node": 2}
    assert near.labels["settings"] is far.labels["settings"] is None, "the sweep itself changes nothing"
    assert near.name.endswith(", torus-M, near")


@pytest.mark.parametrize(
    ("machine", "routing", "nic", "buffer"),
    [
        ("torus-M", "", "2us", "16KiB"),
        ("torus-M", 'routing = "dimension-order"', "2us", "16KiB"),
        ("torus-M", 'routing = "valiant"', "2us", "32KiB"),
        ("dragonfly-MM", "", "1us", "64KiB"),  # its own routing is minimal
        ("dragonfly-MM", 'routing = "minimal"', "1us", "64KiB"),
        ("dragonfly-MM", 'routing = "ugal"', "1us", "8KiB"),
    ],
)
def test_what_is_said_of_a_routing_goes_before_the_machine_and_that_before_all(
    machine: str, routing: str, nic: str, buffer: str
) -> None:
    (far,) = cases(routing + '\nbase = "far"', machine=f'"{machine}"')
    assert far.case.options["settings"] == {"link.latency": "1us", "nic.latency": nic, "switch.buffer": buffer}


def test_what_a_sweep_says_itself_goes_before_its_base() -> None:
    own = 'packet = "2KiB"\nplacement = "linear"\nranks_per_node = 1\nset = { "switch.buffer" = "4KiB" }\nbase = "far"'
    (far,) = cases(own)
    kept = [far.case.options[key] for key in ("packet", "placement", "ranks_per_node")]
    assert kept == ["2KiB", "linear", 1], "also where it says what holds without a base"
    assert far.case.options["settings"]["switch.buffer"] == "4KiB"
    assert far.case.labels["settings"] == "switch.buffer=4KiB"


def test_a_sweep_names_its_bases() -> None:
    for base, names in (('"far"', ["far"]), ('["far", "near"]', ["near", "far"]), ('["near", "near"]', ["near"])):
        assert [each.case.labels["base"] for each in cases(f"base = {base}")] == names


def test_a_base_is_no_part_of_what_a_case_is() -> None:
    near, _ = cases()
    (alone,) = cases('set = { "link.latency" = "100ns" }', bases='title = "t"\n')
    assert near.key == alone.key
    assert alone.case.labels["base"] is None
    same, other = cases(
        bases=BASES.split('[[base]]\nname = "far"')[0] + '[[base]]\nname = "also"\nset = { "link.latency" = "100ns" }\n'
    )
    assert same.key == other.key
    assert (same.case.labels["base"], other.case.labels["base"]) == ("near", "also")


def test_what_two_bases_share_is_computed_once_and_recorded_under_both(
    tmp_path: Path, calls: Callable[[str], int]
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(BASES.split("packet =")[0] + 'set = { "link.latency" = "100ns" }\n' + SWEEP)
    study_file, store = load_study(path), Store.create(tmp_path / "out", path.read_text())
    plan = make_plan(study_file, FAKES, HERE)
    assert run_study(study_file, plan, store, FAKES, HERE, workers=1).computed == 1
    assert calls("simulate") == 1
    records = read_records(store, HERE).records
    assert [(record["base"], record["time_s"]) for record in records] == [("near", 25.0), ("far", 25.0)]


def test_sweeps_of_dwarfs_and_programs_are_under_bases_and_what_is_measured_is_not() -> None:
    dwarf = '\n[[sweep]]\nname = "r"\nkind = "run"\ndwarf = "diffusion"\ngrid = "24x20x6"\nranks = 4\n'
    program = (
        '\n[[sweep]]\nname = "p"\nkind = "program"\ngrid = "40x40x4"\nranks = 4\nsplit = "2x2"\nmachine = "torus-M"\n'
        'point_time = "1us"\nstep = [{ compute = "xy" }, { halo = 1 }]\n'
    )
    proof = '\n[[sweep]]\nname = "v"\nkind = "verify"\npattern = "halo"\ngrid = "40x40x4"\nranks = 4\n'
    nodes = dwarf.replace('"r"', '"n"') + 'machine = "torus-M"\nnodes = 4\npoint_time = "10ns"\nbase = "far"\n'
    found = planned(BASES + dwarf + proof + program + nodes)
    assert [(each.case.sweep, each.case.labels["base"]) for each in found] == [
        ("r", None),
        ("v", None),
        ("p", "near"),
        ("p", "far"),
        ("n", "far"),
    ]
    assert [each.case.options["ranks_per_node"] for each in found if each.case.sweep == "p"] == [1, 2]
    assert found[-1].case.options["settings"]["nic.latency"] == "2us"
    assert found[-1].case.options["nodes"] == 4, "nodes that a sweep names go before ranks_per_node of a base"


def test_a_quick_run_may_name_bases() -> None:
    text = BASES + SWEEP + 'quick = { base = "near" }\n'
    reduced, notes = quick_study(load_study("a.toml", text).study)
    assert [case.labels["base"] for case in expand(reduced)[0]] == ["near"]
    assert notes[1] == "quick run, a: 1 of 2 cases; left out: base far"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('name = "near"\n', "", "3: base 1: key 'name' is missing"),
        ('name = "near"', 'name = ""', "4: base 1: name is empty: text is needed"),
        ('name = "far"', 'name = "near"', "8: base 2: another base is called 'near'"),
        ("packet =", "pakcet =", "9: base 2: unknown key 'pakcet'; did you mean 'packet'? (known: name, model, "),
        ('"1KiB"', '"1"', "9: base 2: packet '1' has no unit: write a size as"),
        ('"random"', '"rondom"', "10: base 2: unknown placement 'rondom'; did you mean 'random'? (known: linear, "),
        ("_node = 2", "_node = 0", "11: base 2: ranks per node 0: 1..2147483647 are allowed, or 'cores'"),
        ("ranks_per_node = 2", 'model = "x"', "11: base 2: unknown model 'x' (known: packet, loggp)"),
        ("ranks_per_node = 2", 'buffers = "x"', "11: base 2: unknown kind of buffers 'x' (known: credits, unbounded)"),
        ('"link.latency" = "1us"', '"link.latency" = ["1us"]', "12: base 2: link.latency ['1us']: one text is allowed"),
        ('"link.latency" = "1us"', '"link.latency" = 1', '12: base 2: link.latency 1: text is allowed, like "1"'),
        ('"link.latency" = "1us"', '"link.lat" = "1us"', "12: base 2: far on torus-M: "),
        ('"nic.latency" = "2us"', '"nic.lat" = "2us"', "13: base 2: far on torus-M: "),
        ("torus-M = {", "torus-N = {", "13: base 2: machine_set: unknown machine 'torus-N'; did you mean 'torus-M'? "),
        ("valiant = {", "vailant = {", "14: base 2: routing_set: unknown routing 'vailant'; did you mean 'valiant'? "),
        ('"32KiB"', '"32"', "14: base 2: far on torus-M, valiant: "),
        ('[[base]]\nname = "near"', '[base]\nname = "near"', "3: base is one table here: write [[base]]"),
        ("grid =", 'base = "fra"\ngrid =', "20: sweep 1: unknown base 'fra'; did you mean 'far'? (known: near, far)"),
        ("grid =", "base = []\ngrid =", "20: sweep 1: base is empty: 1 or more are needed"),
        ("grid =", 'quick = { base = "x" }\ngrid =', "20: sweep 1: quick: base 'x' is not among those of the sweep"),
    ],
)
def test_mistakes_are_told_with_their_line_and_what_is_allowed(old: str, new: str, problem: str) -> None:
    text = BASES + SWEEP + 'routing = ["dimension-order", "valiant"]\n'
    if new.startswith("[base]"):
        text = BASES.split('[[base]]\nname = "far"')[0] + SWEEP
    assert old in text
    found = problems_of(text.replace(old, new, 1))
    assert len(found) == 1, found
    assert found[0].startswith(f"a.toml:{problem}")


def test_bases_share_machines_and_routings_that_a_study_does_not_have() -> None:
    others = BASES.replace("torus-M = {", 'fattree-M = { "nic.latency" = "1ms" }, torus-M = {')
    assert [each.case.options["settings"]["nic.latency"] for each in cases('base = "far"', bases=others)] == ["2us"]


def test_a_base_that_the_study_does_not_have() -> None:
    bare = 'title = "t"\n'
    none = "base 'far': the study has none, that is no [[base]]"
    assert problems_of(bare + SWEEP + 'base = "far"\n') == [f"a.toml:13: sweep 1: {none}"]
    where = FALLS.replace("ring-1", 'ring-1", base = "far')
    assert problems_of(bare + SWEEP + where) == [f"a.toml:17: finding 1: {none}"]
    unknown = "unknown base 'fra'; did you mean 'far'? (known: near, far)"
    assert problems_of(BASES + SWEEP + where.replace("far", "fra"))[0].endswith(f"finding 1: {unknown}")
    (wrong,) = problems_of(
        BASES + SWEEP.replace('"simulate"', '"verify"').replace('machine = "torus-M"', 'base = "far"')
    )
    assert wrong.endswith("base belongs to sweeps that simulate, and not to one of kind verify")


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("falls = { ranks = [4, 8] }", None),
        ('where = { base = "far" }\nfalls = { ranks = [4, 8] }', None),
        ('apart = "base"', None),
        ('better = { base = "near" }\nthan = { base = "far" }', None),
        ('better = { base = "near" }\nthan = { ranks = 4 }', "than: than: its cases have 2 bases (near, far)"),
        # The second sweep is under one base alone: each base lacks the cases of one of these selections.
        ('better = { sweep = "a", base = "near" }\nthan = { sweep = "b" }', None),
        ('better = { sweep = "n" }\nthan = { sweep = "b" }', "better: better: no base has cases of all its"),
        (
            'ranks = [4, 8]\nfalls = { sweep = ["n", "b"] }',
            "falls: under base near: falls: no case has 8 ranks (known: 4)",
        ),
    ],
)
def test_findings_over_bases(test: str, problem: str | None) -> None:
    sweeps = SWEEP.replace("ranks = 4", "ranks = [4, 8]").replace('split = "4x1"\n', "")
    near = SWEEP.replace('"a"', '"n"') + 'base = "near"\n'
    far = sweeps.replace('"a"', '"b"') + 'base = "far"\n'
    finding = FALLS.replace('falls = { algorithm = "ring-1" }', test)
    text = BASES + sweeps + near + far + finding
    found = selection_problems(load_study("a.toml", text))
    if problem is None:
        assert found == []
        return
    key, _, rest = problem.partition(": ")
    line = next(i for i, each in enumerate(text.splitlines(), 1) if each.startswith(f"{key} ="))
    assert len(found) == 1, found
    assert found[0].startswith(f"a.toml:{line}: finding 1: {rest}"), found


def test_curves_of_two_bases_are_not_drawn_as_one() -> None:
    plot = '\n[[plot]]\ntitle = "p"\nof = { sweep = "a" }\n'
    (problem,) = selection_problems(load_study("a.toml", BASES + SWEEP + plot))
    assert "plot 1: its cases have 2 bases: name base as curve, panel or along, or select one of them" in problem
    for change in ('panel = "base"\n', 'curve = "base"\n', 'over = { base = "near" }\n'):
        assert selection_problems(load_study("a.toml", BASES + SWEEP + plot + change)) == []
    one = plot.replace('"a"', '"a", base = "far"')
    assert selection_problems(load_study("a.toml", BASES + SWEEP + one)) == []
