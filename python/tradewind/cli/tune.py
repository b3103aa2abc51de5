"""`tradewind tune`: finds the fastest method for an exchange here, and keeps it in a tuning file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from tradewind.cli import options
from tradewind.cli import ranks as mpi_ranks
from tradewind.cli.kinds import Asked
from tradewind.cli.parameters import REPETITIONS, WARMUP, Option

_METHODS = "ALGORITHM,TRANSPORT,PACKING or the name of one of them, with wildcards; repeatable."


@options.of_patterns
def command(
    pattern: options.Pattern,
    ranks: mpi_ranks.Ranks = None,
    out: Annotated[Path, Option("-o", "--out", help="Tuning file; its other entries are kept.")] = Path("tuning.toml"),
    include: Annotated[
        list[str] | None, Option("--include", help=f"Try only these methods: {_METHODS}", show_default="all")
    ] = None,
    exclude: Annotated[
        list[str] | None, Option("--exclude", help=f"Skip these methods: {_METHODS}", show_default="none")
    ] = None,
    memory: Annotated[
        str, Option("--memory", help="Memory of the arrays: private, shared (from tw.empty) or both.")
    ] = "both",
    warmup: Annotated[int, Option("--warmup", help="Exchanges per method before its trials.", allowed=WARMUP)] = 3,
    trials: Annotated[int, Option("--trials", help="Samples per method.", allowed=REPETITIONS)] = 20,
    give_up: Annotated[
        float,
        Option("--give-up", help="Skip a method whose first trials take this many times the best so far."),
    ] = 3.0,
    report: Annotated[
        Path | None, Option("--report", help="Write a report of the choice: FILE.html.", show_default=False)
    ] = None,
    check: mpi_ranks.Check = True,
    timeout: mpi_ranks.Timeout = None,
    *,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Find the fastest method for an exchange on MPI ranks, and keep it in a tuning file."""
    from tradewind.cli.output import keeping, print_result
    from tradewind.launch.tune import tune
    from tradewind.method.memories import MEMORIES

    place = mpi_ranks.place_of(ranks)
    with place.collective(as_json):
        if place.prints:
            _check_files(out, report)
        exchange = options.exchange(asked, pattern, place.ranks)
        is_quiet = as_json or not place.prints
        with (
            keeping(lambda: f"{out} is as it was"),
            mpi_ranks.busy(f"tuning on {place.ranks} ranks", quiet=is_quiet) as show,
        ):
            result = tune(
                exchange,
                include=include or (),
                exclude=exclude or (),
                memories=MEMORIES if memory == "both" else (memory,),
                warmup=warmup,
                trials=trials,
                give_up=give_up,
                check=check,
                timeout_s=mpi_ranks.seconds(timeout),
                watch=show and partial(_show_progress, show),
            )
        result |= {"file": str(out), "report": None if report is None else str(report)}
        if place.prints:
            _write(result, out, report)
    if place.prints:
        print_result(result, as_json, lambda: _show(result))


def _show_progress(show: mpi_ranks.ProgressLine, now: dict[str, Any]) -> None:
    tried, methods = now["tried"], now["methods"]
    show(f"{now['method']} ({tried + 1} of {methods} methods)", tried / methods)


def _check_files(out: Path, report: Path | None) -> None:
    """Return the problems of the files, before anything is measured."""
    from tradewind.base.errors import InputError, gathered
    from tradewind.base.files import check_target
    from tradewind.method.tuning import check

    problems: list[str] = []
    if out.suffix != ".toml":
        problems.append(f"--out {out}: a name that ends in .toml is allowed")
    if report is not None and report.suffix != ".html":
        problems.append(f"--report {report}: a name that ends in .html is allowed")
    for path, what in ((out, "tuning file"), (report, "report")):
        if path is not None:
            with gathered(problems):
                check_target(path, what)
    if problems:
        raise InputError(*problems)
    check(out)


def _write(result: dict[str, Any], out: Path, report: Path | None) -> None:
    from tradewind.method.tuning import keep

    keep(out, result["tuned"], result)
    if report is not None:
        from tradewind.report.tuning import write_page

        write_page(result, report)


def _show(result: dict[str, Any]) -> None:
    for table in result["tuned"]:
        _show_table(table, result)
    mpi_ranks.show_warnings(result["warnings"])
    print(f"tuning file: {result['file']}; to use it: TRADEWIND_TUNING={result['file']}")
    if result["report"] is not None:
        print(f"report: {result['report']}")


def _show_table(table: dict[str, Any], result: dict[str, Any]) -> None:
    from tradewind.base.units import format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable
    from tradewind.method.method import PARTS, Method
    from tradewind.method.tuning import NOISY
    from tradewind.report.tuning import outcome_of

    columns = [
        *(TextColumn(part) for part in PARTS),
        *(TextColumn(title, number=True) for title in ("median", "min", "x best")),
    ]
    rows = [
        [
            *(row[part] or "-" for part in PARTS),
            *(format_seconds(row[key]) for key in ("median_s", "min_s")),
            f"{row['ratio']:.2f}",
        ]
        for row in table["results"]
    ]
    over = "oversubscribed: more ranks than cores" if result["oversubscribed"] else ""
    title = f"{table['pattern']}, {result['ranks']} ranks, {table['request']['memory']} arrays"
    show_table(TextTable(columns, rows, title, over))
    print()
    given_up = [row for row in table["left_out"] if row["first_s"] is not None]
    for row in given_up:
        show_text(f"{Method(*(row[part] for part in PARTS))}: {row['reason']}", indent="  ")
    if len(table["left_out"]) > len(given_up):
        show_text(f"skipped methods: {len(table['left_out']) - len(given_up)}; --report and --json list the reasons")
    if table["noisy"]:
        show_text(f"{NOISY}: tune on a quiet machine")
    show_text(outcome_of(table, result))
    show_text(f"chosen: {Method(**table['choice'])}: {format_seconds(table['median_s'])}{_against_default(table)}")
    print()


def _against_default(table: dict[str, Any]) -> str:
    from tradewind.base.units import format_seconds

    default = table["default_s"]
    if default is None:
        return "; the default was not measured"
    return f", {table['median_s'] / default:.2f} of the default's {format_seconds(default)}"
