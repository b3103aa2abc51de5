"""The adjoint of a fetch in the simulator: the messages of the fetch, the other way round."""

import csv

import numpy as np
import pytest
from small import machine

import tradewind as tw

RANKS, FIELDS = 8, 5
TORUS = {"kind": "torus", "shape": [4, 2], "nodes_per_switch": 1}


def lists():
    random = np.random.default_rng(3)
    ids = random.permutation(400)
    owned = np.split(ids, np.sort(random.integers(0, 401, RANKS - 1)))
    return owned, [random.choice(ids, n) for n in (50, 0, 120, 3, 80, 1, 60, 40)]


def sent(schedule):
    """Return (sender, receiver, points) per stage."""
    core = schedule.core
    return [
        sorted((rank, m.peer, m.count) for rank in range(core.ranks) for m in core.sends(rank, stage))
        for stage in range(core.stages)
    ]


def through_nics(schedule, path):
    """The result, and what each node sends and receives."""
    result = schedule.simulate(machine(TORUS, "dimension-order"), fields=FIELDS, links=path)
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    return result, *(
        {row["node"]: int(row["bytes"]) for row in rows if row["kind"] == kind} for kind in ("injection", "ejection")
    )


@pytest.mark.parametrize("algorithm", ["direct", "two-level-3"])
def test_an_adjoint_sends_the_messages_of_its_fetch_the_other_way(tmp_path, algorithm):
    fetch = tw.Fetch(*lists())
    there, back = fetch.schedule(algorithm), fetch.adjoint().schedule(algorithm)
    assert sent(back) == [sorted((b, a, n) for a, b, n in stage) for stage in reversed(sent(there))]
    counted, injected, ejected = through_nics(there, tmp_path / "there.csv")
    told_back, injected_back, ejected_back = through_nics(back, tmp_path / "back.csv")
    assert (injected_back, ejected_back) == (ejected, injected)
    for result in (
        counted,
        told_back,
        *(each.simulate("dragonfly-MM", fields=FIELDS, model="loggp") for each in (there, back)),
    ):
        assert result["messages"] == sum(map(len, sent(there)))
        assert result["bytes"] == 8 * FIELDS * sum(n for stage in sent(there) for _, _, n in stage)


def test_they_bring_back_each_point_that_was_fetched_from_another_rank():
    owned, wanted = lists()
    fetch = tw.Fetch(owned, wanted)
    foreign = sum(np.isin(want, own, invert=True).sum() for want, own in zip(wanted, owned, strict=True))
    for pattern in (fetch, fetch.adjoint()):
        assert pattern.schedule().simulate("dragonfly-MM", fields=FIELDS)["bytes"] == 8 * FIELDS * foreign
