"""A folder of studies that share their cases, quick runs, and batch systems, by the command line."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import pytest
from command_line import Command, Result

SWEEP = """
[[sweep]]
name = "network"
kind = "simulate"
pattern = "allreduce"
ranks = {ranks}
algorithm = ["recursive-2", "recursive-3"]
machine = "torus-M"
packet = "message"
times = 40
steady = true
congestion = true
quick = {{ ranks = [8] }}
"""
PLOTS = """
[[sweep]]
name = "proof"
kind = "verify"
pattern = "halo"
grid = "16x16x2"
ranks = 16
split = "4x4"
periodic = "xy"

[[plot]]
kind = "best"
title = "Best radix"
of = { sweep = "network" }
curve = "algorithm"

[[plot]]
kind = "congestion"
title = "Busy links"
of = { sweep = "network", ranks = 64 }
curve = "algorithm"

[[plot]]
kind = "matrix"
title = "Who sends to whom"
of = { sweep = "proof" }

[[finding]]
figure = "1"
claim = "it rises"
rises = { algorithm = "recursive-2" }

[[finding]]
figure = "2"
claim = "the halo has bands"
bands = { sweep = "proof" }
offsets = [1, 3, 4, 12]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two studies that have two cases of the network in common."""
    studies = tmp_path / "studies"
    studies.mkdir()
    (studies / "one.toml").write_text('title = "One"\n' + SWEEP.format(ranks=[8, 64]) + PLOTS)
    (studies / "two.toml").write_text('title = "Two"\n' + SWEEP.format(ranks=[8, 32]))
    return studies


def run(tradewind: Command, folder: Path, *options: object) -> Result:
    return tradewind("study", folder, "--out", folder.parent / "results", "--json", *options)


@pytest.mark.slow
def test_a_folder_of_studies_computes_a_shared_case_once(folder: Path, tradewind: Command) -> None:
    result = run(tradewind, folder)
    assert result.code == 0, result.err
    results = folder.parent / "results"
    one, two = result.json["studies"]
    assert (one["computed"], one["reused"], two["computed"], two["reused"]) == (5, 0, 2, 2)
    assert len(list((results / "cases").glob("*.json"))) == 7
    assert [finding["verdict"] for finding in one["findings"]] == ["confirmed", "confirmed"]
    assert sorted(path.name for path in (results / "one" / "figures").glob("*.svg")) == [
        "01-best-radix.svg",
        "02-busy-links.svg",
        "03-who-sends-to-whom.svg",
    ]
    svg = (results / "one" / "figures" / "02-busy-links.svg").read_text()
    assert "recursive-3" in svg
    assert "(median)" in svg

    rows = json.loads((results / "findings.json").read_text())
    assert [(row["study"], row["figure"], row["report"]) for row in rows] == [
        ("One", "1", "one/report.html"),
        ("One", "2", "one/report.html"),
    ]
    assert "2 confirmed, 0 contradicted, 0 not testable." in (results / "findings.md").read_text()
    page = (results / "index.html").read_text()
    assert "it rises" in page
    assert 'href="two/report.html"' in page


@pytest.mark.slow
def test_a_report_finds_the_cases_of_the_pool(folder: Path, tradewind: Command) -> None:
    assert run(tradewind, folder).code == 0
    assert tradewind("report", folder.parent / "results" / "two", "--json").json["cases"] == 4


@pytest.mark.slow
def test_a_quick_run_says_what_it_leaves_out_and_the_full_one_goes_on(folder: Path, tradewind: Command) -> None:
    study = folder / "two.toml"
    quick = run(tradewind, study, "--quick")
    assert (quick.code, quick.json["computed"]) == (0, 2)
    note = "quick run, network: 2 of 4 cases; left out: ranks 32"
    assert note in quick.json["notes"]
    assert note in (folder / "results" / "report.html").read_text()
    dry_run = ("study", study, "--out", folder / "results", "--dry-run")
    assert sum(case["stored"] for case in tradewind(*dry_run, "--json").json["cases"]) == 2
    assert (
        tradewind(*dry_run).out.splitlines()[-2].startswith("4 cases, 2 of them stored already or known, 0 skipped, ")
    )
    full = run(tradewind, study)
    assert (full.json["computed"], full.json["reused"], full.json["notes"]) == (2, 2, [])
    assert "4 of them stored already or known, 0 skipped, nothing to simulate" in tradewind(*dry_run).out


def test_the_cost_of_a_folder_counts_a_shared_case_once(folder: Path, tradewind: Command) -> None:
    printed = tradewind("study", folder, "--dry-run").out.splitlines()
    table = [line.split() for line in printed if line.startswith(("one", "two"))]
    assert [row[:3] for row in table] == [["one", "5", "5"], ["two", "4", "2"]]
    assert printed[-2].startswith("7 cases, 0 skipped, ")
    assert printed[-1].startswith("simulations take less than a second on ")
    studies = tradewind("study", folder, "--dry-run", "--json").json["studies"]
    assert [len(study["cases"]) for study in studies] == [5, 4]


def test_mistakes_of_all_files_are_reported_at_once(folder: Path, tradewind: Command) -> None:
    for name in ("one", "two"):
        path = folder / f"{name}.toml"
        path.write_text(path.read_text().replace("torus-M", "tours-M"))
    result = run(tradewind, folder)
    assert result.code == 2
    assert all(f"{name}.toml:9: sweep 1: unknown machine 'tours-M'" in result.json["error"] for name in ("one", "two"))
    empty = folder / "empty"
    empty.mkdir()
    assert "no study" in run(tradewind, empty).json["error"]


CLUSTER = """\
system = "slurm"
jobs = 1
cores = 2
memory = "4GiB"
workers = 1
walltime = "30min"
queue = "short"
account = "weather"
interface = "lo"
directives = ["--constraint=cpu"]
prologue = ["export BATCH_JOB=yes"]
"""


def test_the_script_of_a_job_is_shown(folder: Path, tmp_path: Path, tradewind: Command) -> None:
    pytest.importorskip("dask_jobqueue")
    file = tmp_path / "cluster.toml"
    file.write_text(CLUSTER)
    shown = tradewind("study", folder / "two.toml", "--cluster", file, "--dry-run").out.splitlines()
    for line in ("#SBATCH -p short", "#SBATCH -A weather", "#SBATCH -t 00:30:00", "#SBATCH --constraint=cpu"):
        assert line in shown, line
    assert "export BATCH_JOB=yes" in shown
    assert any("--nthreads 2 --memory-limit 4.00GiB" in line for line in shown)
    file.write_text(CLUSTER.replace("slurm", "lsf"))
    script = tradewind("study", folder / "two.toml", "--cluster", file, "--dry-run", "--json").json["job_script"]
    assert "#BSUB -W 00:30\n" in script


def test_mistakes_of_a_cluster_file(folder: Path, tmp_path: Path, tradewind: Command) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text('system = "slrum"\njobs = 0\nmemory = "4"\nwalltime = "2h"\ncroes = 2\n')
    result = tradewind("study", folder / "two.toml", "--cluster", file, "--json")
    assert result.code == 2
    for text in (
        f"{file}:1: system = 'slrum'",
        f"{file}:2: jobs = 0",
        f"{file}:3: memory: '4' has no unit",
        f"{file}:5: unknown key 'croes'; did you mean 'cores'?",
        "key 'cores' is missing",
    ):
        assert text in result.json["error"], text
    both = tradewind("study", folder / "two.toml", "--cluster", file, "--scheduler", "tcp://127.0.0.1:1", "--json")
    assert "one of them is allowed" in both.json["error"]


SBATCH = """#!/bin/bash
# A batch system of one machine: it runs a job at once, in the background.
cp "$1" {folder}/submitted
setsid bash {folder}/submitted > {folder}/job.log 2>&1 < /dev/null &
echo $! >> {folder}/pids
echo "Submitted batch job $!"
"""


@pytest.mark.slow
def test_jobs_of_a_batch_system_compute_a_study(
    folder: Path, tmp_path: Path, tradewind: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask_jobqueue")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("sbatch", SBATCH.format(folder=tmp_path)), ("scancel", "#!/bin/bash\nkill -- -$1\n")):
        (programs / name).write_text(text)
        (programs / name).chmod((programs / name).stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    file = tmp_path / "cluster.toml"
    file.write_text(CLUSTER)
    result = run(tradewind, folder / "two.toml", "--cluster", file)
    assert result.code == 0, result.err
    assert (result.json["computed"], result.json["failed"]) == (4, [])
    assert "#SBATCH -p short" in (tmp_path / "submitted").read_text()
    job = int((tmp_path / "pids").read_text().split()[0])
    deadline = time.monotonic() + 120
    while Path(f"/proc/{job}").exists():
        assert time.monotonic() < deadline, "the job outlives the study"
        time.sleep(0.1)
