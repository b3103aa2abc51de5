"""Results: one line for a reader, a table for a notebook, and plain values for everything else."""

import json

from tradewind.base.result import Result, written

SIMULATED = {"pattern": "halo", "ranks": 2048, "machine": "torus-M", "algorithm": "sweep", "time_s": 4.5e-6}


def test_a_line_has_the_subject_and_what_matters():
    more = {"messages": 20, "bytes": 70400, "delay": {"counts": [1]}}
    assert repr(Result(SIMULATED | more)) == (
        "<Result: halo on 2,048 ranks of torus-M: sweep, 4.5 us, 20 messages, 68.8 KiB; 8 keys>"
    )
    assert repr(Result({"messages": 3, "memory_bytes": 1024})) == ("<Result: 3 messages, 1 KiB of memory; 2 keys>")


def test_a_notebook_gets_all_values_with_their_units():
    shown = Result(SIMULATED | {"title": "<b>", "steps": [1, 2], "rate_bytes_per_s": 2e9, "ok": None})._repr_html_()
    assert "<caption>halo on 2,048 ranks of torus-M</caption>" in shown
    assert shown.count("<tr>") == 9
    for text in ("4.5 us", "&lt;b&gt;", "2 entries", "2 GB/s"):
        assert f">{text}<" in shown


def test_it_is_a_dictionary_of_plain_values():
    result = Result(SIMULATED)
    assert result == SIMULATED
    assert json.loads(json.dumps(result)) == SIMULATED


def test_values_are_written_in_the_unit_of_their_key():
    assert [written(key, value) for key, value in (("wall_s", 0.5), ("copied_bytes", 2048), ("ratio", 1 / 3))] == [
        *("500 ms", "2 KiB", "0.3333")
    ]
