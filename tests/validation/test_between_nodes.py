"""The questions about published measurements, and the predictions that stand beside them."""

import pytest
from validation.between_nodes.exchanges import figure, homme_messages, simulate
from validation.between_nodes.predictions import asked, key, read
from validation.between_nodes.questions import Case, candidates, content, questions

from tradewind.machine import machine_names

ASKED = {key(question, case): (case, bet) for case, askers in asked().items() for question, bet in askers}
PREDICTED = read()


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
