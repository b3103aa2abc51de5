"""Keeps results of studies in the repository, and draws what the pages show of them.

``python docs/studies.py results/zheng2018 results/packets`` keeps the results of these folders, each either of one
study or of several: ``results/NAME.nc`` beside the study's file. Without a folder it only draws and writes again what
is kept: the figures in ``docs/images/studies``, the sections of the pages between ``<!-- begin NAME -->`` and
``<!-- end NAME -->`` (figures and findings of a study, or a table), and the numbers in their text between ``<!-- = NAME
-->`` and ``<!-- = -->``, which ``PAGE.values.toml`` beside the page defines as a finding does the values of its remark,
with the study that they are of. The tests compare pages with what it would write.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from tradewind.dataset.build import without_empty, write_dataset
from tradewind.dataset.read import read_dataset
from tradewind.figure.curves import valued
from tradewind.figure.figure import draw
from tradewind.plot.export import to_png, to_svg
from tradewind.report.build import build_report, slug
from tradewind.study.cases.environment import here
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import Record
from tradewind.study.claims.finding import CONFIRMED, SOURCE, VERDICTS, Verdict
from tradewind.study.claims.judgement import (
    DECIDED_BY,
    GROUPS,
    bases_in,
    claims_of,
    counted,
    counts,
    judge_all,
    reasons,
)
from tradewind.study.claims.prediction import pairs
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.claims.remarks import LEFT_OUT, value_text
from tradewind.study.model.study import Plot, Study, ValueOf
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.load import load_study

DOCS = Path(__file__).parent
STUDIES = DOCS.parent / "studies"
PICTURES = DOCS / "images" / "studies"
PAGES = {
    "explanation/zheng2018.md": "zheng2018",
    "explanation/zheng2018-figures.md": "zheng2018",
    "explanation/zheng2018-claims.md": "zheng2018",
    "explanation/hpc4wc2024.md": "hpc4wc2024",
    "explanation/hirlam2004.md": "hirlam2004",
    "explanation/escape2018.md": "escape2018",
    "explanation/nek2015.md": "nek2015",
    "explanation/fesom2026.md": "fesom2026",
    "how-to/servers.md": "field_server",
    "explanation/here.md": "here",
    "explanation/gcr.md": "gcr",
    "explanation/on_demand_halo.md": "on-demand-halo",
    "how-to/packets.md": ".",
    "how-to/nodes.md": ".",
}
"""The pages with sections, and the folder of `STUDIES` that they are about."""
AS_PIXELS = ("congestion", "pairs", "matrix")
"""Kinds of plots of so many cells that they are kept as pixels."""
GROUPS_OF_FINDINGS = {f"all-findings-{group}": group for group in GROUPS}
"""The sections with the findings of one group."""
REASONS = 2
"""As many problems of a finding as a table shows."""


@dataclass(frozen=True)
class Kept:
    """A study and the results of it that are kept."""

    name: str
    file: StudyFile
    records: list[Record]
    attributes: dict[str, Any]

    @property
    def study(self) -> Study:
        return self.file.study

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return judge_all(self.file, self.records)

    @property
    def pictures(self) -> Iterator[tuple[Plot, Path]]:
        """The plots of which cases are kept, and their files."""
        for i, plot in enumerate(self.study.plot):
            suffix = "png" if plot.kind in AS_PIXELS else "svg"
            path = PICTURES / f"{self.name}-{i + 1:02}-{slug(plot.title)}.{suffix}"
            if draw(plot, self.records) is not None:
                yield plot, path


def study_file(name: str) -> Path:
    """The file of a study by its name. Raises ValueError for a name that no study has."""
    found = list(STUDIES.glob(f"**/{name}.toml"))
    if len(found) != 1:
        raise ValueError(f"{len(found)} studies are called {name}")
    return found[0]


def kept_file(name: str) -> Path:
    return study_file(name).parent / "results" / f"{name}.nc"


@cache
def load(name: str) -> Kept:
    """The kept results of a study, judged by its file as it is now; without any where none are kept."""
    file = load_study(study_file(name))
    records, attributes = read_dataset(kept_file(name)) if kept_file(name).is_file() else ([], {})
    return Kept(name, file, records, dict(attributes))


def keep(results: Path) -> list[str]:
    """Keeps the results of a study, or of all studies of a folder; returns their names."""
    folders = (
        [results] if (results / "study.toml").is_file() else [file.parent for file in results.glob("*/study.toml")]
    )
    if not folders:
        raise SystemExit(f"error: {results} holds no results: `tradewind study FILE` makes some")
    for folder in folders:
        try:
            target = kept_file(folder.name)
        except ValueError as error:
            raise SystemExit(
                f"error: {folder}: {error}: results lie in a folder that is called as their study"
            ) from None
        target.parent.mkdir(exist_ok=True)
        with xr.open_dataset(build_report(folder, here()).dataset, engine="h5netcdf") as dataset:
            write_dataset(_smaller(without_empty(dataset.load())), target)
        print(f"kept: {target.relative_to(DOCS.parent)}, {target.stat().st_size / 1000:.0f} kB")
    return [folder.name for folder in folders]


def _smaller(dataset: xr.Dataset) -> xr.Dataset:
    """Delays between pairs to 3 digits, of which a study may have a million: else they do not compress."""
    if "pair_delay" not in dataset:
        return dataset
    delays = dataset["pair_delay"]
    spare = 13  # of the 23 bits of a mantissa
    bits = delays.values.astype(np.float32).view(np.uint32) + np.uint32(1 << (spare - 1))
    rounded = (bits >> np.uint32(spare) << np.uint32(spare)).view(np.float32)
    return dataset.assign(pair_delay=(delays.dims, rounded, delays.attrs))


def draw_all() -> None:
    """Draws all kept results, and removes pictures that no plot has any more."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    written = set()
    for file in sorted(STUDIES.glob("**/results/*.nc")):
        kept = load(file.stem)
        for plot, path in kept.pictures:
            path.write_bytes(picture(plot, kept.records))
            written.add(path)
    for old in set(PICTURES.iterdir()) - written:
        old.unlink()


def picture(plot: Plot, records: list[Record]) -> bytes:
    specification = draw(plot, records)
    assert specification is not None
    return to_png(specification) if plot.kind in AS_PIXELS else to_svg(specification).encode()


def figures(name: str) -> str:
    """The figures of a study, and what its findings came to."""
    kept = load(name)
    if not kept.records:
        return "*No results of this study are kept yet.*"
    parts = [f"![{plot.title}](../images/studies/{path.name})\n\n*{_caption(plot)}*" for plot, path in kept.pictures]
    return "\n\n".join([*parts, f"{counts_text(kept.verdicts)}{_notes(kept)}"])


def _caption(plot: Plot) -> str:
    return f"{plot.title}. {plot.note}".strip()


def _notes(kept: Kept) -> str:
    notes = [note for note in json.loads(kept.attributes.get("notes", "[]")) if note.startswith("quick run:")]
    if notes:
        return "".join(f" This was a {note}." for note in notes)
    wanted = len(expand(kept.study)[0])
    if len(kept.records) < wanted:
        return f" This run has not ended: {len(kept.records)} of {wanted} cases."
    return ""


def findings(folder: str, group: str | None = None) -> str:
    """All findings of the studies of a folder, or those of one group, a table for each group; of the studies without
    results only their names. Without a group, studies that have bases stand apart from those that have none."""
    studies = list(_all_of(folder))
    kept = [each for each in studies if each.records]
    missing = [each.name for each in studies if not each.records]
    open_ones = f" No results are kept yet of {', '.join(missing)}." if missing else ""
    parts = [kept] if group else [[each for each in kept if bool(each.study.base) == based] for based in (False, True)]
    texts = []
    for part in parts if any(parts) else [kept]:
        verdicts = [verdict for each in part for verdict in each.verdicts if group in (None, verdict.group)]
        if part or not any(parts):
            texts.append(f"{counts_text(verdicts)}{open_ones}\n\n{claims_tables(verdicts, 'figure')}")
            open_ones = ""
    return "\n\n".join(texts)


def counts_text(verdicts: Sequence[Verdict]) -> str:
    """Return the counts of verdicts: a sentence, or a table where groups or bases are counted apart."""
    found = counts(verdicts)
    if len(found) < 2:
        return f"Claims tested: {counted(verdicts)}."
    rows = [(count.name, *count.verdicts.values()) for count in found]
    return _table(("claims", *found[0].verdicts), rows)


def claims_tables(verdicts: Sequence[Verdict], figure: str) -> str:
    """The claims of each group in a table, under a line that names it where there are others than the source's."""
    groups = [group for group in GROUPS if any(verdict.group == group for verdict in verdicts)]
    tables = [_claims_table([v for v in verdicts if v.group == group], figure) for group in groups or [SOURCE]]
    if groups in ([], [SOURCE]):
        return tables[0]
    return "\n\n".join(f"*Claims: {GROUPS[group]}*\n\n{table}" for group, table in zip(groups, tables, strict=True))


def _claims_table(verdicts: Sequence[Verdict], figure: str) -> str:
    """One row for each claim: what became of it, under each base, what decides it, and why."""
    bases, claims = bases_in(verdicts), claims_of(verdicts)
    decided = ["decided by"] if any(claim.decided_by for claim in claims) else []
    rows = []
    for claim in claims:
        words = [f"**{word}**" if word == CONFIRMED else word for word in claim.words(bases)]
        by = [DECIDED_BY[claim.decided_by] if claim.decided_by else ""] if decided else []
        rows.append((claim.figure, claim.text, *words, *by, ". ".join(reasons(claim.each, _problems))))
    return _table((figure, "claim", *(bases or ["here"]), *decided, "because"), rows)


def _all_of(folder: str) -> Iterator[Kept]:
    for file in sorted((STUDIES / folder).glob("*.toml"), key=lambda file: _order(file.stem)):
        yield load(file.stem)


def cost(folder: str) -> str:
    """Return the total wall time of the simulations of a folder's studies, each counted once."""
    records = {record["key"]: record for kept in _all_of(folder) for record in kept.records}
    simulated = [record for record in records.values() if record["kind"] == "simulate"]
    minutes = sum(record["wall_s"] for record in simulated) / 60
    cores = ", ".join(dict.fromkeys(str(record["environment"]["cpu"]) for record in simulated))
    took = f"{minutes:.0f} minutes, added up ({cores}): {minutes / 2:.0f} where two run side by side"
    return f"The {len(simulated)} simulations that are kept took {took}.\n\n{repetitions(folder)}"


def repetitions(folder: str) -> str:
    """Return the number of extrapolated exchanges and their accuracy, by study."""
    rows = []
    for kept in _all_of(folder):
        results = (record["result"] for record in kept.records)
        steady = [result for result in results if result.get("extrapolated_change") is not None]
        if not steady:
            continue
        times = [round(result["simulated_times"]) for result in steady]
        changes = [abs(result["extrapolated_change"]) for result in steady]
        share = sum(change <= 1e-3 for change in changes) / len(changes)
        rows.append((kept.name, len(steady), f"{min(times)} to {max(times)}", f"{share:.0%}", f"{max(changes):.2%}"))
    return _table(("study", "cases", "simulated of 50", "that agree to 0.1 %", "farthest apart"), rows)


def _order(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def all_counts(folder: str) -> str:
    """Return the counts of verdicts of all studies of a folder, and the tests that decide the source's claims."""
    verdicts = [verdict for kept in _all_of(folder) if kept.records for verdict in kept.verdicts]
    bases = bases_in(verdicts)
    rows: dict[str, Counter[str]] = {}
    for claim in claims_of(verdicts):
        if claim.group == SOURCE and claim.decided_by:
            words = claim.words(bases)
            rows.setdefault(DECIDED_BY[claim.decided_by], Counter()).update(
                f"{b}: {w}" for b, w in zip(bases, words, strict=True)
            )
    columns = [f"{base}: {word}" for base in bases for word in VERDICTS[:2]]
    table = [(by, *(found[column] for column in columns)) for by, found in rows.items()]
    return f"{counts_text(verdicts)}\n\n{_table(('what decides claims of the source', *columns), table)}"


def _problems(verdict: Verdict) -> str:
    """The first problems of a finding."""
    problems = verdict.because.split("; ")
    more = f"; and {len(problems) - REASONS} more" if len(problems) > REASONS else ""
    return "; ".join(problems[:REASONS]) + more


def own_findings(name: str) -> str:
    """The findings of a study; of those without problems or remark the first of the values behind them."""
    bases, verdicts = bases_in(load(name).verdicts), load(name).verdicts
    if bases or any(verdict.group != SOURCE for verdict in verdicts):
        return f"{counts_text(verdicts)}\n\n{claims_tables(verdicts, 'case')}"
    rows = [
        (v.figure, v.claim, v.verdict, ". ".join(reasons([v], _problems)) or "; ".join(v.figures[:1])) for v in verdicts
    ]
    return _table(("case", "claim", "here", "because"), rows)


def outliers(name: str) -> str:
    """The cases that are simulated farther from what is measured than the study's first finding of that kind allows."""
    kept = load(name)
    finding = next(f for f in kept.study.finding if f.predicts is not None)
    groups: dict[tuple[str, ...], list[str]] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    assert finding.predicts is not None
    for case, simulated, measured in pairs(finding, kept.records, finding.predicts):
        part = " ".join(str(case[label]) for label in ("grid", "split", "slab") if case[label] is not None)
        group = (case["exchange"], part, case["packing"])
        counts[group] += 1
        if abs(simulated / measured - 1) > finding.tolerance:
            groups.setdefault(group, []).append(f"{case['transport']} {simulated / measured:.2f}")
    rows = [(*group, f"{len(found)} of {counts[group]}", ", ".join(found)) for group, found in groups.items()]
    return _table(("exchange", "of", "packing", "cases", "simulated over measured"), rows)


SIZES = ("4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "message")
UNBOUNDED = ("transposition", "halo", "allreduce", "long messages")
"""Sweeps of the study of packets without finite buffers, other routings, or messages that are compared."""


def packets() -> str:
    """The time with each size of packets over that with 4 KiB, by exchange, machine and ranks."""
    rows: dict[tuple[str, str, int], dict[str, float]] = {}
    for record, ratio in _over_4_kib(UNBOUNDED):
        rows.setdefault((record["sweep"], record["machine"], record["ranks"]), {})[record["packet"]] = ratio
    cells = [(*key, *(f"{row[size]:.3f}" if size in row else "" for size in SIZES)) for key, row in rows.items()]
    return _table(("exchange", "machine", "ranks", *SIZES), cells)


def packet_ranges() -> str:
    """The same of all other sweeps, from the least to the greatest: by sweep, machine, routing and buffers."""
    others = [sweep.name for sweep in load("packets").study.sweep if sweep.name not in UNBOUNDED]
    rows: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for record, ratio in _over_4_kib(others):
        buffers = (record["settings"] or record["buffers"]).replace("switch.buffer=", "").replace("link.", "")
        key = (record["sweep"], record["machine"], record["routing"], buffers)
        rows.setdefault(key, {}).setdefault(record["packet"], []).append(ratio)
    sizes = [size for size in SIZES[1:] if any(size in row for row in rows.values())]
    cells = [(*key, *(_from_to(row.get(size, [])) for size in sizes)) for key, row in rows.items()]
    return _table(("sweep", "machine", "routing", "buffers", *sizes), cells)


def _from_to(values: Sequence[float]) -> str:
    if not values:
        return ""
    minimum, maximum = f"{min(values):.2f}", f"{max(values):.2f}"
    return minimum if minimum == maximum else f"{minimum} to {maximum}"


def _over_4_kib(sweeps: Sequence[str]) -> list[tuple[Record, float]]:
    """The cases of some sweeps of the study of packets, and their times over those with packets of 4 KiB."""
    plot = Plot(title="", of=[{}], curve="sweep", along="packet", over={"packet": ["4KiB"]})
    return [
        pair for sweep in sweeps for pair in valued(plot, [r for r in load("packets").records if r["sweep"] == sweep])
    ]


RULES = ("calls", "pokes", "thread")
"""The rules by which a reduction that was started goes on."""


def gcr_solvers() -> str:
    """The time of two iterations in ms, by levels, ranks and overhead: of GCR, classic, and pipelined by each rule."""
    rows: dict[tuple[int, int, str], dict[str, float]] = {}
    for record in load("gcr-solvers").records:
        if record["dwarf"] == "helmholtz":
            levels = int(str(record["grid"]).split("x")[-1])
            solver = record["mpi_progress"] if record["strategy"] == "pipelined" else "classic"
            rows.setdefault((levels, record["ranks"], record["base"]), {})[solver] = 1e3 * record["time_s"]
    cells = [
        (levels, f"{ranks:,}", base, *(f"{rows[key][solver]:.3g}" for solver in ("classic", *RULES)))
        for key in sorted(rows, key=lambda key: (-key[0], *key[1:]))
        for levels, ranks, base in [key]
    ]
    return _table(("levels", "ranks", "messages", "classic", *(f"pipelined, {rule}" for rule in RULES)), cells)


def gcr_exchanges() -> str:
    """The time of 50 allreduces and of a transposition in ms, by algorithm, overhead and ranks."""
    rows: dict[tuple[str, str, str], dict[int, float]] = {}
    for record in load("gcr-solvers").records:
        if record["sweep"] in ("50 allreduces", "transposition"):
            key = (record["sweep"], record["algorithm"], record["base"])
            rows.setdefault(key, {})[record["ranks"]] = 1e3 * record["time_s"]
    ranks = sorted({count for row in rows.values() for count in row})
    cells = [(*key, *(f"{row[n]:.3g}" if n in row else "" for n in ranks)) for key, row in rows.items()]
    return _table(("exchange", "algorithm", "messages", *(f"{n:,} ranks" for n in ranks)), cells)


BOTH = ("wide", "on-demand")
"""The strategies of the dwarf semi_lagrangian that are compared."""


def _beside_compute(record: Record) -> float:
    found = quantity_of(record, "non-compute")
    assert found is not None
    return 1e3 * found


def on_demand_acceptance() -> str:
    """Time of a step in ms that is not computing, by buffers and ranks: of columns on demand, of each width of halo."""
    rows: dict[tuple[str, int], dict[int | None, float]] = {}
    for record in load("acceptance").records:
        rows.setdefault((record["base"], record["ranks"]), {})[record["width"]] = _beside_compute(record)
    widths = sorted({width for row in rows.values() for width in row if width is not None})
    cells = [
        (base, f"{ranks:,}", *(f"{row[width]:.3g}" for width in (None, *widths)))
        for (base, ranks), row in sorted(rows.items())
    ]
    return _table(("buffers", "ranks", "on demand", *(f"{width} points" for width in widths)), cells)


def on_demand_ranks(sweeps: Sequence[str]) -> str:
    """Bytes and time beside computing of both strategies, by wind, tracers and ranks: MB per rank, and ms."""
    rows: dict[tuple[float, int, int], dict[str, Record]] = {}
    for record in load("ranks").records:
        if record["sweep"] in sweeps:
            key = (float(record["wind"]), record["tracers"], record["ranks"])
            rows.setdefault(key, {})[record["strategy"]] = record
    cells = []
    for (wind, tracers, ranks), found in sorted(rows.items()):
        if len(found) < len(BOTH):
            continue
        sent = [found[each]["result"]["bytes"] / ranks / 1e6 for each in BOTH]
        times = [_beside_compute(found[each]) for each in BOTH]
        numbers = (f"{number:.3g}" for number in (*sent, *times, times[1] / times[0]))
        cells.append((f"{wind:g}", tracers, f"{ranks:,}", *numbers))
    header = ("m/s", "tracers", "ranks", "MB per rank: wide", "on demand", "ms: wide", "on demand", "on demand / wide")
    return _table(header, cells)


def on_demand_here() -> str:
    """A step on two ranks in ms, measured and simulated, by strategy, points that the wind passes, and tracers."""
    rows: dict[tuple[float, int], dict[tuple[str, str], float]] = {}
    for record in load("here").records:
        key = (float(record["wind"]) * float(record["dt_s"]) / float(record["spacing_m"]), record["tracers"])
        rows.setdefault(key, {})[record["strategy"], record["kind"]] = 1e3 * record["time_s"]
    if not rows:
        return "*No results of this study are kept yet.*"
    cells = []
    for (points, tracers), row in sorted(rows.items()):
        numbers = []
        for strategy in BOTH:
            measured, simulated = row[strategy, "run"], row[strategy, "simulate"]
            numbers += [f"{measured:.4g}", f"{simulated:.4g}", f"{simulated / measured:.2f}"]
        cells.append((f"{points:g}", tracers, *numbers, f"{row['on-demand', 'run'] / row['wide', 'run']:.2f}"))
    each = ("measured", "simulated", "ratio")
    header = ("points", "tracers", *(f"{strategy}: {word}" for strategy in BOTH for word in each), "on demand / wide")
    return _table(header, cells)


ON_DEMAND: dict[str, Callable[[], str]] = {
    "on-demand-acceptance": on_demand_acceptance,
    "on-demand-ranks": lambda: on_demand_ranks(("strategies", "a million")),
    "on-demand-buffers": lambda: on_demand_ranks(("finite buffers",)),
    "on-demand-here": on_demand_here,
}
"""The tables of the page about columns on demand."""


def _table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in line) + " |" for line in lines
    )


def section(name: str, folder: str) -> str:
    """Return the text between the marks of a section."""
    if name == "all-findings":
        return findings(folder)
    if name in GROUPS_OF_FINDINGS:
        return findings(folder, GROUPS_OF_FINDINGS[name])
    if name == "all-counts":
        return all_counts(folder)
    if name == "cost":
        return cost(folder)
    if name == "packets-table":
        return packets()
    if name == "packets-ranges":
        return packet_ranges()
    if name == "gcr-solvers":
        return gcr_solvers()
    if name == "gcr-exchanges":
        return gcr_exchanges()
    if name in ON_DEMAND:
        return ON_DEMAND[name]()
    if name.endswith("-outliers"):
        return outliers(name.removesuffix("-outliers"))
    if name.endswith("-findings"):
        return own_findings(name.removesuffix("-findings"))
    return figures(name)


def with_values(page: str, text: str) -> str:
    """The text of a page with its numbers as they should be. Raises ValueError for a name that its file of values
    lacks, one that it has in vain, and cases that are not kept."""
    file = (DOCS / page).with_suffix(".values.toml")
    known = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    used = set()

    def number(found: re.Match[str]) -> str:
        name = found[2]
        if name not in known:
            raise ValueError(f"{page}: {file.name} has no value {name}")
        used.add(name)
        value = dict(known[name])
        study = value.pop("study")
        shown = value_text(ValueOf.model_validate(value), None, load(study).records)
        if shown == LEFT_OUT:
            raise ValueError(f"{file.name}: {name}: no case of {study} is kept that it selects")
        return f"{found[1]}{shown}{found[3]}"

    text = re.sub(r"(<!-- = (\w+) -->).*?(<!-- = -->)", number, text)
    if idle := sorted(set(known) - used):
        raise ValueError(f"{file.name}: {page} does not use {', '.join(idle)}")
    return text


def filled(page: str) -> str:
    """The text of a page with its numbers and sections as they should be."""
    marks = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
    text = with_values(page, (DOCS / page).read_text(encoding="utf-8"))
    return marks.sub(lambda found: f"{found[1]}\n{section(found[2], PAGES[page])}\n\n{found[3]}", text)


def main(folders: list[str]) -> None:
    for folder in folders:
        keep(Path(folder))
    draw_all()
    for page in PAGES:
        (DOCS / page).write_text(filled(page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
