"""Time steps with computations, in both models; validation/forms.py has their closed forms."""

import pytest
from small import CROSSBAR, machine

import tradewind as tw

TRIP, BYTE = 200e-9, 1e-10
BLOCKS = tw.Blocks(tw.Grid(nx=8, ny=6, nz=10), split=(2, 1))
HALO = tw.Halo(BLOCKS, width=1, periodic=("x",)).schedule("sweep")
HALO_S = TRIP + 2 * 6 * 10 * 8 * BYTE
"""Two messages of a rank to the other, one on either side."""


def time(*steps, model="packet", ranks_per_node=1, **tables):
    file = machine(
        CROSSBAR, memory_bandwidth="100GB/s", node={"flops": "1TFlop/s", "memory_bandwidth": "100GB/s"}, **tables
    )
    return tw.Program(*steps).simulate(file, model=model, ranks_per_node=ranks_per_node)


@pytest.fixture(params=["packet", "loggp"])
def model(request):
    return request.param


def test_seconds_add_up(model):
    result = time(tw.Compute("physics", seconds=3e-6), HALO, tw.Compute("more", seconds=1e-6, repeat=2), model=model)
    assert result["time_s"] == pytest.approx(5e-6 + HALO_S, rel=1e-12)
    assert list(result["step_time_s"]) == ["physics", "2 halo sweep", "more"]
    assert result["step_time_s"]["physics"] == pytest.approx(3e-6, rel=1e-12)


@pytest.mark.parametrize("ranks_per_node", [1, 2])
def test_a_point_takes_its_time_on_every_rank_that_owns_it(model, ranks_per_node):
    """With 7 x 6 x 10 points one rank has 4 columns, one 3; the time per point is a core's, whoever shares the node."""
    uneven = tw.Blocks(tw.Grid(nx=7, ny=6, nz=10), split=(2, 1))
    physics = tw.Compute("physics", layout=uneven, point_s=2e-9)
    result = time(physics, model=model, ranks_per_node=ranks_per_node)
    assert result["time_s"] == pytest.approx(4 * 60 * 2e-9, rel=1e-12)
    both = tw.Compute("both", seconds=1e-6, flops=500, layout=uneven, point_s=2e-9, repeat=3)
    # 500 flops take 0.5 ns where a rank has all of 1 TFlop/s.
    wanted = 3 * (1e-6 + 240 * (2e-9 + 0.5e-9 * ranks_per_node))
    assert time(both, model=model, ranks_per_node=ranks_per_node)["time_s"] == pytest.approx(wanted, rel=1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(tw.InputError, match=r"a: point_s 1e-09: a layout is needed, whose points are meant"):
        tw.Compute("a", point_s=1e-9)
    for steps, message in (
        ((tw.Compute("a", seconds=1),), "has no ranks"),
        ((tw.Compute("a", seconds=-1), HALO), "0 or more seconds"),
        ((tw.Compute("a", layout=BLOCKS, point_s=-1), HALO), "0 or more seconds"),
        ((tw.Compute("a", seconds=1), tw.Compute("a", seconds=1), HALO), "one name"),
        ((HALO, tw.AllReduce(ranks=3, count=1).schedule("ring")), "different ranks"),
        ((tw.Compute("a", seconds=1, repeat=0), HALO), "repeated 1 or more"),
    ):
        with pytest.raises(tw.InputError, match=message):
            tw.Program(*steps)
    with pytest.raises(tw.InputError, match=r"node\.flops"):
        tw.Program(tw.Compute("a", flops=1), HALO).simulate(machine(CROSSBAR))
