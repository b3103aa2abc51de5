"""Objects of the library in a line, and in a notebook."""

import xml.etree.ElementTree as ET

import pytest

import tradewind as tw

GRID = tw.Grid(64, 48, 10)
BLOCKS = tw.Blocks(GRID, split=(4, 2))
HALO = tw.Halo(BLOCKS, width=2)
LINES = {
    "grid": (GRID, "Grid(nx=64, ny=48, nz=10)"),
    "reduced grid": (tw.ReducedGrid.octahedral(4, 2), "<ReducedGrid: 8 rows of 208 points together, 2 levels>"),
    "blocks": (BLOCKS, "<Blocks: 64 x 48 x 10 points, split 4 x 2 along xy, 8 ranks>"),
    "blocks of a pattern": (HALO.layout, "<Blocks: 64 x 48 x 10 points, split 4 x 2 along xy, 8 ranks>"),
    "pencils": (tw.Pencils(GRID, "x", (2, 4)), "<Pencils: 64 x 48 x 10 points, split 2 x 4 along zy, 8 ranks>"),
    "lists": (tw.Lists([[0, 2], [1]]), "<Lists: "),
    "halo": (HALO, "<Halo: halo of width 2, 8 ranks>"),
    "sum": (tw.AllReduce(5, 2), "<AllReduce: "),
    "fetch": (tw.Fetch([[0], [1]], [[1], [0]]), "<Fetch: "),
    "schedule": (HALO.schedule("sweep"), "<Schedule: halo of width 2 by sweep, 2 stages, 8 ranks>"),
    "program": (tw.Program(HALO.schedule(), name="step"), "<Program: step, 1 exchanges, 2 stages, 8 ranks>"),
    "machine": (tw.load_machine("torus-M"), "<Machine torus-M: "),
    "verified": (HALO.schedule("sweep").verify(), "<Result: halo on 8 ranks: verified, sweep, 2 stages, 20 messages"),
    "forecast": (tw.forecast(tw.Exchange("allreduce", 4, count=1), "torus-M"), "<Result: 8 messages, "),
    "advice": (
        tw.advise(tw.Exchange("allreduce", 4, count=1), "torus-M"),
        "<Result: allreduce on 4 ranks of torus-M: best",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_repr_is_one_useful_line(name):
    shown, beginning = LINES[name]
    assert repr(shown).startswith(beginning)
    assert "\n" not in repr(shown)
    assert len(repr(shown)) < 200
    assert " object at 0x" not in repr(shown)


@pytest.mark.parametrize("name", [name for name in LINES if name != "blocks of a pattern"])
def test_a_notebook_shows_a_table(name):
    shown = ET.fromstring(f"<div>{LINES[name][0]._repr_html_()}</div>")
    assert shown.find("table/caption").text
    assert len(shown.findall("table/tr")) >= 1


def test_blocks_are_a_picture_of_their_ranks():
    shown = ET.fromstring(f"<div>{BLOCKS._repr_html_()}</div>").find("{http://www.w3.org/2000/svg}svg")
    titles = [each.text for each in shown.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 8
    assert titles[5] == "rank 5: x 16..31, y 24..47"
    assert "svg" not in tw.Blocks(tw.Grid(64, 64), (32, 32))._repr_html_(), "too many to see"


def test_a_program_shows_its_steps():
    exchange = tw.Exchanged("halo", HALO.schedule("sweep"))
    dynamics = tw.Compute("dynamics", seconds=1e-3, repeat=2)
    rows = [
        [cell.text for cell in row]
        for program in (
            tw.Program(exchange.start(), dynamics, tw.Poke(), exchange.wait()),
            tw.Program(HALO.schedule("sweep"), dynamics),
        )
        for row in ET.fromstring(program._repr_html_()).findall("tr")[1:]
    ]
    by = "halo of width 2 by sweep"
    assert rows == [
        ["1 start halo", "start", by, "1", "-"],
        ["dynamics", "compute", "-", "2", "yes"],
        ["3 poke", "poke", "-", "1", "-"],
        ["4 wait halo", "wait", by, "1", "-"],
        ["1 halo sweep", "exchange", by, "1", "-"],
        ["dynamics", "compute", "-", "2", "yes"],
    ]


def test_a_schedule_shows_what_rank_0_sends():
    rows = ET.fromstring(HALO.schedule("sweep")._repr_html_()).findall("tr")
    assert [[cell.text for cell in row] for row in rows[1:]] == [["0", "1", "480", "1"], ["1", "1", "360", "4"]]
