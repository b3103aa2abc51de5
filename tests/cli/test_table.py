"""Tables for a reader at any width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.cli.table import GAP, HOW_TO_SEE, TextColumn, TextTable, layout

COLUMNS = [
    TextColumn("machine"),
    TextColumn("routing", drop=1),
    TextColumn("time", number=True),
    TextColumn("load imbalance", number=True, drop=2),
    TextColumn("packet-hops", number=True, drop=3),
    TextColumn("why", prose=12),
]
ROWS = [
    ["dragonfly-MM", "minimal", "2.18 s", "10.60", "456 k", "groups have few links between them"],
    ["torus-M", "dimension-order", "14.1 s", "2.11", "1.09 M", "far"],
]


def text(shown):
    return [*shown.header, *("".join(piece for piece, _ in line) for line in shown.lines), *shown.notes]


def test_in_full_where_nobody_says_how_wide():
    assert text(layout(TextTable(COLUMNS, ROWS), None)) == [
        "machine       routing            time  load imbalance  packet-hops  why",
        "─"
        * len("machine       routing            time  load imbalance  packet-hops  groups have few links between them"),
        "dragonfly-MM  minimal          2.18 s           10.60        456 k  groups have few links between them",
        "torus-M       dimension-order  14.1 s            2.11       1.09 M  far",
    ]


def test_prose_is_folded_first():
    assert text(layout(TextTable(COLUMNS, ROWS), 88)) == [
        "machine       routing            time  load imbalance  packet-hops  why",
        "─" * 88,
        "dragonfly-MM  minimal          2.18 s           10.60        456 k  groups have few",
        "                                                                    links between them",
        "torus-M       dimension-order  14.1 s            2.11       1.09 M  far",
    ]


def test_then_titles_are_folded():
    assert text(layout(TextTable(COLUMNS, ROWS), 75))[:2] == [
        "                                            load",
        "machine       routing            time  imbalance  packet-hops  why",
    ]


def test_then_the_least_important_columns_are_left_out_and_named():
    assert text(layout(TextTable(COLUMNS, ROWS), 53)) == [
        "machine       routing            time  why",
        "─" * 53,
        "dragonfly-MM  minimal          2.18 s  groups have",
        "                                       few links",
        "                                       between them",
        "torus-M       dimension-order  14.1 s  far",
        "left out on 53 columns: load imbalance, packet-hops; " + HOW_TO_SEE,
    ]


def test_what_all_rows_say_is_said_once_before_others_are_left_out():
    columns = [TextColumn("algorithm"), TextColumn("transport", drop=1), TextColumn("rate", number=True, drop=2)]
    rows = [["ring-1", "isend-irecv", "1 GB/s"], ["bruck", "isend-irecv", "2 GB/s"]]
    assert text(layout(TextTable(columns, rows), 20))[2:] == [
        "ring-1     1 GB/s",
        "bruck      2 GB/s",
        "all rows: transport isend-irecv",
    ]


def test_a_short_title_stays_together():
    shown = text(layout(TextTable([TextColumn("x best", number=True)], [["1.00"]]), 4))
    assert shown == ["x best", "──────", "  1.00"]


def test_headings_stand_before_rows_and_folded_text_is_indented():
    columns = [TextColumn("case", prose=10, indent="    "), TextColumn("time", number=True)]
    rows = [["  halo, 4 ranks, torus-M", "1 s"], ["  halo", "2 s"], ["  allreduce", "3 s"]]
    assert text(layout(TextTable(columns, rows, headings={0: "wide halos in a long sweep", 2: "others"}), 22)) == [
        "case              time",
        "──────────────────────",
        "wide halos in a long sweep",
        "  halo, 4 ranks,   1 s",
        "    torus-M",
        "  halo             2 s",
        "others",
        "  allreduce        3 s",
    ]


def test_a_word_that_no_line_can_hold_does_not_widen_other_lines():
    path = "/a/long/path/of/" + "x" * 30
    rows = [["mpi", f"in {path}"], ["core", "some words that a line of thirty columns cannot hold"]]
    shown = layout(TextTable([TextColumn(""), TextColumn("", prose=10)], rows, header=False), 30)
    assert text(shown) == [
        "mpi   in",
        f"      {path}",
        *("core  some words that a line", "      of thirty columns cannot", "      hold"),
    ]


def test_names_and_numbers_stay_whole_on_the_narrowest_screen():
    shown = text(layout(TextTable(COLUMNS, ROWS), 1))
    for word in ("dragonfly-MM", "torus-M", "2.18 s", "14.1 s", "between"):
        assert any(word in line for line in shown)


def test_a_table_without_rows_or_without_titles():
    assert text(layout(TextTable(COLUMNS[:1], []), 80)) == ["machine", "───────"]
    assert text(layout(TextTable([TextColumn(""), TextColumn("")], [["ok", "mpi"]], header=False), 80)) == ["ok  mpi"]


def test_styles_are_those_of_whole_cells():
    table = TextTable(
        [TextColumn("", styles={"ok": "green"}), TextColumn("", styles={"broken": "red"})], [["ok", "ok"]], header=False
    )
    assert layout(table, None).lines == [[("ok", "green"), ("  ", ""), ("ok", "")]]


words = st.text("abc-_.", min_size=1, max_size=12)
columns = st.builds(
    TextColumn, words, number=st.booleans(), prose=st.sampled_from([0, 0, 8, 30]), drop=st.integers(0, 3)
)


@st.composite
def tables(draw):
    chosen = draw(st.lists(columns, min_size=1, max_size=6))
    cell = st.lists(words, min_size=1, max_size=6).map(" ".join)
    return TextTable(chosen, draw(st.lists(st.lists(cell, min_size=len(chosen), max_size=len(chosen)), max_size=4)))


@given(tables(), st.integers(1, 120))
def test_lines_are_no_wider_than_asked_for_where_columns_may_go(table, width):
    shown = layout(table, width)
    lines = text(shown)[: len(shown.header) + len(shown.lines)]
    assert all(line == line.rstrip() for line in lines)
    needed = sum(_need(table, i) + len(GAP) for i, c in enumerate(table.columns) if not c.drop) - len(GAP)
    assert all(len(line) <= max(width, needed) for line in lines)


def _need(table, index):
    """The columns of the screen that a column which must stay needs."""
    column, cells = table.columns[index], [row[index] for row in table.rows]
    if column.prose:
        longest = max(map(len, cells), default=0)
        words = [len(word) for cell in cells for word in cell.split()]
        return max(len(column.title), min(column.prose, longest), *words, 0)
    return max(len(column.title), *map(len, cells), 0)


@given(tables(), st.integers(1, 120))
def test_whatever_must_stay_is_there_whole(table, width):
    shown = layout(table, width)
    lines = ["".join(piece for piece, _ in line) for line in shown.lines]
    for number, column in enumerate(table.columns):
        for row in table.rows if not column.drop else ():
            for piece in row[number].split() if column.prose else [row[number]]:
                assert any(piece in line for line in lines)


@pytest.mark.parametrize("width", [None, 40, 80])
def test_no_cell_is_lost_without_being_named(width):
    shown = layout(TextTable(COLUMNS, ROWS), width)
    notes = " ".join(shown.notes)
    for column in COLUMNS:
        assert column.title.split()[-1] in " ".join(shown.header) or column.title in notes
