"""Sweeps of output in studies: cases, quantities, findings against steps and servers, mistakes."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from study_fakes import FAKES, HERE, run_study

from tradewind.base.errors import InputError
from tradewind.dataset.build import build_dataset, without_empty, write_dataset
from tradewind.dataset.read import read_dataset
from tradewind.report.build import build_report
from tradewind.simulation import simulate
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import exchange_of, read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.judgement import judge_all
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan

STUDY = """\
title = "Output"

[[sweep]]
name = "ways"
kind = "output"
grid = "24x20x12"
ranks = [8, 9]
way = ["none", "in place", "servers"]
servers = [1, 2]
writers = [1, 4]
fields = 3
steps = [4, 400]
intervals = 3
point_time = "1us"
machine = "nec-sx6"
ranks_per_node = 3
quick = { ranks = 8, way = ["in place", "servers"], servers = 1 }
set = { "files.encode_rate" = "10MB/s", "files.disk_bandwidth" = "5MB/s" }

[[finding]]
figure = "1"
claim = "servers are worth their rank where output is frequent"
where = { ranks = 8 }
along = "steps"
crosses = { way = "servers", servers = 1 }
than = { way = "in place", writers = 1 }
between = [4, 400]

[[finding]]
figure = "2"
claim = "two servers block less than one"
where = { ranks = 8, steps = 4 }
along = "servers"
quantity = "blocked"
falls = { way = "servers" }
"""


def test_each_way_has_its_own_keys():
    cases, skips = expand(load_study("a.toml", STUDY).study)
    counts = Counter((case.labels["way"], case.labels["ranks"]) for case in cases)
    assert counts["none", 8] == 2
    assert counts["in place", 8] == counts["servers", 8] == 4
    assert len({case.name for case in cases}) == len(cases)
    assert skips == []
    skips = expand(load_study("a.toml", STUDY.replace("servers = [1, 2]", "servers = [1, 9]")).study)[1]
    assert {skip.reason for skip in skips} == {
        "9 servers of 8 ranks: the model needs 1 or more",
        "9 servers of 9 ranks: the model needs 1 or more",
    }


def run(folder: Path):
    path = folder / "output.toml"
    path.write_text(STUDY)
    study_file, executors = load_study(path), replace(FAKES, simulate=simulate)
    store = Store.create(folder / "results", STUDY)
    outcome = run_study(study_file, make_plan(study_file, executors, HERE), store, executors, HERE)
    assert outcome.failed == {}
    return study_file, store


@pytest.mark.slow
def test_a_report_is_written(tmp_path: Path):
    assert build_report(run(tmp_path)[1].folder, HERE).dataset.is_file()


def test_quantities_findings_and_kept_results(tmp_path: Path):
    study_file, store = run(tmp_path)
    records = read_records(store, HERE).records
    verdicts = judge_all(study_file, records)
    assert verdicts[0].verdict == "contradicted"  # servers are better at 4 steps, and worse at 400
    assert "is not above" in verdicts[0].because
    assert verdicts[1].verdict == "confirmed"
    write_dataset(without_empty(build_dataset(records, {})), tmp_path / "kept.nc")
    kept, _ = read_dataset(tmp_path / "kept.nc")
    for quantity in ("time", "compute", "blocked", "blocked-share", "efficiency", "points"):
        values = [quantity_of(record, quantity) for record in records]
        assert None not in values
        assert [quantity_of(record, quantity) for record in kept] == pytest.approx(values)
    for label in ("way", "servers", "writers", "steps", "intervals", "bits", "compress", "queue", "slowdown"):
        assert [record[label] for record in kept] == [record[label] for record in records]
    assert [v.verdict for v in judge_all(study_file, kept)] == [v.verdict for v in verdicts]
    with pytest.raises(InputError, match="is a run with output, and no exchange alone"):
        exchange_of(kept[0])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"none", "in place"', '"none", "inplace"', "a.toml:8: sweep 1: unknown way 'inplace'; did you mean"),
        ("servers = [1, 2]", "servers = [0, 2]", "1 or more are allowed"),
        ("servers = [1, 2]", "server = [1, 2]", "unknown key 'server'; did you mean 'servers'?"),
        ("fields = 3", "fields = 3\nbits = 65", "a.toml:12: sweep 1"),
        ("fields = 3", "fields = 3\ncompress = 0.5", "compress"),
        ("fields = 3\n", "", "key 'fields' is missing"),
        ('point_time = "1us"', 'point_time = "0s"', "more than 0 s is allowed"),
        ('point_time = "1us"', "point_time = 1", "has no unit"),
        ("intervals = 3", "intervals = 1001", "intervals"),
        ('grid = "24x20x12"', 'grid = "24x20"', "grid"),
        ("servers = 1 }", "servers = 3 }", "quick: servers 3 is not among"),
        ('along = "steps"\ncrosses', 'along = "step"\ncrosses', "along"),
    ],
)
def test_mistakes_are_told_with_their_line(old: str, new: str, expected: str):
    assert old in STUDY
    with pytest.raises(InputError) as refused:
        load_study("a.toml", STUDY.replace(old, new, 1))
    assert expected in str(refused.value)
    assert "a.toml:" in str(refused.value)


def test_whatever_is_written_is_read_or_refused():
    rng = random.Random(31)
    values = ["0", "-1", "2147483647", "1e308", "nan", "inf", '""', '"1x1x1"', "[]", "{}", "true", '"none"', "[1, [2]]"]
    lines = STUDY[: STUDY.index("[[finding]]")].splitlines()
    read = 0
    for _ in range(200):
        changed = list(lines)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(4, len(changed))
            if "=" in changed[at]:
                changed[at] = changed[at].split("=")[0] + "= " + rng.choice(values)
        try:
            expand(load_study("a.toml", "\n".join(changed)).study)
            read += 1
        except InputError:
            pass
    assert 0 < read < 200
