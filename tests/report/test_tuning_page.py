"""The page about a tuning run says what was chosen, and why."""

from __future__ import annotations

import copy
import re
from html import unescape

import pytest

from tradewind.base.errors import InputError
from tradewind.cli.tune import _show as show_tuning
from tradewind.report.tuning import page, write_page


def row(algorithm: str, median: float, transport: str | None = "isend-irecv"):
    packing = None if transport is None else "buffer"
    times = {"median_s": median, "min_s": 0.9 * median, "samples_s": [0.9 * median, median, 2 * median]}
    return {"algorithm": algorithm, "transport": transport, "packing": packing, **times, "ratio": median / 1e-3}


def left(algorithm: str, reason: str, first_s: float | None = None):
    return {"algorithm": algorithm, "transport": "shared", "packing": "buffer", "reason": reason, "first_s": first_s}


RESULT = {
    "tuned": [
        {
            "step": "halo",
            "pattern": "halo of width 2, periodic in x",
            "request": {
                "pattern": "halo",
                "ranks": 4,
                "fields": 1,
                "dtype": "f8",
                "memory": "private",
                "grid": [12, 10, 4],
                "periodic": "",
            },
            "choice": {"algorithm": "direct", "transport": "isend-irecv", "packing": "buffer"},
            "median_s": 1e-3,
            "min_s": 9e-4,
            "default_s": 4e-3,
            "noisy": False,
            "results": [row("direct", 1e-3), row("sweep", 4e-3), row("native", 5e-3, None)],
            "left_out": [left("a", "cannot <be>"), left("b", "cannot <be>"), left("c", "given up: 9 times", 9e-3)],
        }
    ],
    "checked": True,
    "ranks": 4,
    "site": {"host": "node1", "cpu": "a <fast> processor", "mpi": "an MPI 1.0", "ranks_per_node": 4},
    "cores": 8,
    "ranks_per_core": 0.5,
    "oversubscribed": False,
    "warnings": [],
    "provenance": {"tradewind": "0.1.0"},
    "file": "tuning.toml",
    "report": "r.html",
}


def words(result) -> str:
    body = page(result).split("</header>", 1)[1].split("<noscript>", 1)[0]
    body = re.sub(r"<script.*?</script>", " ", body, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def changed(**values):
    result = copy.deepcopy(RESULT)
    result["tuned"][0] |= values
    return result


def test_what_was_chosen_and_why():
    text = words(RESULT)
    assert "direct, isend-irecv, buffer takes 1 ms, 0.25 of the default's 4 ms." in text
    assert "halo of width 2, periodic in x" in text
    assert "grid 12x10x4, periodic none" in text
    assert "direct, isend-irecv, buffer 1 ms 900 us 2 ms 1 sweep, isend-irecv, buffer 4 ms 3.6 ms 8 ms 4" in text
    assert "native 5 ms" in text
    assert "1 given up Methods given up: 1 Method Why c, shared, buffer given up: 9 times" in text
    assert (
        "Left out, for 1 reason Methods left out Why Methods cannot <be> a, shared, buffer; b, shared, buffer" in text
    )
    assert "a <fast> processor, 8 cores may be used" in text


def test_the_default_and_none():
    choice = {"algorithm": "sweep", "transport": "isend-irecv", "packing": "buffer"}
    assert "takes 1 ms; it is the default." in words(changed(choice=choice))
    assert "takes 1 ms; the default was not tried." in words(changed(default_s=None))


def test_warnings():
    assert "Oversubscribed" not in page(RESULT)
    assert "<b>Oversubscribed.</b> 2.5 ranks per core" in page(RESULT | {"oversubscribed": True, "ranks_per_core": 2.5})
    assert "quiet machine" not in page(RESULT)
    assert "Tune on a quiet machine." in words(changed(noisy=True))
    assert "was not compared" in page(RESULT | {"checked": False})


def test_methods_that_cannot_be_told_apart_are_named_on_the_terminal_and_the_page(capsys):
    close = changed(results=[row("direct", 1e-3), *(row(f"ring-{n}", 1.02e-3) for n in range(9)), row("sweep", 4e-3)])
    show_tuning(close)
    printed = " ".join(capsys.readouterr().out.split())
    assert "direct,isend-irecv,buffer, ring-0,isend-irecv,buffer, ring-1" in printed
    assert "and 4 more cannot be distinguished (1 ms to 1.02 ms); " in printed
    assert "and 4 more cannot be distinguished (1 ms to 1.02 ms); " in page(close)
    show_tuning(RESULT)
    assert "distinguished" not in capsys.readouterr().out


def test_it_opens_offline(tmp_path):
    write_page(RESULT, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert not re.search(r'(src|href)="https?:', text)
    assert "vegaEmbed" in text
    with pytest.raises(InputError, match=r"report .*/no/r\.html: there is no folder"):
        write_page(RESULT, tmp_path / "no" / "r.html")
