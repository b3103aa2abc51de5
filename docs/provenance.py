"""Checks where kept results come from, and keeps them true: commits, programs and findings of studies/**/results/*.nc.

``python docs/provenance.py`` prints for each kept file the commits of its records, and which records are marked.

========================== =============================================================================================
``check``                  what `make lint` asks: each record names a clean commit of the history, or is marked; each
                           simulated one has the hash of its program, or is marked; the file lists the commits of its
                           records, and its findings are those that are judged today
``write``                  judges the findings of all kept files again, and writes them with the lists of commits; marks
                           and hashes stay, and nothing is simulated
``adopt [SECONDS]``        builds the programs of all simulated records. A record without a hash gets it where a random
                           sample of its study, of SECONDS in all, is simulated now bit for bit as it was; a record of
                           another program is marked "earlier model"
``again SECONDS``          simulates the marked records, and those of changed source trees, that took no more than so
                           many seconds each; marks those that took longer
========================== =============================================================================================

Names of studies after a command limit it to these. `adopt` and `again` use one thread.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from kept_results import DOCS, STUDIES, study_file

from tradewind.base.errors import TradewindError
from tradewind.dataset.build import (
    CHANGED_TREE,
    EARLIER_MODEL,
    ORIGINS,
    STEP,
    TEXTS,
    build_dataset,
    commits_of,
    without_empty,
    write_dataset,
)
from tradewind.dataset.read import records_of
from tradewind.simulation import prepare
from tradewind.study.cases.case import Case
from tradewind.study.cases.environment import here
from tradewind.study.cases.records import Record, record_of
from tradewind.study.cases.store import FORMER_KEYS
from tradewind.study.claims.judgement import judge_all
from tradewind.study.model.labels import LABELS
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import Planned, make_plan
from tradewind.study.runner.executors import default_executors
from tradewind.study.runner.task import make_task, run_task
from tradewind.workload.repetitions import first_of

ROOT = DOCS.parent
SHORT = 12
"""Digits of a commit in a record."""
LONGEST_S = 3.0
"""Wall time, when it was computed, of a case that is drawn at random."""
NOT_COMPARED = {"wall_time", "peak_rss", "memory", "pair_delay", "pair_blocks", *ORIGINS, *TEXTS, *LABELS}
"""Variables that are about the computer, or are kept in fewer digits."""
CLEAN, CHANGED, UNKNOWN = "clean", "changed tree", "not in the history"


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@cache
def history() -> frozenset[str] | None:
    """Return the commits of the history; None in a copy without one, or with a part of it."""
    if not (ROOT / ".git").exists():
        return None
    try:
        if git("rev-parse", "--is-shallow-repository") != "false":
            return None
        return frozenset(commit[:SHORT] for commit in git("log", "--format=%H").split())
    except (OSError, subprocess.CalledProcessError):
        return None


def clean_commit() -> str:
    """Return the commit of the source tree, in which kept results alone may differ. Ends the program otherwise."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!studies/*results/*.nc")
    if changed:
        raise SystemExit(f"error: commit first what differs from the last commit:\n{changed}")
    return git("rev-parse", f"--short={SHORT}", "HEAD")


@dataclass
class KeptFile:
    """A kept file, as it is and as it would be written."""

    path: Path
    dataset: xr.Dataset

    @classmethod
    def read(cls, path: Path, cases: list[int] | None = None) -> KeptFile:
        """Read a file, or some of its cases alone."""
        with xr.open_dataset(path, engine="netcdf4") as opened:  # h5netcdf takes five times as long
            dataset = (opened if cases is None else opened.isel(case=cases)).load()
        dataset = dataset.rename({former: name for former, name in FORMER_KEYS.items() if former in dataset})
        return cls(path, dataset.assign_coords(case=dataset["case"].astype(str).astype(object)))

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def study(self) -> StudyFile:
        return load_study(study_file(self.name))

    @property
    def records(self) -> list[Record]:
        return records_of(self.dataset)

    def texts(self, variable: str) -> list[str]:
        """Return a text of each case."""
        if variable not in self.dataset:
            return [""] * self.dataset.sizes["case"]
        return [str(value) for value in self.dataset[variable].values]

    def set_texts(self, variable: str, texts: list[str]) -> None:
        attributes = {"units": "1", "long_name": (TEXTS | ORIGINS)[variable]}
        self.dataset[variable] = ("case", np.array(texts, dtype=object), attributes)

    def origin(self, commit: str) -> str:
        """Return what a commit of a record is: clean, of a changed tree, or unknown where there is a history."""
        known = history()
        if commit.endswith("-dirty"):
            return CHANGED
        return CLEAN if known is None or commit in known else UNKNOWN

    def today(self) -> dict[str, str]:
        """Return the attributes that are made from the records."""
        records = self.records
        findings = json.dumps([verdict.as_dict() for verdict in judge_all(self.study, records)])
        return {"findings": findings, **commits_of(records)}

    def is_today(self) -> bool:
        """Whether it would be written as it is. Of two files with the same content bytes may differ."""
        today = self.today()
        same = "git_commit" not in self.dataset.attrs and self.marks() == self.texts("mark")
        return same and all(self.dataset.attrs.get(n) == v for n, v in today.items())

    def marks(self) -> list[str]:
        """Return the marks without those of commits that have become part of the history, by a merge."""
        marks = self.texts("mark")
        if history() is None:
            return marks
        each = zip(marks, self.texts("commit"), strict=True)
        return [without(mark, CHANGED_TREE) if self.origin(commit) == CLEAN else mark for mark, commit in each]

    def write(self) -> None:
        if any(marks := self.marks()) or "mark" in self.dataset:
            self.set_texts("mark", marks)
        self.dataset.attrs.pop("git_commit", None)  # of files before their records were listed
        self.dataset.attrs |= self.today()
        write_dataset(without_empty(self.dataset), self.path)

    def problems(self) -> Iterator[str]:
        """Yield what `check` refuses."""
        kinds, commits, marks = self.texts("kind"), self.texts("commit"), self.texts("mark")
        for kind, commit, mark, program in zip(kinds, commits, marks, self.texts("program"), strict=True):
            if kind != "published" and not mark and self.origin(commit) != CLEAN:
                yield f"records of {commit or 'no commit'} ({self.origin(commit)}) have no mark: `again`"
            if kind == "simulate" and not program and EARLIER_MODEL not in mark:
                yield "simulated records have neither the hash of a program nor a mark: `adopt`"
        for name, value in self.today().items():
            if self.dataset.attrs.get(name) != value:
                yield f"the attribute {name} is not that of today: `write`"


def kept_files(names: list[str]) -> Iterator[KeptFile]:
    paths = sorted(STUDIES.glob("**/results/*.nc"))
    if unknown := sorted(set(names) - {path.stem for path in paths}):
        raise SystemExit(f"error: no results of {', '.join(unknown)} are kept")
    for path in paths:
        if not names or path.stem in names:
            yield KeptFile.read(path)


def program_alone(workload: Any, machine: Any, *, steady: bool | float = False, **options: Any) -> dict[str, Any]:
    """Return the hash of a program as a forecast does, without an estimate of the cost."""
    options.pop("congestion", None)
    prepared = prepare(workload if steady is False else first_of(workload, steady), machine, **options)
    return {"program": f"{prepared.program().fingerprint:016x}", "wall_s": 0.0, "memory_bytes": 0.0}


def planned_today(study: StudyFile, records: list[Record]) -> dict[tuple[str, str], Planned]:
    """Return the simulated cases of a study as they are planned today, at least those that are like some records.

    By sweep and key: sweeps that differ in the power of a machine alone share what is stored.
    """
    wanted = {tuple(record[label] for label in ("sweep", "ranks", "base", "machine", "exchange")) for record in records}

    def is_wanted(case: Case) -> bool:
        named = (case.sweep, case.workload.ranks, case.under.base, case.options.get("machine"), case.label)
        return case.kind == "simulate" and named in wanted

    sweeps = [sweep for sweep in study.study.sweep if sweep.name in {record["sweep"] for record in records}]
    alone = study.study.model_copy(update={"sweep": sweeps, "plot": [], "finding": []})
    executors = replace(default_executors(), forecast=program_alone)
    plan = make_plan(replace(study, study=alone), executors, here(), is_wanted)
    return {(planned.case.sweep, planned.key): planned for planned in plan.planned}


def place_of(record: Record) -> tuple[str, str]:
    """Return the sweep and the key of a record."""
    return str(record["sweep"]), str(record["key"])


def simulated_now(planned: Planned, commit: str) -> Record:
    """Return the record of a case that is simulated now, with one thread."""
    outcome = run_task(make_task(planned, default_executors().simulate))
    if outcome.result is None:
        raise TradewindError(f"{planned.case.name}: {outcome.error}")
    environment = {**here().as_dict(), "commit": commit}
    body = {
        "key": planned.key,
        "identity": planned.identity,
        "program": planned.program,
        "result": outcome.result,
        "wall_s": outcome.wall_s,
        "environment": environment,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return record_of(planned.entry, body, here(), planned.machine)


def differences(dataset: xr.Dataset, i: int, record: Record) -> list[str]:
    """Return the names of the numbers of a kept case that are not those of a record, bit for bit."""
    made = _made(dataset, record)
    found = []
    for name, kept in dataset.variables.items():
        if kept.dtype.kind != "f" or "case" not in kept.dims or name in NOT_COMPARED:
            continue
        before = kept.values[i].ravel()
        now = made[name].values[0].ravel() if name in made else np.array([])
        before, now = before[~np.isnan(before)], now[~np.isnan(now)]
        if before.size and not np.array_equal(before, now):  # a value that was not kept then differs from nothing
            found.append(str(name))
    return found


def _made(dataset: xr.Dataset, record: Record) -> xr.Dataset:
    """Return the Dataset of one record; the times of its steps have the names that they have in another Dataset."""
    made = build_dataset([record], {})
    names = {each.attrs.get("long_name"): name for name, each in dataset.data_vars.items()}
    steps = {name: str(each.attrs["long_name"]) for name, each in made.data_vars.items()}
    return made.rename({name: names[text] for name, text in steps.items() if text.startswith(STEP) and text in names})


def drawn(records: list[Record], able: list[int], seconds: float, seed: object) -> list[int]:
    """Return the numbers of some of these records that cost `seconds` in all; the cheapest one at least."""
    able = sorted(able, key=lambda i: float(records[i]["wall_s"]))
    able = [i for i in able if records[i]["wall_s"] < LONGEST_S] or able[:1]
    random.Random(str(seed)).shuffle(able)
    chosen: list[int] = []
    for i in able:
        if not chosen or sum(records[j]["wall_s"] for j in chosen) + records[i]["wall_s"] <= seconds:
            chosen.append(i)
    return chosen


def survey(names: list[str]) -> None:
    total: Counter[str] = Counter()
    for file in kept_files(names):
        found = Counter(
            (kind, commit, "" if kind == "published" else file.origin(commit), mark, "" if program else "no hash")
            for kind, commit, mark, program in zip(
                *(file.texts(name) for name in ("kind", "commit", "mark", "program")), strict=True
            )
        )
        print(file.path.relative_to(ROOT))
        for (kind, commit, origin, mark, hashed), count in sorted(found.items()):
            unhashed = hashed if kind == "simulate" else ""
            print("   ", "  ".join(part for part in (f"{count:5} {kind}", commit, origin, mark, unhashed) if part))
            total[f"{kind}, {origin}" if origin else kind] += count
    print("\n".join(f"{count:6} {what}" for what, count in sorted(total.items())))


def check(names: list[str]) -> None:
    if history() is None:
        print("this copy has no whole history: whether the commits of kept records are part of it is not checked")
    problems = []
    for file in kept_files(names):
        for text, count in Counter(file.problems()).items():
            problems.append(f"{file.path.relative_to(ROOT)}: {f'{count} ' if text[0] in 'rs' else ''}{text}")
    if problems:
        raise SystemExit("\n".join([*problems, "the commands are those of docs/provenance.py"]))


def write(names: list[str]) -> None:
    for file in kept_files(names):
        if not file.is_today():
            file.write()
            print(f"written: {file.path.relative_to(ROOT)}", flush=True)


def adopt(names: list[str], seconds: float) -> None:
    commit = clean_commit()
    for file in kept_files(names):
        records = file.records
        if all(record["kind"] != "simulate" for record in records):
            continue
        plan = planned_today(file.study, records)
        unknown = [
            i
            for i, record in enumerate(records)
            if place_of(record) in plan and not record["program"] and EARLIER_MODEL not in (record["mark"] or "")
        ]
        sample = drawn(records, unknown, seconds, commit)
        differing = {}
        for i in sample:
            if found := differences(file.dataset, i, simulated_now(plan[place_of(records[i])], commit)):
                differing[i] = found
        programs, marks = file.texts("program"), file.texts("mark")
        for i, record in enumerate(records):
            if record["kind"] != "simulate" or EARLIER_MODEL in marks[i]:
                continue
            planned = plan.get(place_of(record))
            is_same = (i in sample and i not in differing) or (bool(sample) and not differing)
            if planned is None or record["program"] not in (None, planned.program):
                marks[i] = marked(marks[i], EARLIER_MODEL)
            elif record["program"] is None and is_same:
                programs[i] = str(planned.program)
            elif record["program"] is None:
                marks[i] = marked(marks[i], EARLIER_MODEL)
        file.set_texts("program", programs)
        file.set_texts("mark", marks)
        file.write()
        earlier = sum(EARLIER_MODEL in mark for mark in marks)
        print(f"{file.name}: {len(sample)} simulated, {len(differing)} differ; {earlier} of {len(records)} marked")
        for i, found in differing.items():
            print(f"    {records[i]['exchange']}, {records[i]['ranks']} ranks: {', '.join(found)}")
        sys.stdout.flush()


def without(mark: str, part: str) -> str:
    return ", ".join(each for each in mark.split(", ") if each != part)


def marked(mark: str, more: str) -> str:
    return ", ".join(dict.fromkeys([*filter(None, mark.split(", ")), more]))


def again(names: list[str], longest_s: float) -> None:
    commit = clean_commit()
    for file in kept_files(names):
        records = file.records
        wanted = [
            i
            for i, record in enumerate(records)
            if record["kind"] == "simulate"
            and (record["mark"] or file.origin(str(record["environment"]["commit"])) != CLEAN)
        ]
        if not wanted:
            continue
        cheap = [i for i in wanted if records[i]["wall_s"] <= longest_s]
        plan = planned_today(file.study, [records[i] for i in cheap])
        counts: Counter[str] = Counter()
        for i in wanted:
            planned = plan.get(place_of(records[i])) or _alike(records[i], [*plan.values()]) if i in cheap else None
            if planned is None:
                marks = file.texts("mark")
                is_clean = file.origin(str(records[i]["environment"]["commit"])) == CLEAN
                marks[i] = marks[i] if is_clean else marked(marks[i], CHANGED_TREE)
                marks[i] = marks[i] if records[i]["program"] else marked(marks[i], EARLIER_MODEL)
                file.set_texts("mark", marks)
                counts["marked"] += 1
                continue
            record = simulated_now(planned, commit)
            counts["other values than before" if differences(file.dataset, i, record) else "bit-equal"] += 1
            file.dataset = with_case(file.dataset, i, record)
        file.write()
        print(f"{file.name}: {', '.join(f'{count} {what}' for what, count in counts.items())}", flush=True)


def _alike(record: Record, plan: list[Planned]) -> Planned | None:
    """Return the one planned case with the labels of a record; None where several or none have them."""
    found = {}
    for planned in plan:
        labels = planned.case.labels
        # Values of the machine, where the study names none, are known of a record alone.
        if all(record.get(label) == value for label, value in labels.items() if value is not None):
            found[planned.key] = planned
    return next(iter(found.values())) if len(found) == 1 else None


def with_case(dataset: xr.Dataset, i: int, record: Record) -> xr.Dataset:
    """Return a Dataset in which one case is that of a record."""
    made = _made(dataset, record)
    variables = dict(dataset.variables)
    for name in {*dataset.variables, *made.variables}:
        kept, now = dataset.variables.get(name), made.variables.get(name)
        if kept is None:
            assert now is not None
            kept = xr.Variable(now.dims, np.full((dataset.sizes["case"], *now.shape[1:]), _nothing(now)), now.attrs)
        if "case" not in kept.dims:
            continue
        values = kept.values.astype(object if kept.dtype.kind in "OUS" else float)  # a copy
        if now is not None and now.ndim > 1 and now.shape[1] > values.shape[1]:
            values = np.pad(values, ((0, 0), (0, now.shape[1] - values.shape[1])), constant_values=np.nan)
        values[i] = _nothing(kept)
        if now is not None and now.ndim > 1:
            values[i, : now.shape[1]] = now.values[0]
        elif now is not None:
            values[i] = now.values[0]
        variables[name] = xr.Variable(kept.dims, values, kept.attrs)
    sizes = {d: max(v.sizes[d] for v in variables.values() if d in v.dims) for d in dataset.dims}
    padded = {name: _padded(variable, sizes) for name, variable in variables.items()}
    coordinates = [name for name in dataset.coords]
    return xr.Dataset(padded, attrs=dataset.attrs).set_coords([name for name in coordinates if name != "case"])


def _padded(variable: xr.Variable, sizes: dict[Any, int]) -> xr.Variable:
    short = {d: (0, sizes[d] - n) for d, n in variable.sizes.items() if d in sizes and n < sizes[d]}
    return variable.pad(short, constant_values=np.nan) if short else variable


def _nothing(variable: xr.Variable) -> Any:
    return "" if variable.dtype.kind in "OUS" else np.nan


def main(arguments: list[str]) -> None:
    command, *rest = arguments or ["survey"]
    commands = {"survey": survey, "check": check, "write": write}
    if command in commands:
        commands[command](rest)
    elif command in ("adopt", "again"):
        seconds = float(rest.pop(0)) if rest and rest[0].replace(".", "").isdigit() else LONGEST_S
        (adopt if command == "adopt" else again)(rest, seconds)
    else:
        raise SystemExit(f"error: {command!r}: survey, check, write, adopt and again are allowed")


if __name__ == "__main__":
    main(sys.argv[1:])
