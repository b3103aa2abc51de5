"""`tradewind bench`: measures the methods for one exchange on real MPI ranks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli import ranks as mpi_ranks
from tradewind.cli.kinds import Asked
from tradewind.cli.parameters import REPETITIONS, WARMUP, Option

if TYPE_CHECKING:
    from tradewind.cli.table import TextTable

_ALL = "Comma list, or `all`."


@options.of_patterns
def command(
    pattern: options.Pattern,
    ranks: mpi_ranks.Ranks = None,
    algorithm: Annotated[str | None, Option("--algorithm", help=_ALL, show_default="the pattern's own")] = None,
    transport: Annotated[str, Option("--transport", help=_ALL)] = "isend-irecv",
    packing: Annotated[str, Option("--packing", help=_ALL)] = "buffer",
    sizes: Annotated[
        str | None,
        Option(
            "--sizes",
            help="Measure messages of these sizes, like 8:64MiB (doubled each time) or 8,1KiB,64KiB.",
            show_default=False,
        ),
    ] = None,
    repeat: Annotated[int, Option("--repeat", help="Samples per method.", allowed=REPETITIONS)] = 20,
    rounds: Annotated[
        int,
        Option(
            "--rounds",
            help="Number of rounds; each measures every method with a part of the samples.",
            allowed=REPETITIONS,
        ),
    ] = 1,
    warmup: Annotated[int, Option("--warmup", help="Exchanges before the first sample.", allowed=WARMUP)] = 3,
    check: mpi_ranks.Check = True,
    chart: Annotated[
        Path | None, Option("--chart", help="Draw the times: FILE.svg, .png, .pdf or .html.", show_default=False)
    ] = None,
    timeline: Annotated[
        Path | None,
        Option(
            "--timeline",
            help="Write a time line of the fastest method: for Perfetto, or a picture (.svg, .png, .pdf, .html).",
            show_default=False,
        ),
    ] = None,
    predict: Annotated[
        str | None,
        Option("--predict", help="Also show predictions from this calibrated machine FILE.", show_default=False),
    ] = None,
    watchdog: mpi_ranks.Watchdog = 0.0,
    timeout: mpi_ranks.Timeout = None,
    *,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Measure the methods for one exchange on MPI ranks, and compare them with a memory copy."""
    from tradewind.cli.output import print_result
    from tradewind.launch import bench

    place = mpi_ranks.place_of(ranks)
    methods = (algorithm.split(",") if algorithm else None, transport.split(","), packing.split(","))
    terms: dict[str, Any] = {
        **{"repeat": repeat, "rounds": rounds, "warmup": warmup, "check": check},
        **{"watchdog_s": watchdog, "timeout_s": mpi_ranks.seconds(timeout)},
    }
    with place.collective(as_json):
        if chart is not None and place.prints:
            _check_chart(chart)
        text = f"measuring on {place.ranks} ranks"
        if sizes is not None:
            _check_alone({"--timeline": timeline, "--predict": predict})
            with mpi_ranks.busy(text, quiet=as_json or not place.prints) as show:
                terms["watch"] = show and partial(_show_progress, show)
                result = _bench_sizes(pattern, place.ranks, sizes, asked, methods, terms)
        else:
            exchange = options.exchange(asked, pattern, place.ranks)
            with mpi_ranks.busy(text, quiet=as_json or not place.prints) as show:
                terms["watch"] = show and partial(_show_progress, show)
                result = bench(exchange, *methods, timeline=timeline, predict=predict, **terms)
        result["chart"] = None if chart is None else str(chart)
        if chart is not None and place.prints:
            _draw(chart, result)
    if place.prints:
        print_result(result, as_json, lambda: _show_sizes(result) if sizes is not None else _show(result))


def _show_progress(show: mpi_ranks.ProgressLine, now: dict[str, Any]) -> None:
    show(now["method"], now["fraction"])


def _check_alone(given: dict[str, Any]) -> None:
    from tradewind.base.errors import InputError

    if wrong := [
        f"{flag} does not go with --sizes: leave it out" for flag, value in given.items() if value is not None
    ]:
        raise InputError(*wrong)


def _bench_sizes(
    pattern: str, ranks: int, sizes: str, asked: Asked, methods: tuple[Any, ...], terms: dict[str, Any]
) -> dict[str, Any]:
    from tradewind.base.errors import InputError
    from tradewind.launch.sizes import bench_sizes, parse_sizes
    from tradewind.workload.options import read
    from tradewind.workload.registry import pattern_named

    values, problems = read(pattern_named(pattern).meant(asked.given), asked.given)
    if problems:
        raise InputError(*problems)
    return bench_sizes(pattern, ranks, parse_sizes(sizes), *methods, options=values, **terms)


def _check_chart(chart: Path) -> None:
    from tradewind.plot.methods import check_name

    check_name(chart)


def _draw(chart: Path, result: dict[str, Any]) -> None:
    if "sizes" in result:
        from tradewind.cli import bench_sizes

        bench_sizes.draw(chart, result)
        return
    from tradewind.method.method import default_method
    from tradewind.plot.methods import save_chart
    from tradewind.workload.registry import pattern_named

    pattern = result["exchange"]["pattern"]
    title = f"{pattern} on {result['ranks']} ranks, {result['provenance']['mpi']}, {result['provenance']['cpu']}"
    core = pattern_named(pattern).core_pattern
    save_chart(result["results"], chart, title, result["oversubscribed"], default_method(core))


def _show_sizes(result: dict[str, Any]) -> None:
    from tradewind.cli.bench_sizes import sizes_table
    from tradewind.cli.screen import show_table, show_text

    show_table(sizes_table(result))
    print()
    show_text(
        "size: bytes of a message; latency: time of the exchange, of the slowest rank; MB/s: bytes that arrive at the "
        f"rank that receives the most; {result['provenance']['mpi']}, {result['provenance']['cpu']}"
    )
    mpi_ranks.show_left_out(result["sizes"][0]["skipped"], "skipped")
    mpi_ranks.show_warnings(result["warnings"])
    if result["chart"] is not None:
        print(f"chart: {result['chart']}")


def _show(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_rate, format_seconds
    from tradewind.cli.energy import say_measured
    from tradewind.cli.screen import show_table, show_text

    show_table(_table(result))
    print()
    show_text(
        f"{format_bytes(result['bytes'])} arrive at the rank that receives the most; a memory copy moves "
        f"{format_rate(result['copy_bytes_per_s'])} per rank; pack and local copy {format_seconds(result['floor_s'])}; "
        f"{result['provenance']['mpi']}, {result['provenance']['cpu']}"
    )
    say_measured(min(result["results"], key=lambda row: float(row["median_s"])), "exchange of the fastest method")
    predicted = result.get("prediction")
    if predicted and predicted["median_error"] is not None:
        show_text(
            f"predicted for {predicted['machine']}: {predicted['rows']} rows, half of them within "
            f"{predicted['median_error']:.0%} of what was measured"
        )
    mpi_ranks.show_left_out(result["skipped"], "skipped")
    mpi_ranks.show_warnings(result["warnings"])
    if result["chart"] is not None:
        print(f"chart: {result['chart']}")
    if result["timeline"] is not None:
        print(f"time line: {result['timeline']}")


def _table(result: dict[str, Any]) -> TextTable:
    """Show one row per method, the fastest first."""
    from tradewind.base.units import format_rate, format_seconds
    from tradewind.cli.bench_sizes import within
    from tradewind.cli.table import TextColumn, TextTable

    predicted = bool(result.get("prediction"))
    columns = [
        *(TextColumn(title, drop=drop) for title, drop in (("algorithm", 0), ("transport", 1), ("packing", 1))),
        *(
            TextColumn(title, number=True, drop=drop)
            for title, drop in (("median", 0), ("95 % within", 3), ("min", 4), ("rate", 4))
        ),
        *(TextColumn(title, number=True, drop=drop) for title, drop in (("x copy", 2), ("x pack+copy", 2))),
        TextColumn("messages", number=True, drop=5),
        *(TextColumn(title, number=True) for title in ("predicted", "x measured") if predicted),
    ]
    rows = [
        [
            row["algorithm"],
            row["transport"] or "-",
            row["packing"] or "-",
            format_seconds(row["median_s"]),
            within(row),
            format_seconds(row["min_s"]),
            format_rate(row["bytes_per_s"]),
            *(f"{r:.2f}" if (r := row[key]) is not None else "-" for key in ("ratio_to_copy", "ratio_to_floor")),
            "-" if row["messages"] is None else str(row["messages"]),
            *(_prediction(row) if predicted else ()),
        ]
        for row in sorted(result["results"], key=lambda row: float(row["median_s"]))
    ]
    over = "oversubscribed: more ranks than cores" if result["oversubscribed"] else ""
    return TextTable(columns, rows, f"{result['exchange']['pattern']} on {result['ranks']} ranks", over)


def _prediction(row: dict[str, Any]) -> tuple[str, str]:
    from tradewind.base.units import format_seconds

    if row["predicted_s"] is None:
        return "-", "-"
    return format_seconds(row["predicted_s"]), f"{row['predicted_ratio']:.2f}"
