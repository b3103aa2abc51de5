"""Cases of studies with results by chance: as many as are wanted, without computing any."""

from __future__ import annotations

from random import Random
from typing import Any

from tradewind.study.cases.case import Case
from tradewind.study.cases.environment import here
from tradewind.study.model.labels import LABELS

BINS = 40
Result = dict[str, Any]


def made_up(case: Case, random: Random) -> dict[str, Any]:
    """Return the record of a case that is verified, measured or simulated, with times and sizes by chance."""
    result, time_s = RESULTS[case.kind](random)
    known = {"result": result, "time_s": time_s, "wall_s": random.random(), "layout_imbalance": 1.0}
    known |= {"is_foreign": False, "environment": here().as_dict()}
    return {**dict.fromkeys(LABELS), **case.labels, **known}


def _verified(_: Random) -> tuple[Result, None]:
    return {}, None


def _measured(random: Random) -> tuple[Result, float]:
    samples = sorted(random.random() for _ in range(9))
    times = {"median_s": samples[4], "min_s": samples[0], "samples_s": samples}
    return {"results": [{**times, "bytes_per_s": 1e9 * random.random()}], "floor_s": 0.1, "bytes": 4096}, samples[4]


def _simulated(random: Random) -> tuple[Result, float]:
    time, bound, imbalance = (random.random() for _ in range(3))
    result = {"time_s": time, "step_time_s": {}, "bytes": 8 * random.randrange(10**6), "messages": 1024}
    result |= {"bound_s": bound, "imbalance": 1 + imbalance, "packet_bytes": "message"}
    result |= {"packet_hops": random.randrange(10**6)}
    delays = {"edges_s": [1e-9 * 2**i for i in range(BINS + 1)], "counts": [random.randrange(100) for _ in range(BINS)]}
    return {**result, "delay": delays}, time


RESULTS = {"verify": _verified, "measure": _measured, "simulate": _simulated}
