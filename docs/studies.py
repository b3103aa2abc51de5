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
from collections.abc import Iterator, Sequence
from pathlib import Path

from claims import CLAIMS
from kept_results import AS_PIXELS, DOCS, PICTURES, STUDIES, Kept, keep, load
from model_tables import HOURS
from study_tables import TABLES, table
from unexplained_tables import FACTORS

from tradewind.dataset.build import CHANGED_TREE, EARLIER_MODEL
from tradewind.figure.figure import draw
from tradewind.plot.export import to_png, to_svg
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
    reasons,
    verdicts_of,
)
from tradewind.study.claims.prediction import pairs
from tradewind.study.claims.remarks import LEFT_OUT, value_text
from tradewind.study.model.study import Plot, ValueOf

PAGES = {
    "explanation/zheng2018.md": "zheng2018",
    "explanation/zheng2018-figures.md": "zheng2018",
    "explanation/zheng2018-claims.md": "zheng2018",
    "explanation/zheng2018-million.md": ".",
    "explanation/hpc4wc2024.md": "hpc4wc2024",
    "explanation/hpc4wc2024-claims.md": "hpc4wc2024",
    "explanation/hirlam2004.md": "hirlam2004",
    "explanation/hirlam2004-claims.md": "hirlam2004",
    "explanation/escape2018.md": "escape2018",
    "explanation/escape2018-claims.md": "escape2018",
    "explanation/nek2015.md": "nek2015",
    "explanation/fesom2026.md": "fesom2026",
    "how-to/servers.md": "field_server",
    "explanation/here.md": "here",
    "explanation/here-dwarfs.md": "here",
    "explanation/energy.md": "energy",
    "explanation/gcr.md": "gcr",
    "explanation/arome-scaling.md": "arome",
    "explanation/resolution.md": "resolution",
    "explanation/spectral_or_grid_point.md": "spectral_or_grid_point",
    "explanation/spectral_or_grid_point_choices.md": "spectral_or_grid_point",
    "explanation/spectral_or_grid_point-claims.md": "spectral_or_grid_point",
    "explanation/on_demand_halo.md": "on-demand-halo",
    "explanation/unexplained.md": "unexplained",
    "how-to/packets.md": ".",
    "explanation/packets-claims.md": ".",
    "explanation/packet-order.md": ".",
    "explanation/nodes-claims.md": ".",
    "explanation/claims.md": ".",
}
"""The pages with sections, and the folder of `STUDIES` that they are about."""
GROUPS_OF_FINDINGS = {f"all-findings-{group}": group for group in GROUPS}
"""The sections with the findings of one group."""
MARKS = {
    EARLIER_MODEL: "were simulated by an earlier model: their times today would be others, or are not known",
    CHANGED_TREE: "were computed from a source tree that is no commit of the history",
}
"""The marks of kept cases, as pages explain them."""
REASONS = 2
"""As many problems of a finding as a table shows."""


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
    counts, notes = counts_text(kept.verdicts), _notes(kept).strip()
    between = "" if not notes else "\n\n" if counts.endswith("|") else " "  # a table ends before them
    return "\n\n".join([*parts, f"{counts}{between}{notes}"])


def _caption(plot: Plot) -> str:
    return f"{plot.title}. {plot.note}".strip()


def _notes(kept: Kept) -> str:
    return _marks(kept) + _missing(kept)


def _marks(kept: Kept) -> str:
    """Return how many cases have a mark, and why."""
    counts = Counter(mark for record in kept.records for mark in (record["mark"] or "").split(", ") if mark)
    of = len(kept.records)
    return "".join(f" {counts[mark]} of {of} cases {text}." for mark, text in MARKS.items() if counts[mark])


def _missing(kept: Kept) -> str:
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
    words = verdicts_of(found)
    return table(("claims", *words), [(count.name, *(count.verdicts[word] for word in words)) for count in found])


def claims_tables(verdicts: Sequence[Verdict], figure: str) -> str:
    """The claims of each group in a table, under a line that names it where there are others than the source's."""
    groups = [group for group in GROUPS if any(verdict.group == group for verdict in verdicts)]
    tables = [_claimstable([v for v in verdicts if v.group == group], figure) for group in groups or [SOURCE]]
    if groups in ([], [SOURCE]):
        return tables[0]
    return "\n\n".join(f"*Claims: {GROUPS[group]}*\n\n{table}" for group, table in zip(groups, tables, strict=True))


def _claimstable(verdicts: Sequence[Verdict], figure: str) -> str:
    """One row for each claim: what became of it, under each base, what decides it, and why."""
    bases, claims = bases_in(verdicts), claims_of(verdicts)
    decided = ["decided by"] if any(claim.decided_by for claim in claims) else []
    rows = []
    for claim in claims:
        words = [f"**{word}**" if word == CONFIRMED else word for word in claim.words(bases)]
        by = [DECIDED_BY[claim.decided_by] if claim.decided_by else ""] if decided else []
        rows.append((claim.figure, claim.text, *words, *by, ". ".join(reasons(claim.each, _problems))))
    return table((figure, "claim", *(bases or ["here"]), *decided, "because"), rows)


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
    return table(("study", "cases", "simulated of 50", "that agree to 0.1 %", "farthest apart"), rows)


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
    cells = [(by, *(found[column] for column in columns)) for by, found in rows.items()]
    return f"{counts_text(verdicts)}\n\n{table(('what decides claims of the source', *columns), cells)}"


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
    return table(("case", "claim", "here", "because"), rows)


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
    return table(("exchange", "of", "packing", "cases", "simulated over measured"), rows)


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
    if found := (TABLES | HOURS | FACTORS | CLAIMS).get(name):
        return found()
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
    """The text of a page with its numbers and sections as they should be. Raises ValueError for a section twice."""
    marks = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
    text = with_values(page, (DOCS / page).read_text(encoding="utf-8"))
    names = Counter(found[2] for found in marks.finditer(text))
    if twice := [name for name, count in names.items() if count > 1]:
        raise ValueError(f"{page}: section {', '.join(twice)} stands there twice")
    return marks.sub(lambda found: f"{found[1]}\n{section(found[2], PAGES[page])}\n\n{found[3]}", text)


def main(folders: list[str]) -> None:
    for folder in folders:
        keep(Path(folder))
    draw_all()
    for page in PAGES:
        (DOCS / page).write_text(filled(page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
