"""Times that are too long for the clock of the simulator, picoseconds in 64 bits: one error, and never a wrong time."""

import pytest
from small import CROSSBAR, machine

import tradewind as tw
from tradewind.simulation import forecast, simulate
from tradewind.workload.exchange import Exchange

ALLOWED = r"times of at most 9000000 s \(104 days\) can be simulated"
FAR = Exchange("allreduce", 2, algorithm="recursive-2", count=2_000_000_000)
"""A message of 16 GB, which takes 16,000 s each time."""


def slow(**tables):
    return machine(CROSSBAR, bandwidth="1MB/s", latency="1us", **tables)


@pytest.fixture(params=["packet", "loggp"])
def model(request):
    return request.param


def options(model):
    return {"model": model, "packet": "message", "buffers": "unbounded"} if model == "packet" else {"model": model}


def repeated(times):
    return Exchange("allreduce", 2, algorithm="recursive-2", count=FAR.count, times=times)


@pytest.mark.parametrize("ask", [simulate, forecast])
def test_what_is_too_long_is_refused_before_it_begins(model, ask):
    wanted = rf"the messages and computations of rank 0 take at least 9008000 s \(104 days\); {ALLOWED}"
    with pytest.raises(tw.InputError, match=wanted):
        ask(repeated(563), slow(), **options(model))


def test_extrapolated_repetitions_count():
    """Five hundred repetitions would be known from eight."""
    exchange = Exchange("allreduce", 2, algorithm="recursive-2", count=FAR.count, times=600)
    with pytest.raises(tw.InputError, match=ALLOWED):
        simulate(exchange, slow(), steady=True, **options("packet"))
