"""`tradewind calibrate`: measures the machine that it runs on, and writes a machine file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli import ranks as mpi_ranks
from tradewind.cli.parameters import ONE_OR_MORE, REPETITIONS, WARMUP, Option

if TYPE_CHECKING:
    from tradewind.machine.calibration import Calibration

_ALL = "Comma list, or `all`."


def command(
    ranks: mpi_ranks.Ranks = None,
    out: Annotated[Path, Option("-o", "--out", help="Machine file.")] = Path("here.toml"),
    transport: Annotated[str, Option("--transport", help=_ALL)] = "all",
    packing: Annotated[str, Option("--packing", help=_ALL)] = "all",
    largest: Annotated[str, Option("--largest", help="Size of the largest message, 8KiB or more.")] = "16MiB",
    repeat: Annotated[
        int, Option("--repeat", help="Maximum number of samples per measurement.", allowed=REPETITIONS)
    ] = 20,
    rounds: Annotated[
        int, Option("--rounds", help="Number of rounds; each takes a part of the samples.", allowed=REPETITIONS)
    ] = 4,
    warmup: Annotated[int, Option("--warmup", help="Exchanges before the first sample.", allowed=WARMUP)] = 2,
    ranks_per_node: Annotated[
        int | None,
        Option(
            "--ranks-per-node",
            help="Pretend that this many ranks share a node.",
            show_default="as measured",
            allowed=ONE_OR_MORE,
        ),
    ] = None,
    limit: Annotated[float, Option("--limit", help="Maximum spread of samples, as a fraction of their median.")] = 0.25,
    files: Annotated[
        Path | None,
        Option(
            "--files",
            help="Measure encoding, compression and the disk of this folder, too: the table `files`.",
            show_default=False,
        ),
    ] = None,
    no_kernels: Annotated[
        bool, Option("--no-kernels", help="Leave out the rates of the dwarfs' loops, which take some 15 seconds.")
    ] = False,
    force: Annotated[bool, Option("--force", help="Write the file even if the machine was busy.")] = False,
    timeout: mpi_ranks.Timeout = None,
    *,
    as_json: options.Json = False,
) -> None:
    """Measure the machine that this runs on, and write a machine file with the source of each number."""
    from tradewind.base.units import byte_count
    from tradewind.cli.output import keeping, print_result
    from tradewind.launch.calibrate import calibrate, write
    from tradewind.launch.probe_files import measure_files

    place = mpi_ranks.place_of(ranks)
    with place.collective(as_json), keeping(lambda: f"{out} is as it was"):
        if place.prints:
            _check_file(out)
        with mpi_ranks.busy(f"measuring on {place.ranks} ranks", quiet=as_json or not place.prints) as show:
            calibration = calibrate(
                place.ranks,
                transports=transport.split(","),
                packings=packing.split(","),
                largest=byte_count(largest),
                repeat=repeat,
                rounds=rounds,
                warmup=warmup,
                ranks_per_node=ranks_per_node or 0,
                limit=limit,
                kernels=not no_kernels,
                force=force,
                timeout_s=mpi_ranks.seconds(timeout),
                watch=show and partial(_show_progress, show, rounds),
            )
        rates = None if files is None else measure_files(place.ranks, files, mpi_ranks.seconds(timeout))
        if place.prints:
            write(calibration, out, rates)
    if place.prints:
        result = _result(calibration, out) | ({} if rates is None else {"files": rates})
        print_result(result, as_json, lambda: _show(result))


def _show_progress(show: mpi_ranks.ProgressLine, rounds: int, now: dict[str, Any]) -> None:
    probed, probes, number = now["probed"], now["probes"], now["round"]
    show(f"{probed} of {probes} shapes, round {number} of {rounds}", (probed - 1) / probes)


def _check_file(out: Path) -> None:
    from tradewind.base.errors import InputError
    from tradewind.base.files import check_target

    if out.suffix != ".toml":
        raise InputError(f"--out {out}: a name that ends in .toml is allowed")
    check_target(out, "machine file")


def _result(calibration: Calibration, out: Path) -> dict[str, Any]:
    from tradewind.launch.quiet import warnings_of

    probed, unexpected = calibration.probed, calibration.unexpected
    return {
        "file": str(out),
        "nodes": probed["nodes"],
        "ranks_per_node": probed["ranks_per_node"],
        "ranks_per_core": probed["ranks_per_core"],
        "copy_bytes_per_s": probed["copy_bytes_per_s"],
        "core_flops": probed["core_flops"],
        "kernels": [
            {"name": name, "flops_per_s": rate, "busy_flops_per_s": probed["busy_kernels"].get(name)}
            for name, rate in probed["kernels"].items()
        ],
        "spread": calibration.spread,
        "worst_spread": calibration.worst_spread,
        "methods": [
            {
                "transport": method.transport,
                "packing": method.packing,
                "latency_s": method.latency_s,
                "latency_reason": method.latency_reason,
                "overhead_s": method.overhead_s,
                "overhead_reason": method.overhead_reason,
                "bytes_per_s": method.rates.whole[-1],
            }
            for method in calibration.methods
        ],
        "unexpected": {
            "bytes_per_s": unexpected.bytes_per_s,
            "eager_bytes": unexpected.eager_bytes,
            "reason": unexpected.reason,
        },
        "warnings": warnings_of(probed, []),
        "provenance": probed["provenance"],
    }


def _show(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_rate, format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    columns = [TextColumn(title) for title in ("transport", "packing")]
    columns += [TextColumn(title, number=True) for title in ("latency", "overhead", "rate of the longest messages")]
    rows = [
        [
            method["transport"],
            method["packing"],
            *(format_seconds(method[f"{key}_s"]) if method[f"{key}_s"] else "~ 0" for key in ("latency", "overhead")),
            format_rate(method["bytes_per_s"]),
        ]
        for method in result["methods"]
    ]
    nodes = result["nodes"]
    title = f"{nodes} {'node' if nodes == 1 else 'nodes'} of {result['ranks_per_node']} ranks"
    show_table(TextTable(columns, rows, f"{title}, {result['provenance']['mpi']}, {result['provenance']['cpu']}"))
    print()
    for text in _zeros(result["methods"]):
        show_text(text)
    show_text(
        f"half of the samples lie within {result['spread']:.1%} of their median in three of four measurements, "
        f"within {result['worst_spread']:.0%} in nine of ten; a memory copy moves "
        f"{format_rate(result['copy_bytes_per_s'])} per rank"
    )
    show_text(_copies(result["unexpected"]))
    kernels = f", and those of {len(result['kernels'])} kernels of dwarfs" if result["kernels"] else ""
    show_text(f"node.core_flops: one core does {result['core_flops'] / 1e9:.3g} Gflop/s in its caches{kernels}")
    if "files" in result:
        known = {key: rate for key, rate in result["files"].items() if rate is not None}
        show_text("files: " + ", ".join(f"{key} {format_rate(rate)}" for key, rate in known.items()))
    mpi_ranks.show_warnings(result["warnings"])
    print(f"machine file: {result['file']}")


def _zeros(methods: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each value that is 0, with the reason and the methods."""
    found: dict[str, list[str]] = {}
    for method in methods:
        for key in ("latency", "overhead"):
            if (reason := method[f"{key}_reason"]) is not None:
                found.setdefault(f"{key} ~ 0: {reason}", []).append(f"{method['transport']} {method['packing']}")
    return [f"{text} ({', '.join(names)})" for text, names in found.items()]


def _copies(unexpected: dict[str, Any]) -> str:
    """A sentence on the copies of messages that came before their receive was posted."""
    from tradewind.base.units import format_bytes, format_rate

    if unexpected["reason"] is not None:
        return f"mpi.unexpected_bandwidth is not known, and not in the file: {unexpected['reason']}"
    return (
        f"mpi.unexpected_bandwidth: eager messages, up to {format_bytes(unexpected['eager_bytes'])}, that come before "
        f"their receive is posted are copied at {format_rate(unexpected['bytes_per_s'])}"
    )
