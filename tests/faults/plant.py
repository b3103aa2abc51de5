"""Plants faults in a copy of the checkout and looks which tests find them.

``python tests/faults/plant.py build`` copies, plants and builds in build/faults; ``run`` runs the tests. See README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from fault_list import HERE, ROOT, Fault, acts_on_import, planted, problem_of, read_faults, with_import

WORK = ROOT / "build" / "faults"
TREE = WORK / "tree"
HEADER = WORK / "tradewind_fault.hpp"
RESULTS = HERE / "results.toml"
LIMIT_S = 60.0
"""Seconds of processor time of tests for one fault."""

ORDER = (
    *("base", "layout", "schedule", "program", "pattern", "verify", "algorithm", "kernel", "machine", "method", "sim"),
    *(
        "verification",
        "replay",
        "recognition",
        "simulation",
        "workload",
        "spectral",
        "plot",
        "timeline",
        "trace",
        "dataset",
        "cli",
    ),
    *("validation", "study", "report", "mpi", "launch", "dwarfs", "languages", "fieldserver"),
)
"""Folders of tests in the order in which they run: low ones before those above them, those with many ranks last."""
CORE = {
    "base": "layout pattern method kernel sim mpi languages fieldserver",
    "layout": "pattern verify algorithm machine spectral mpi languages fieldserver",
    "pattern": "verify algorithm sim workload mpi dwarfs languages",
    "schedule": "verify algorithm sim mpi",
    "program": "verify sim verification simulation workload replay",
    "algorithm": "verify method sim mpi languages",
    "verify": "algorithm verification workload replay",
    "recorder": "trace",
    "machine": "sim simulation plot validation",
    "kernel": "spectral dwarfs",
    "spectral": "languages",
    "sim": "simulation timeline validation workload replay",
    "mpi": "sim timeline launch dwarfs languages fieldserver",
    "fieldserver": "languages",
}
"""By folder of src/: the folders of tests above its own that use it."""
PYTHON = {
    "base": "layout method machine workload timeline study cli mpi dwarfs fieldserver",
    "layout": "pattern mpi spectral workload dwarfs",
    "method": "mpi launch languages",
    "machine": "sim workload plot simulation cli study launch",
    "mpi": "launch dwarfs",
    "spectral": "dwarfs",
    "workload": "verification recognition simulation timeline cli study",
    "plot": "cli report study",
    "timeline": "cli report launch",
    "trace": "replay recognition timeline cli",
    "replay": "recognition simulation cli",
    "recognition": "cli",
    "verification": "cli",
    "simulation": "timeline cli study",
    "fieldserver": "dwarfs",
    "dwarfs": "study launch",
    "launch": "cli",
    "study": "dataset report cli",
    "dataset": "report cli study",
    "figure": "plot study report",
    "report": "cli",
    "cli": "study",
}
"""By package of python/tradewind: the same."""


def folders_of(fault: Fault) -> list[str]:
    """Return the folders of tests for a fault, in their order."""
    parts = Path(fault.file).parts
    if parts[0] == "src":
        own, above = parts[1], CORE[parts[1]]
    elif parts[:2] == ("bindings", "c"):
        own, above = "languages", "method fieldserver"
    elif parts[0] == "bindings":
        own, above = "mpi" if "mpi" in parts else "kernel", "pattern layout mpi"
    else:
        own = parts[2] if len(parts) > 3 else "pattern"
        above = PYTHON.get(own, "mpi workload")
    wanted = {own, *above.split()}
    return [folder for folder in ORDER if folder in wanted]


# --- build ---


def write(path: Path, data: bytes) -> None:
    """Write a file; one that has this content already keeps its time, so that nothing is compiled again."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def build() -> None:
    """Copy the checkout, plant all faults and build."""
    faults = read_faults()
    if problems := [problem for fault in faults if (problem := problem_of(fault))]:
        raise SystemExit("\n".join(problems))
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    here: dict[str, list[Fault]] = {}
    for fault in faults:
        here.setdefault(fault.file, []).append(fault)
    for name in names:
        data = (ROOT / name).read_bytes()
        if name in here:
            text = data.decode()
            for fault in here[name]:
                text = planted(text, fault)
            data = with_import(text, here[name][0], HEADER).encode()
        write(TREE / name, data)
        shutil.copymode(ROOT / name, TREE / name)
    write(HEADER, (HERE / "tradewind_fault.hpp").read_bytes())
    _environment()
    write(next((TREE / ".venv" / "lib").glob("python*")) / "site-packages" / "_tradewind_fault.py",
          (HERE / "tradewind_fault.py").read_bytes())  # fmt: skip
    binaries = TREE / ".venv" / "bin"
    subprocess.run(
        [
            *(binaries / "python", "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"),
            "-Ccmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
            *("-e", TREE),
        ],
        check=True,
        cwd=TREE,
        env=os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"},
    )
    for folder in (TREE / "build").glob("cp*"):
        subprocess.run([binaries / "cmake", "--build", folder, "--target", "core_tests"], check=True)


def _environment() -> None:
    """Copy the checkout's environment, without the package itself."""
    new, old = TREE / ".venv", ROOT / ".venv"
    if new.exists():
        return
    subprocess.run(["cp", "-al", old, new], check=True)
    for path in [*(new / "bin").iterdir(), new / "pyvenv.cfg", *(new / "lib" / "pkgconfig").glob("*")]:
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if str(old).encode() in data and b"\0" not in data:
            mode = path.stat().st_mode
            path.unlink()  # a hard link
            path.write_bytes(data.replace(str(old).encode(), str(new).encode()))
            path.chmod(mode)
    for path in [*new.glob("lib/python*/site-packages/*tradewind*"), new / "installed"]:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


# --- run ---


def read_results() -> list[dict[str, object]]:
    """Return the rows of the table of results."""
    return tomllib.loads(RESULTS.read_text(encoding="utf-8")).get("result", []) if RESULTS.exists() else []


def write_results(rows: Iterable[dict[str, object]]) -> None:
    """Write the rows, ordered by column and fault."""
    numbers = {fault.id: fault.number for fault in read_faults()}
    ordered = sorted(rows, key=lambda row: (row["column"], numbers.get(str(row["id"]), 0)))
    text = "# Which tests find which fault; plant.py writes it: see README.md.\n"
    for row in ordered:
        text += "\n[[result]]\n" + "".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in row.items()
        )
    RESULTS.write_text(text, encoding="utf-8")


class Results:
    """The results of one column: what is known is not run again."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._lock = Lock()
        self._rows = read_results()
        self._of = {row["id"]: row for row in self._rows if row["column"] == column}

    def of(self, fault: Fault) -> dict[str, object]:
        """Return the row of a fault, made where there is none."""
        if fault.id not in self._of:
            self._of[fault.id] = {"id": fault.id, "column": self._column, "result": "open", "folders": [], "seconds": 0}
            self._rows.append(self._of[fault.id])
        return self._of[fault.id]

    def is_open(self, fault: Fault) -> bool:
        return self.of(fault)["result"] == "open"

    def add(self, fault: Fault, folder: str, verdict: str, test: str, ranks: bool, seconds: float) -> None:
        """Add what the tests of a folder have made of a fault, and write the table."""
        with self._lock:
            self._add(fault, folder, verdict, test, ranks, seconds)

    def _add(self, fault: Fault, folder: str, verdict: str, test: str, ranks: bool, seconds: float) -> None:
        row = self.of(fault)
        row["folders"] = [*row["folders"], folder]
        row["seconds"] = round(float(row["seconds"]) + seconds, 1)
        if verdict == "found":
            row["result"] = f"found by {test}"
            row["ranks"] = ranks
        elif verdict != "passed":
            row["result"] = f"{verdict} in {test}"
        elif float(row["seconds"]) > LIMIT_S:
            row["result"] = "timeout"
        self.save()

    def close(self, fault: Fault) -> None:
        row = self.of(fault)
        if row["result"] == "open":
            row["result"] = "not found"
            self.save()

    def save(self) -> None:
        write_results(self._rows)


def run_core_tests(faults: list[Fault], results: Results, jobs: int) -> None:
    """Run the C++ tests of the folders of each fault of the core, until one of them fails."""
    programs = [*(TREE / "build").glob("cp*/core_tests")]
    # The program of these tests is without MPI.
    core = [fault for fault in faults if fault.file.startswith("src/") and not fault.file.startswith("src/mpi/")]
    wanted = [fault for fault in core if results.is_open(fault)]
    if not programs:
        return
    print(f"{time.strftime('%H:%M:%S')} core_tests: {len(wanted)} faults", flush=True)

    def run_one(fault: Fault) -> None:
        for folder in folders_of(fault):
            name = f"core_tests {folder}/"
            if name in results.of(fault)["folders"] or not [*(TREE / "tests" / folder).glob("*.cpp")]:
                continue
            verdict, test = _core_tests(programs[0], folder, fault)
            results.add(fault, name, verdict, test, False, 0.0)  # all of them run, whatever they take
            print(f"{time.strftime('%H:%M:%S')}   {fault.id}: {name} {verdict} {test}", flush=True)
            if verdict != "passed":
                return

    with ThreadPoolExecutor(jobs) as threads:
        [*threads.map(run_one, wanted)]


def _core_tests(program: Path, folder: str, fault: Fault) -> tuple[str, str]:
    """Run the C++ tests of a folder until one fails. Return the verdict and that test."""
    environment = os.environ | {"TRADEWIND_FAULT": str(fault.number)}
    command = [program, "--only", f"{folder}/", "--limit", str(round(10 * LIMIT_S))]
    with subprocess.Popen(command, cwd=TREE, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("FAILED "):
                hangs = "ended by Alarm clock" in process.stdout.readline()
                process.kill()
                return "hang" if hangs else "found", line.removeprefix("FAILED ").strip()
    if process.returncode != 0:
        return "found", f"core_tests, which ended with {process.returncode}"
    return "passed", ""


def run(column: str, only: list[str], jobs: int, folders: list[str]) -> None:
    """Run, folder by folder, the tests of the faults that no test has found yet."""
    every = read_faults()
    if unknown := set(only) - {fault.id for fault in every}:
        raise SystemExit(f"no such faults: {', '.join(sorted(unknown))}")
    faults = [fault for fault in every if not only or fault.id in only]
    results = Results(column)
    run_core_tests(faults, results, jobs)
    for folder in folders or ORDER:
        wanted = [
            fault
            for fault in faults
            if results.is_open(fault) and folder in folders_of(fault) and folder not in results.of(fault)["folders"]
        ]
        if wanted:
            _run_folder(folder, wanted, results, jobs)
    for fault in faults:
        if set(folders_of(fault)) <= set(results.of(fault)["folders"]):
            results.close(fault)


def _run_folder(folder: str, faults: list[Fault], results: Results, jobs: int) -> None:
    """Run the tests of a folder for some faults, by a process that collects them once."""
    by_number = {fault.number: fault for fault in faults}
    order = {
        "folder": folder,
        "jobs": jobs,
        "faults": [
            {
                "number": fault.number,
                "on_import": acts_on_import(fault),
                "left_s": LIMIT_S - float(results.of(fault)["seconds"]),
            }
            for fault in faults
        ],
        "reach": str(WORK / f"reach-{folder}.json"),
    }
    print(f"{time.strftime('%H:%M:%S')} {folder}: {len(faults)} faults", flush=True)
    environment = os.environ | {"PATH": f"{TREE / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    with (WORK / f"log-{folder}.txt").open("a") as log:
        server = subprocess.Popen(
            [TREE / ".venv" / "bin" / "python", HERE / "folder.py", json.dumps(order)],
            cwd=TREE,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        for line in server.stdout or ():
            row = json.loads(line)
            fault = by_number[row.pop("number")]
            results.add(fault, folder, **row)
            print(f"{time.strftime('%H:%M:%S')}   {fault.id}: {row}", flush=True)
        if server.wait() != 0:
            raise SystemExit(f"the tests of {folder} could not be run: see {log.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="copy, plant and build")
    parse = commands.add_parser("run", help="run the tests")
    parse.add_argument("--column", default="today", help="name of the results")
    parse.add_argument("--only", nargs="+", default=[], metavar="ID", help="only these faults")
    parse.add_argument("--folders", nargs="+", default=[], metavar="FOLDER", help="only these folders of tests")
    parse.add_argument("--jobs", type=int, default=1, help="faults at a time")
    given = parser.parse_args()
    if given.command == "build":
        build()
    else:
        run(given.column, given.only, given.jobs, given.folders)


if __name__ == "__main__":
    sys.exit(main())
