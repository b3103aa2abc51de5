"""The questions about published measurements, the predictions, and the published values beside them."""

import hashlib
from pathlib import Path

import pytest
from validation.between_nodes import compare
from validation.between_nodes.exchanges import figure, homme_messages, simulate
from validation.between_nodes.experiments import EXPERIMENTS, experiment
from validation.between_nodes.measured import PASS_LIMIT, bets, compared, measured, spreads
from validation.between_nodes.predictions import FILE, asked, key, read
from validation.between_nodes.questions import Case, candidates, content, questions
from validation.published import MARKS, ROOT, filled, within

from tradewind.machine import machine_names

ASKED = {key(question, case): (case, bet) for case, askers in asked().items() for question, bet in askers}
PREDICTED = read()
DIGEST = "475c00d4b9356ba87b74c9dcb00e9ac6303075d610fd123ad7ad7676a1abe81f"


def test_every_measurement_is_asked_for_once_or_has_a_reason():
    entries = [*content()["question"], *content()["not_askable"]]
    assert sorted(entry["id"] for entry in entries) == sorted(f"P{number:02d}" for number in range(1, 142))
    assert all(entry["reason"] for entry in content()["not_askable"])
    assert {entry["source"] for entry in entries} == set(content()["sources"])
    assert {question.machine for question in questions()} <= set(machine_names())


def test_what_is_asked_is_predicted_and_nothing_else():
    """Cases of more than MAX_HOPS are in neither."""
    assert {at: each.bet for at, each in PREDICTED.items()} == {at: bet for at, (_, bet) in ASKED.items()}


@pytest.mark.parametrize(
    "at",
    [
        ("P01", "pingpong", 2, 8, "message"),
        ("P65", "halo 3x2x1", 6, 10, "all at once"),
        ("P71", "bandwidth", 2, 8, "window of 64"),
        ("P99", "allreduce", 2, 8, "node-recursive-2"),
        ("P105", "alltoall", 2, 8, "bruck"),
        ("P40", "random ring", 128, 8, "both at once"),
    ],
    ids=lambda at: f"{at[0]} {at[1]}",
)
def test_a_prediction_is_reproduced(at):
    """A machine file or a model that changes leaves the predictions of before it wrong."""
    case, _ = ASKED[at]
    seconds = simulate(case)
    assert PREDICTED[at].seconds == pytest.approx(seconds, rel=1e-8)
    assert PREDICTED[at].figure == pytest.approx(figure(case, seconds)[0], rel=1e-8)


def test_the_bet_changes_with_size_and_ranks():
    """The switch points of MPICH."""
    alltoalls = ((1, 8), (4, 256), (4, 257), (64, 32768), (64, 32769))
    bets = [candidates("alltoall", 2, each, size)[0] for each, size in alltoalls]
    assert bets == ["ring-1", "bruck", "ring-7", "ring-32", "pairwise"]
    bets = [candidates("allreduce", 2, each, size)[0] for each, size in ((1, 2048), (4, 2048), (4, 2056))]
    assert bets == ["recursive-2", "node-recursive-2", "node-rabenseifner"]


def test_neighbours_of_a_rectangle_send_each_other_as_many_points():
    """The case has 8 x 8 ranks with 384 x 256 elements each."""
    messages = {(source, destination): size for source, destination, size in homme_messages(64)}
    assert len(messages) == 64 * 8
    assert all(messages[b, a] == size for (a, b), size in messages.items())
    sizes = sorted(size for (source, _), size in messages.items() if source == 0)
    assert sizes == [1] * 4 + [6 * 256 - 2] * 2 + [6 * 384 - 2] * 2


def test_figures_of_rings_are_of_one_message():
    small, large = (Case("random ring", "archer", 2, 1, size, "linear", "sendrecv") for size in (8, 2_000_000))
    assert figure(small, 3e-6) == (1.5e-6, "s")
    assert figure(large, 1e-3) == (4e9, "B/s")


def test_the_predictions_are_those_that_were_committed_before_the_answers():
    """A later prediction needs a file of its own."""
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == DIGEST


def test_a_published_value_is_of_a_prediction_and_has_a_source():
    predicted = {each.key[:4]: each.unit for each in PREDICTED.values() if each.bet}
    assert {at: predicted.get(at) for at in (each.at for each in measured())} == {
        each.at: each.unit for each in measured()
    }
    assert len({(each.at, each.variant) for each in measured()}) == len(measured())
    source_of = {entry["id"]: entry["source"] for entry in content()["question"]}
    assert [each for each in measured() if each.source.split(":")[0] != source_of[each.at[0]]] == []
    ranges = [each for each in measured() if each.spread != PASS_LIMIT]
    assert [each for each in ranges if (each.low is None) != (each.spread == "")] == []
    assert [each for each in ranges if each.low and each.high and not each.low <= each.value <= each.high] == []


def test_factors_are_of_times_and_of_the_mean_of_several_values():
    """Values of P70: 9476.3 and 9528.0 MB/s, 1.138 and 1.47 us; of P40: 7.058 GB/s."""
    factors = {row.at: row.factor for row in compared()}
    assert factors["P70", "bandwidth", 2, 4194304] == pytest.approx((9.4763e9 * 9.528e9) ** 0.5 / 9.92130414e9)
    assert factors["P70", "pingpong", 2, 8] == pytest.approx(1.2008 / (1.138 * 1.47) ** 0.5)
    assert factors["P40", "pingpong", 128, 2000000] == pytest.approx(7.058 / 9.75116314)
    assert within([0.4, 0.5, 1.0, 2.0, 2.1], 2) == 3


def test_the_spread_is_that_of_all_values_of_a_case():
    """Allreduces of 8 bytes on 4 nodes of ARCHER2: P05, five runs of P09, P126 by two transports; P10 lies apart."""
    cases = bets()
    assert spreads()[cases["P126", "allreduce", 4, 8]] == pytest.approx(10.24 / 8.7)
    assert spreads()[cases["P10", "allreduce", 4, 8]] == pytest.approx(10.93 / 10.75)
    assert cases["P71", "pingpong", 2, 8] not in spreads(), "what a site accepts is no measurement"


@pytest.mark.parametrize("page", compare.PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_errors(page: Path):
    text = page.read_text(encoding="utf-8")
    assert text == filled(text, compare.SECTIONS), "run  python -m validation.between_nodes compare"
    assert set(MARKS.findall(text)), "a page without sections"


def test_the_errors_by_id_and_those_that_visitors_see_first_are_up_to_date():
    assert compare.TABLE.read_text(encoding="utf-8") == compare.comparison_csv(), "run ... compare"
    assert compare.overall() in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "61% are within a factor of two" in compare.overall(), "change it in CHANGELOG.md, too"


def test_the_picture_is_up_to_date():
    assert compare.PICTURE.read_text(encoding="utf-8") == compare.picture(), "run ... compare"


def test_an_experiment_is_reproduced():
    """The cheapest, whose factor stands on the page."""
    name, settings, ats = EXPERIMENTS[0]
    row = next(row for row in compared() if row.at == ats[0])
    found = experiment(row, settings[row.case.machine])
    page = compare.PAGES[0].read_text(encoding="utf-8")
    assert f"| {name} | P19 | sendrecv, archer2 | 16 | 65536 | {row.factor:.2f} | {found:.2f} |" in page
