"""How long a study will take: by stored cases of this machine, or by a probe of the simulator."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from study_fakes import HERE

from tradewind.simulation import speed_probe
from tradewind.study.plan.duration import duration_of, pace_of


def planned(key: str, cost_s: float, kind: str = "simulate") -> Any:
    forecast = {"wall_s": cost_s} if kind == "simulate" else None
    return SimpleNamespace(key=key, cost_s=cost_s, forecast=forecast, case=SimpleNamespace(kind=kind))


class Stored:
    """A store of simulations that took so long on a processor, on one thread."""

    def __init__(self, wall_s: dict[str, float], cpu: str = HERE.cpu) -> None:
        self.load = lambda key: {
            "environment": {"cpu": cpu},
            "result": {"wall_s": wall_s[key], "threads": 1},
        }


def unused() -> list[float]:
    raise AssertionError("stored cases do")


CASES = [planned("a", 1.0), planned("b", 1.0), planned("c", 4.0)]


def test_stored_cases_of_this_machine_make_the_pace() -> None:
    store: Any = Stored({"a": 1.5, "b": 2.5, "c": 8.0})
    pace = pace_of([(each, store) for each in CASES], HERE, unused)
    assert (pace.ratio, pace.source) == (2.0, "3 stored cases")
    assert 1.25 <= pace.spread < 1.4


@pytest.mark.parametrize("cases", [CASES[:2], [*CASES[:2], planned("c", 0.001)], [*CASES[:2], planned("c", 1, "run")]])
def test_too_few_of_them_do_not(cases: list[Any]) -> None:
    store: Any = Stored({"a": 1.5, "b": 2.5, "c": 8.0})
    pace = pace_of([(each, store) for each in cases], HERE, lambda: [1.0, 4.0])
    assert (pace.ratio, pace.source) == (2.0, "a probe of the simulator here")
    assert pace.spread == pytest.approx(2.665, rel=1e-3)


def test_those_of_another_processor_do_not() -> None:
    store: Any = Stored({"a": 1.5, "b": 2.5, "c": 8.0}, cpu="another")
    assert pace_of([(each, store) for each in CASES], HERE, lambda: [3.0, 3.0]).ratio == pytest.approx(3)


@pytest.mark.parametrize(("workers", "seconds"), [(None, 6.0), (2, 8.0), (1, 6.0)])
def test_cases_share_the_cores_and_the_longest_has_its_own_time(workers: int | None, seconds: float) -> None:
    pace = pace_of([], HERE, lambda: [2.0, 2.0])
    found = duration_of([*CASES, planned("m", 0.0, "measure")], pace, HERE, workers)
    assert (found.seconds, found.cores, found.measured) == (pytest.approx(seconds), 2, 1)
    assert (found.low_s, found.high_s) == (found.seconds / 1.25, found.seconds * 1.25)


def test_the_probe_is_measured_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = speed_probe.known_ratios(lambda: [1.0, 2.0])
    assert first == speed_probe.known_ratios(unused) == [1.0, 2.0]
    (file,) = (tmp_path / "tradewind").iterdir()
    file.write_text("{}")
    assert speed_probe.known_ratios(lambda: [3.0]) == [3.0]


def test_a_cache_that_cannot_be_written_costs_a_probe_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tradewind").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [speed_probe.known_ratios(lambda ratio=ratio: [ratio]) for ratio in (1.0, 2.0)] == [[1.0], [2.0]]


def test_the_simulator_is_probed_in_a_second() -> None:
    ratios = speed_probe.measured_ratios()
    assert len(ratios) >= 3
    assert all(0.01 < ratio < 1000 for ratio in ratios)
