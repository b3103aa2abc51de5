"""The tidy table: every result gives rows of the same columns, and comes back from CSV as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from dataset.bench_results import HALO, WHERE, bench, row, saved

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.dataset.open_table import open_table
from tradewind.dataset.table import VALUES, columns

KEPT = Path(__file__).parents[2] / "studies" / "results" / "node-halo.nc"
RUN = {"dwarf": "diffusion", "ranks": 2, "grid": [64, 64, 4], "width": 2, "strategy": "exchange", "threads": 1}
RUN |= {"transport": "isend-irecv", "packing": "buffer", "steps": 2, "samples_s": [4.0, 8.0], "wall_s": 6.0}
RUN |= {"parts": [{"part": "compute", "min_s": 1.0, "median_s": 2.0, "max_s": 3.0}], "provenance": WHERE}
SUM = {"pattern": "allreduce", "ranks": 64, "count": 3, "times": 1, "fields": 1, "dtype": "f8"}
SIMULATED = SUM | {"machine": "torus-M", "algorithm": "ring", "routing": "dimension-order", "time_s": 2e-6}
SIMULATED |= {"step_time_s": {"allreduce": 2e-6}, "messages": 12, "threads": 2}
SIMULATED_RUN = {"dwarf": "diffusion", "ranks": 2, "steps": 2, "machine": "torus-M", "time_s": 8.0, "wall_s": 9.0}
PROGRAM = {"program": "step", "ranks": 2, "median_s": 2.0, "min_s": 1.0, "samples_s": [1.0, 3.0], "steps": {"a": 1.5}}
ADVICE = SUM | {"machine": "torus-M", "budget_s": 5.0, "results": [{"algorithm": "ring", "time_s": 2e-6, "bytes": 8}]}
REQUEST = {**HALO, "fields": 1, "dtype": "f8", "memory": "shared"}
TUNED = {"tuned": [{"request": REQUEST, "results": [row("sweep,shared,buffer", [1e-5] * 3)]}], "provenance": WHERE}
SEVERAL = {"budget_s": 5.0, **SUM, "machines": [{"machine": "fattree-M", "results": ADVICE["results"]}]}


@pytest.mark.parametrize(
    ("result", "labels", "time", "samples"),
    [
        (bench({"sweep,isend-irecv,buffer": [1.0, 3.0]}), {"command": "bench", "grid": "64x64x4"}, ("median", 2.0), 2),
        (TUNED, {"command": "tune", "memory": "shared", "transport": "shared"}, ("median", 1e-5), 3),
        (RUN, {"command": "run", "dwarf": "diffusion", "host": "here"}, ("median", 3.0), 2),
        ({"results": [RUN], "dwarf": "diffusion", "skipped": []}, {"command": "run", "ranks": 2}, ("median", 3.0), 2),
        (SIMULATED, {"command": "simulate", "machine": "torus-M", "count": 3}, ("value", 2e-6), 0),
        (
            SIMULATED_RUN,
            {"command": "simulate", "dwarf": "diffusion"},
            ("value", 4.0),
            0,
        ),
        ([SIMULATED], {"command": "simulate"}, ("value", 2e-6), 0),
        (ADVICE, {"command": "advise", "algorithm": "ring"}, ("value", 2e-6), 0),
        (SEVERAL, {"command": "advise", "machine": "fattree-M"}, ("value", 2e-6), 0),
        (
            {
                "program": "step",
                "ranks": 2,
                "median_s": 2.0,
                "min_s": 1.0,
                "samples_s": [1.0, 3.0],
                "steps": {"a": 1.5},
            },
            {"command": "bench", "program": "step", "pattern": "program"},
            ("median", 2.0),
            2,
        ),
    ],
)
def test_rows_of_every_command(tmp_path, result, labels, time, samples):
    table = open_table(saved(tmp_path / "result.json", result))
    assert list(table) == [name for name in columns() if name in table]
    first = table.iloc[0]
    assert {name: first[name] for name in labels} == labels
    assert (first["quantity"], first["statistic"], first["value"], first["unit"]) == ("time", *time, "s")
    assert (table["statistic"] == "sample").sum() == samples
    if samples:
        assert table[table["statistic"] == "sample"]["value"].median() == time[1]


def test_parts_and_other_quantities(tmp_path):
    table = tw.open_table(saved(tmp_path / "run.json", RUN))
    (part,) = table[table["part"] == "compute"].itertuples()
    assert (part.quantity, part.value) == ("time", 1.0), "per step"
    bench_table = tw.open_table(saved(tmp_path / "bench.json", bench({"sweep,shared,buffer": [1.0]})))
    units = dict(zip(bench_table["quantity"], bench_table["unit"], strict=True))
    assert units == {"time": "s", "rate": "B/s", "floor": "s"}


def test_a_kept_study_and_its_csv_are_the_same(tmp_path):
    """The dataset was written by an earlier version; its labels have their types, and several files are joined."""
    table = open_table(KEPT)
    assert (table["ranks"].dtype, table["machine"].dtype) == (pd.Int64Dtype(), pd.StringDtype())
    assert table["case"].nunique() == 330
    table.to_csv(tmp_path / "rows.csv", index=False)
    pd.testing.assert_frame_equal(open_table(tmp_path / "rows.csv"), table)
    assert open_table(KEPT, KEPT)["case"].nunique() == 660


def test_a_folder_of_studies(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.nc").write_bytes(KEPT.read_bytes())
    assert set(open_table(tmp_path)["study"]) == {"one", "two"}
    assert "study" not in open_table(tmp_path / "one")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{", "no JSON"),
        ("a.json", "[]", "only their --json has times"),
        ("a.json", '{"ok": true}', "only their --json has times"),
        ("a.json", '{"error": "no ranks"}', "the command has failed: no ranks"),
        (
            "a.json",
            '{"exchange": {"pattern": "halo"}, "results": [{}]}',
            "incomplete JSON: KeyError 'algorithm'",
        ),
        ("a.json", json.dumps(SIMULATED | {"ranks": "many"}), "a.json: ranks 'many': a whole number is allowed"),
        ("a.json", json.dumps(SIMULATED | {"ranks": "2"}), "a.json: ranks '2': a whole number is allowed"),
        ("a.json", json.dumps(SIMULATED | {"ranks": 2.5}), "a.json: ranks '2.5': a whole number is allowed"),
        ("a.json", json.dumps(SIMULATED | {"time_s": -1}), "a.json: time -1 s: a finite number, 0 or more, is allowed"),
        ("a.json", json.dumps(PROGRAM | {"median_s": "x"}), "a.json: a value is not a number: could not convert"),
        ("a.csv", f"case,ranks,{','.join(VALUES)}\n0,two,time,,s,median,,1\n", "a.csv: ranks 'two'"),
        ("a.toml", 'title = "x"', "this file has no measured times"),
        ("a.toml", "[[entry]]\nranks = 2", "a.toml:1"),
        ("a.nc", "no NetCDF", "cannot be read as the NetCDF file"),
        ("a.csv", "case,value\n1,2\n", "it has no column quantity, part, unit, statistic, sample"),
        ("a.csv", f"case,{','.join(VALUES)}\nx,time,,s,median,,1\n", "is not a table of results: "),
        ("a.txt", "", "a name that ends in .nc, .json, .toml, .csv is allowed"),
    ],
)
def test_what_is_no_result(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        open_table(tmp_path / name)


def test_no_file_and_no_dataset(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        open_table(tmp_path / "none.json")
    with pytest.raises(InputError, match="no dataset of a study"):
        open_table(tmp_path)
    with pytest.raises(InputError, match="name one file"):
        open_table()
