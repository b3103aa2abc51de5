"""The tables that a study prints of its sweeps."""

from typing import Any

from tradewind.cli.sweep_table import show_sweep, sweep_table
from tradewind.study.model.labels import LABELS


def record(time_s: float | None, kind: str = "simulate", **labels: Any) -> dict[str, Any]:
    known = {**dict.fromkeys(LABELS), "exchange": "halo 3 sweep", "ranks": 4, "grid": "8x8x8", "result": {}}
    return {**known, "kind": kind, "time_s": time_s, **labels}


def test_a_row_for_each_exchange_and_machine_and_a_column_for_each_number_of_ranks():
    torus, tree = ({"machine": name, "routing": f"of {name}"} for name in ("torus-M", "fattree-M"))
    cases = [record(1e-3, **torus), record(2e-3, **torus, ranks=9), record(3e-3, **tree)]
    table = sweep_table("s", cases)
    assert [column.title for column in table.columns] == ["exchange", "machine", "4 ranks", "9 ranks"]
    assert table.rows == [["halo 3 sweep", "torus-M", "1 ms", "2 ms"], ["halo 3 sweep", "fattree-M", "3 ms", ""]]
    assert table.title == "s (simulated, 8x8x8 points)"


def test_seeds_share_a_cell_and_other_grids_have_rows():
    cases = [record(1e-3, seed=1), record(5e-3, seed=2), record(1.0, grid="9x9x9")]
    assert sweep_table("s", cases).rows == [["halo 3 sweep", "8x8x8", "1 ms .. 5 ms"], ["halo 3 sweep", "9x9x9", "1 s"]]


def test_what_is_measured_is_compared_with_a_copy():
    result = {"copy_bytes_per_s": 6e9, "results": [{"bytes_per_s": 2e9}], "oversubscribed": True}
    (row,) = sweep_table("s", [record(1e-3, "measure", result=result)]).rows
    assert row == ["halo 3 sweep", "1 ms (3 x copy, oversubscribed)"]


def test_of_proofs_their_number(capsys):
    show_sweep("proved", [record(None, "verify"), record(None, "verify", ranks=9)])
    show_sweep("nothing of it was computed", [])
    assert capsys.readouterr().out == "proved: all 2 schedules, on 4, 9 ranks\n"
