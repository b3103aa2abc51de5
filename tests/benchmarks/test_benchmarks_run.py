"""Benchmarks that no other test runs still work, at sizes at which their figures mean nothing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from figures import figure

from tradewind.launch import job
from tradewind.study.model.study import PublishedSweep

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"

pytestmark = pytest.mark.slow


def printed(program: str) -> str:
    """Return the output of a program that is run as one of the benchmarks, whose jobs have the same ranks."""
    kept = "import kept_ranks; kept = kept_ranks.KeptRanks(); kept.take_over()"
    found = f"import sys; sys.path.append({str(ROOT / 'tests')!r})"
    program = f"{found}; {kept}\ntry:\n  {program}\nfinally:\n  kept.end()"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=BENCHMARKS, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_set_up_is_told_in_seconds_and_by_the_rank() -> None:
    few, many, both = printed("import simulator; simulator.set_up((100, 10_000), 3)").splitlines()
    for ranks, line in ((100, few), (10_000, many)):
        found = re.search(r"allreduce, (\d+) ranks, .*: ([\d.]+) s \((\S+) ns per rank\), median of 3", line)
        assert found, line
        assert int(found[1]) == ranks
        assert float(found[3]) == pytest.approx(float(found[2]) / ranks * 1e9, rel=0.02)
    assert re.search(r"10000 ranks: [\d.]+ x 100 ranks; each rank more costs \S+ ns", both)


def test_rates_stand_beside_both_ends_of_sst_macros() -> None:
    line = printed("import million, peer, simulator; print(peer.beside_sst_macro(15.0))")
    assert "0.2 to 0.75 M/s" in line
    assert line.endswith("ours is 75 times its 0.2, 20 times its 0.75\n")


def test_a_fetch_has_its_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))
    payload = {"grid": [16, 12, 3], "width": 2, "points": 1000, "levels": 3, "repeat": 2, "samples": 2}
    for _ in range(5):  # other work may hide what takes longer
        halos, *on_demand = map(figure, job.run(2, "exchanges.fetch:fetch", payload))
        longer = sum(each.ratio > 1 for each in on_demand)
        if longer >= 6:
            break
    assert (halos.to, halos.goal) == ("the structured one, direct", ("most", 1.2))
    made = {
        "points": {"made with the consensus": 5.0, "made among known peers": 2.0},
        "scattered points": {"made with the consensus": 3.0, "made among known peers": 3.0},
    }
    assert [(each.what, each.goal) for each in on_demand] == [
        (f"1000 {points} on demand, {levels}: {how}", ("most", goal))
        for levels in ("1 level", "3 levels")
        for points, goals in made.items()
        for how, goal in goals.items()
    ]
    assert {each.samples for each in (halos, *on_demand)} == {2}
    assert longer >= 6, "to make a fetch of 1000 points costs more than to exchange them"


def test_the_field_server_is_laid_beside_other_ways_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("eccodes")
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))
    lines = printed("from outputs import beside; beside.beside(8, 2, 2, 0.001)").splitlines()
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == [
        *("MPI_Send of the same bytes", "in place", "threads", "server, messages", "server, shared"),
    ]
    assert all(re.search(r"blocked [\d.]+ % of 2 steps", line) for line in lines if "blocked" in line)
    assert re.fullmatch(r"  hand-over [\d.]+ x MPI_Send of the same bytes; goal: most 1.1", lines[-2])


def test_a_model_in_c_stands_beside_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("eccodes")
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))
    lines = printed("from outputs import in_c; in_c.in_c(8, 2, 2, 0.001)").splitlines()
    if lines[0].startswith("skipped"):
        pytest.skip(lines[0])
    names = ["server, messages", "server, messages, without a copy", "server, shared"]
    first, whole, *loops = (lines[at::4] for at in range(4))
    assert [line.partition(":")[0] for line in first] == [f"C, {name}" for name in names]
    assert all(re.search(r": blocked [\d.]+ % of 2 steps, per step median", line) for line in first)
    assert all(re.fullmatch(r"  a step with output [\d.]+ x one without", line) for line in whole)
    for kind, found in zip(("its server", "a process"), loops, strict=True):
        pattern = rf"  the model's own loops beside {kind}.*: [\d.]+ x alone, [\d.]+ x in time of the core"
        assert all(re.fullmatch(pattern, line) for line in found)


def test_disks_sources_and_packing_of_the_field_server_have_their_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("eccodes")
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))
    calls = "disks.disks(8, 2, 2, 0.02); inputs.inputs(2, 0.02, 8, 2); packing.grib(8, 2); packing.compression(8, 2, 2)"
    text = printed(f"from outputs import disks, inputs, packing; {calls}")
    assert re.findall(r"goal: (\w+ [\d.]+)", text) == [
        *("most 5", "most 2", "most 1.05", "most 1.1", "least 0.8", "least 0.8"),
    ]
    source = re.search(r"input, a source that sleeps: 2 steps of [\d.]+ s, a file of ([\d.]+) s before each", text)
    assert source, text
    assert float(source[1]) >= 0.02


def test_a_gather_scatter_stands_beside_a_loop_over_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))
    payload = {"elements": [2, 2, 2], "points": 4, "repeat": 2, "samples": 3}
    found = [figure(line) for line in job.run(2, "exchanges.gather_scatter:gather_scatter", payload)]
    what = "16 elements of 4^3, gather-scatter"
    assert [(each.what, each.goal) for each in found] == [
        (f"{what} by pairwise", ("most", 0.8)),
        (f"{what} by cartesian", ("most", 0.8)),
        (f"{what} of a rank alone by strides", None),
        (f"{what} of a rank alone by lists", None),
    ]


def test_pokes_say_what_is_left_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))
    title, *rows = job.run(2, "exchanges.pokes:pokes", {"count": 1000, "compute_s": 1e-3, "samples": 3})
    assert title == "0.0 MB of doubles over 1.0 ms of computing, 2 ranks, median of 3"
    assert [row.split(":")[0].strip() for row in rows] == [
        *("native", "recursive-2, isend-irecv", "ring, isend-irecv", "ring, persistent"),
    ]
    for row in rows:
        found = re.fullmatch(
            r".*: alone [\d.]+ ms; left to wait [\d.]+ ms with 0 pokes, .* ([\d.]+) ms with 50 pokes", row
        )
        assert found, row
        assert float(found[1]) < 10_000


def test_languages_stand_beside_the_core() -> None:
    core, *others = printed("import languages; languages.languages(3, 1000)").splitlines()
    if core.startswith("skipped"):
        pytest.skip(core)
    assert re.fullmatch(r"a plan with nothing to do, called in the core: [\d.]+ ns", core)
    assert [line.split(":")[0].strip() for line in others] == ["c", "c++", "fortran"]
    for line in others:
        found = re.search(r": ([+-][\d.]+) ns per call \(middle half .* of 3\); goal: at most 100( \(missed\))?$", line)
        assert found, line
        assert bool(found[2]) == (float(found[1]) > 100), line


def test_loops_in_three_languages_end_with_the_same_bits() -> None:
    """Or else the benchmark ends with an error; its rows are sweeps of a study."""
    if not list(ROOT.glob("build/*/libtradewind_fortran.so")):
        pytest.skip("the Fortran module of libtradewind was not built (no MPI, or no gfortran)")
    small = "loops.GRIDS = ((32, 24, 4),); loops.RANKS = (2,); loops.POINT_STEPS = 32 * 24 * 4 * 6"
    text = printed(f"import loops; {small}; loops.FEWER_NUMPY_STEPS = 1; loops.loops(1, 2, rows=True)")
    for strategy in ("exchange", "overlap"):
        assert re.search(rf"32x24x4, 2 ranks, {strategy}, per step: fortran .* x compiled\), compiled .*, numpy ", text)
    sweeps = tomllib.loads(text[text.index("[[sweep]]") :])["sweep"]
    assert [sweep["name"] for sweep in sweeps] == [
        f"{loop}, {strategy}, 32x24x4"
        for loop in ("compiled", "fortran", "numpy")
        for strategy in ("exchange", "overlap")
    ]
    assert all(PublishedSweep(**sweep).ranks == [2] for sweep in sweeps)


def test_loops_that_differ_are_found() -> None:
    wrong = "loops.fortran_loop = lambda *_: {'samples_s': [1.0], 'maximum': 2.0}"
    call = "loops.contest(None, Diffusion(ranks=1, grid=(16, 16, 4)), 1, 1)"
    program = f"import loops; from loops import Diffusion; loops.POINT_STEPS = 4; {wrong}; {call}"
    done = subprocess.run([sys.executable, "-c", program], cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert "after 2 steps the largest values differ: {'fortran': 2.0" in done.stderr


def test_threads_stand_beside_ranks() -> None:
    cases = {"diffusion": {"grid": (32, 32, 4)}}
    line, cpu, *parts = printed(f"import threads; threads.threads(3, 1, {cases!r})").splitlines()
    found = figure(line)
    assert (found.what, found.to, found.goal) == ("diffusion, 2 ranks", "1 rank of 2 threads", ("least", 0.9))
    assert re.fullmatch(r"  CPU time of the first of 2 threads: [\d.]+ of that of 1 thread; ideal: 0.5", cpu)
    assert [part.partition(", ms per step")[0] for part in parts] == ["  2 ranks", "  1 rank of 2 threads"]


def test_dwarfs_in_single_precision_are_laid_beside_double() -> None:
    single_s, double_s, apart = map(
        float,
        printed("import precision; print(*precision.beside('diffusion', {'grid': (24, 20, 4)}, samples=2))").split(),
    )
    assert single_s > 0 < double_s
    assert 0 < apart < 1e-5


def test_transforms_in_single_precision_are_laid_beside_double() -> None:
    lines = printed("import precision; precision.transform('O8', 2, samples=2)").splitlines()
    assert [line.split()[0] for line in lines] == ["to_grid", "to_spectral", "fields"]
    assert 0 < float(lines[-1].split()[1]) < 1e-5


def test_loops_of_limited_areas_stand_beside_a_copy_and_other_transforms() -> None:
    sizes = "limited_area.GRID, limited_area.AREAS, limited_area.SAMPLES = (16, 12, 3), ((24, 20, 2),), 2"
    text = printed(f"import limited_area; {sizes}; limited_area.limited_area()")
    assert len(re.findall(r"^    [\w -]+: median .* [\d.]+ of the copy's bandwidth$", text, re.MULTILINE)) == 2 * 3
    for name, precisions in (("Tradewind", 2), ("scipy.fft", 2), ("ecTrans", 1)):
        found = re.findall(rf"^    {name}: median .* [\d.]+ times Tradewind$", text, re.MULTILINE)
        assert len(found) == precisions


def test_replays_stand_beside_those_of_simgrid() -> None:
    lines = printed("import replay; replay.replay(2000)").splitlines()
    if lines[0].startswith("smpirun is not there"):
        pytest.skip(lines[0])
    for name, (first, _, last) in zip(("halo", "transposition"), (lines[:3], lines[3:]), strict=True):
        assert re.match(rf"{name}, [\d,]+ calls of 64 ranks, .* times as long; goal: at least 20$", first), first
        ours, theirs = map(float, re.findall(r"times: ([\d.e-]+) s, SimGrid ([\d.e-]+) s", last)[0])
        assert ours == pytest.approx(theirs, rel=0.15)
