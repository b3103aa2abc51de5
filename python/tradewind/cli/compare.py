"""`tradewind compare`: which of two results, machines or tuning files is faster, by what factor, and how sure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli.options import Json
from tradewind.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from tradewind.dataset.comparison import Comparison
    from tradewind.dataset.machine_values import MachineComparison

MAX_ROWS = 40
_WHAT = "A results.nc, folder of a study, JSON of a command, table as CSV, tuning or machine file."


def command(
    old: Annotated[Path, Argument(metavar="OLD", help=_WHAT, show_default=False)],
    new: Annotated[Path, Argument(metavar="NEW", help="Another one of the same kind.", show_default=False)],
    threshold: Annotated[
        str, Option("--threshold", help="Exit with code 1 if NEW is slower by more than this, like 5% or 0.05.")
    ] = "5%",
    confidence: Annotated[str, Option("--confidence", help="Confidence of the intervals.")] = "95%",
    seed: Annotated[int, Option("--seed", help="Seed of the resamples that intervals are made from.")] = 1,
    *,
    as_json: Json = False,
) -> int:
    """Compare two results in words. Exit code 0: NEW is not slower; 1: slower by more than the threshold."""
    from tradewind.base.errors import InputError
    from tradewind.cli.output import print_result
    from tradewind.dataset.comparison import compare
    from tradewind.dataset.machine_values import compare_machine_files, is_machine

    limit, sure = _fraction("--threshold", threshold), _fraction("--confidence", confidence)
    machines = [is_machine(path) for path in (old, new)]
    if all(machines):
        found = compare_machine_files(old, new, limit)
        print_result(_machine_result(found, old, new), as_json, lambda: _show_machines(found, old, new))
        return 1 if found.too_slow else 0
    if any(machines):
        machine, other = (old, new) if machines[0] else (new, old)
        raise InputError(f"{machine} is a machine, {other} is not: give two machines, or two results")
    compared = compare(old, new, threshold=limit, confidence=sure, seed=seed)
    print_result(_result(compared, old, new), as_json, lambda: _show(compared, old, new))
    return 1 if compared.too_slow else 0


def _fraction(flag: str, text: str) -> float:
    """Return the fraction of a text like 5% or 0.05. Raises InputError."""
    from tradewind.base.errors import InputError

    number, percent, rest = text.partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if rest or not 0 <= value < (100 if percent else 1):
        example = f"{value:g}% or {value / 100:g}" if not rest and 1 <= value < 100 else "a fraction like 5% or 0.05"
        raise InputError(f"{flag} {text!r}: {example} is allowed")
    return value


def _result(found: Comparison, old: Path, new: Path) -> dict[str, Any]:
    from tradewind.dataset.comparison_words import sentences, varying

    mean, labels = found.mean, varying(found)
    return {
        "old": str(old),
        "new": str(new),
        "slower": bool(found.too_slow),
        "summary": sentences(found, str(old), str(new)),
        "ratio": mean.value,
        "interval": None if mean.resampled is None else [mean.low, mean.high],
        "threshold": found.threshold,
        "confidence": found.confidence,
        "differences": {label: list(values) for label, values in found.differences.items()},
        "cases": [
            {
                "labels": {label: case.new.get(label) for label in labels},
                "old_s": case.old["time"],
                "new_s": case.new["time"],
                "ratio": case.ratio.value,
                "interval": [case.ratio.low, case.ratio.high] if case.sure and case.samples else None,
                "samples": case.samples,
                "verdict": case.verdict,
                "slower": case.exceeds(found.threshold),
            }
            for case in found.cases
        ],
        "claims": [
            {
                **{"study": each.study or None, "figure": each.new.figure, "claim": each.new.claim},
                **{"base": each.new.base, "old": each.old.verdict, "new": each.new.verdict},
            }
            for each in found.claims.changed
        ],
        "only_old": len(found.only_old),
        "only_new": len(found.only_new),
    }


def _show(found: Comparison, old: Path, new: Path) -> None:
    from tradewind.base.units import format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable
    from tradewind.dataset.comparison_words import interval_text, label_text, percent, sentences, varying

    labels = varying(found)
    columns = [TextColumn(label.replace("_", " ")) for label in labels]
    columns += [TextColumn(title, number=True) for title in ("old", "new", "new / old")]
    columns += [TextColumn(f"{percent(found.confidence)} confidence", drop=2), TextColumn("NEW is")]
    cases = sorted(found.cases, key=lambda case: -case.ratio.value)
    rows = [
        [
            *(label_text(label, value) if (value := case.new.get(label)) else "-" for label in labels),
            format_seconds(case.old["time"]),
            format_seconds(case.new["time"]),
            f"{case.ratio.value:.3f}",
            interval_text(case.ratio) if case.sure and case.samples else "-",
            case.verdict + (" (!)" if case.exceeds(found.threshold) else ""),
        ]
        for case in _ends(cases)
    ]
    show_table(TextTable(columns, rows))
    if len(cases) > MAX_ROWS:
        show_text(f"the {MAX_ROWS // 2} slowest and fastest of {len(cases)} cases; --json lists all", "dim")
    print()
    for text in sentences(found, _name(old, new), _name(new, old)):
        show_text(text)


def _ends(cases: list[Any]) -> list[Any]:
    """Return the first and the last of many cases."""
    half = MAX_ROWS // 2
    return cases if len(cases) <= MAX_ROWS else [*cases[:half], *cases[-half:]]


def _name(path: Path, other: Path) -> str:
    """Return the name of a result, as short as it is another one than that of the other."""
    return path.name if path.name != other.name else str(path)


def _machine_result(found: MachineComparison, old: Path, new: Path) -> dict[str, Any]:
    from dataclasses import asdict

    from tradewind.dataset.comparison_words import machine_sentences

    return {
        "old": str(old),
        "new": str(new),
        "slower": bool(found.too_slow),
        "summary": machine_sentences(found, str(old), str(new)),
        "threshold": found.threshold,
        "values": [asdict(each) for each in found.differences],
        "equal": found.equal,
    }


def _show_machines(found: MachineComparison, old: Path, new: Path) -> None:
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable
    from tradewind.dataset.comparison_words import machine_sentences

    columns = [TextColumn("value"), *(TextColumn(title, number=True) for title in ("old", "new", "new / old"))]
    rows = [
        [
            each.key,
            each.old or "-",
            each.new or "-",
            "-" if each.factor is None else f"{each.factor:.3g}",
            "different" if each.slowdown is None else "worse" if each.slowdown > 1 else "better",
        ]
        for each in found.differences
    ]
    if rows:
        show_table(TextTable([*columns, TextColumn("NEW is")], rows))
        print()
    for text in machine_sentences(found, _name(old, new), _name(new, old)):
        show_text(text)
