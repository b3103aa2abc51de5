"""The text of the machine file of a calibration, with the source of each number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tradewind.base.units import format_bytes
from tradewind.machine.calibration import Calibration, Rates, Unexpected
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT


def text_of(calibration: Calibration, name: str, files: Mapping[str, float | None] | None = None) -> str:
    """The machine file. `files`: measured rates of its table `files`, in bytes per second."""
    probed, base = calibration.probed, calibration.bases
    host = probed["site"]
    where = f"{host['cpu']}, {host['mpi']}"
    title = f"{name}: {probed['nodes']} x {probed['ranks_per_node']} ranks, {where}"
    share = probed["ranks_per_node"] if calibration.outside else 1
    bandwidth = base.rates.whole[-1] * share
    tables: list[tuple[str, dict[str, str | int]]] = [
        ("topology", {"kind": "crossbar", "nodes": probed["nodes"]}),
        ("link", {"bandwidth": _rate(bandwidth), "latency": _time(base.latency_s / 2)}),
        (
            "nic",
            {
                "injection_bandwidth": _rate(bandwidth),
                "ejection_bandwidth": _rate(bandwidth),
                "latency": _time(base.latency_s / 2),
                "send_overhead": _time(base.overhead_s / 2),
                "receive_overhead": _time(base.overhead_s / 2),
            },
        ),
        ("node", _node(probed)),
        ("packet", {"size": "4KiB"}),
    ]
    if (copied := calibration.unexpected.bytes_per_s) is not None:
        tables.append(("mpi", {"unexpected_bandwidth": _rate(copied)}))
    known = {key: rate for key, rate in (files or {}).items() if rate is not None}
    if known:
        tables.append(("files", {key: _rate(rate) for key, rate in known.items()}))
    lines = [f"title = {_quoted(title)}", 'routing = "direct"']
    for table, values in tables:
        lines += ["", f"[{table}]", *(f"{key} = {_quoted(value)}" for key, value in values.items())]
    if probed["kernels"]:
        lines += ["", "[kernel]", *_kernel_lines(probed["kernels"], probed["busy_kernels"])]
    if (reason := calibration.unexpected.reason) is not None:
        lines += ["", f"# mpi.unexpected_bandwidth was measured, and is not known: {reason}"]
    if calibration.copies is not None:
        lines += ["", "[copy]", *_rate_lines(calibration.copies)]
    lines += ["", "[source]", *(f"{key} = {_quoted(text)}" for key, text in _sources(calibration, known).items())]
    for method in calibration.methods:
        lines += [
            "",
            "[[intranode]]",
            f"transport = {_quoted(method.transport)}",
            f"packing = {_quoted(method.packing)}",
        ]
        for name, seconds, reason in (
            ("latency", method.latency_s, method.latency_reason),
            ("overhead", method.overhead_s, method.overhead_reason),
        ):
            lines.append(f'{name} = "{_time(seconds)}"' + (f"  # {reason}" if reason else ""))
        lines += _rate_lines(method.rates)
        if method.scattered:
            lines.append(f"scattered = {_runs(method.scattered)}")
    return "\n".join(lines) + "\n"


def _node(probed: Mapping[str, Any]) -> dict[str, str | int]:
    together = probed["copy_bytes_per_s"] * probed["ranks_per_node"]
    alone = min(probed["copy_alone_bytes_per_s"], together)
    return {
        "cores": probed["cores"],
        "memory_bandwidth": _rate(together),
        "flow_memory_bandwidth": _rate(alone),
        "core_flops": _flops(probed["core_flops"]),
    }


def _sources(calibration: Calibration, files: Mapping[str, float]) -> dict[str, str]:
    from importlib.metadata import version

    probed = calibration.probed
    host = probed["site"]
    here = (
        f"measured by tradewind calibrate {version('tradewind')} on {host['host']}, "
        f"{datetime.now(UTC):%Y-%m-%d}, {host['cpu']}, {host['mpi']}"
    )
    by = (
        f"{here}; up to {calibration.repeat} samples of each in "
        f"{calibration.rounds} rounds, the median of the best of which counts; the middle half of one lies within "
        f"{calibration.spread:.1%} of the median in three of four measurements"
    )
    pairs = "pairs of ranks, all at the same time, send each other one message per stage of a halo"
    network = (
        f"as between nodes: {pairs}, by {DEFAULT_TRANSPORT} {DEFAULT_PACKING}; latency and overhead of both ends "
        f"halved; of a pair {_by_size(calibration.bases.rates)}, of which the last counts, for all ranks of a node"
        if calibration.outside
        else "not measured, as there is one node: taken from what is within it"
    )
    sources = {
        "topology": "counted; how nodes are wired is not measured, a crossbar is taken",
        "link": f"not measured: a crossbar has none; {network}",
        "nic": f"{network}; {by}" if calibration.outside else network,
        '"node.cores"': "counted",
        '"node.memory_bandwidth"': f"copies of 64 MiB by all ranks of a node at the same time; {by}",
        '"node.flow_memory_bandwidth"': f"copies of 64 MiB by one rank while the others wait; {by}",
        '"node.core_flops"': f"{_OF_FLOPS}; {here}",
        "packet": "assumed: 4 KiB; not measured",
    }
    if calibration.unexpected.bytes_per_s is not None:
        sources['"mpi.unexpected_bandwidth"'] = f"{_copied(calibration.unexpected, calibration.rounds)}; {here}"
    sources |= {f'"files.{key}"': f"{_OF_FILES[key]}; {here}" for key in files}
    if probed["kernels"]:
        busy = f"; {_OF_BUSY_KERNELS}" if probed["busy_kernels"] else ""
        sources["kernel"] = f"{_OF_KERNELS}{busy}; {here}"
    if calibration.copies is not None:
        sources["copy"] = f"copies around the seam of a halo of one rank, by all ranks at the same time; {by}"
    if calibration.methods:
        sources["intranode"] = (
            f"{pairs}; latency and overhead from 1 and 6 messages of 8 bytes, rates from what longer ones take more, "
            f"in one run of memory (whole) and in runs of these bytes; scattered: {_SCATTERED}; {by}"
        )
    return sources


_AT_ONCE = "by all ranks at the same time, of which the slowest counts, in the best of three rounds"
_OF_FILES = {
    "encode_rate": f"doubles of an octahedral grid as GRIB 2, simple packing of 16 bits, {_AT_ONCE}",
    "compress_rate": f"doubles of the same grid by deflate of level 1 with shuffle, {_AT_ONCE}",
    "decode_rate": f"the GRIB message read again, from the page cache, {_AT_ONCE}",
    "disk_bandwidth": f"files of 32 MiB until they are on the disk, {_AT_ONCE}, all bytes together",
    "file_bandwidth": "such a file by one rank while the others wait",
}


_OF_FLOPS = (
    "multiplications and additions of NumPy, in double precision, with 4096 values that stay in the caches, by one "
    "rank while the others wait; the fastest of 100 samples"
)


_OF_KERNELS = (
    "flops of the programs of the dwarfs in double precision, and in single (-f4), over the seconds that a run of one "
    "rank counts as computing, with about as many points as `tradewind run` takes; the fewest of the samples of a "
    "second, while the other ranks wait"
)


_OF_BUSY_KERNELS = "busy_flops: the same by all ranks at the same time, each by itself, of which the slowest counts"


def _copied(found: Unexpected, rounds: int) -> str:
    """Return how the copies of unexpected messages were measured."""
    assert found.more is not None
    error = found.more.error_s_per_byte / found.more.s_per_byte
    return (
        "what a receive takes more if it is posted after its message has come, by bytes, all ranks at the same time; "
        f"eager messages, up to {_size(found.eager_bytes)}, in the caches; standard error {error:.0%}; "
        f"medians of the best of {rounds} rounds"
    )


def _by_size(rates: Rates) -> str:
    return ", ".join(f"{_rate(rate)} with {_size(size)}" for size, rate in zip(rates.sizes, rates.whole, strict=False))


_SCATTERED = "the same of a transposition, less what is copied within the rank"


def _rate_lines(rates: Rates) -> list[str]:
    lines = [f"sizes = {_listed(_size(size) for size in rates.sizes)}"]
    lines.append(f"whole = {_listed(map(_rate, rates.whole))}")
    if rates.runs:
        lines.append(f"runs = {_runs(rates.runs)}")
    return lines


def _kernel_lines(alone: Mapping[str, float], busy: Mapping[str, float]) -> Iterable[str]:
    """Yield the rates of kernels, of one core alone and of each while all are busy, which is no faster."""
    for name, rate in alone.items():
        if name in busy:
            slower = _flops(min(rate, busy[name]))
            yield f"{name} = {{ flops = {_quoted(_flops(rate))}, busy_flops = {_quoted(slower)} }}"
        else:
            yield f"{name} = {_quoted(_flops(rate))}"


def _runs(rates: Mapping[int, Sequence[float]]) -> str:
    runs = ", ".join(f'"{_size(run)}" = {_listed(map(_rate, each))}' for run, each in rates.items())
    return f"{{ {runs} }}"


def _listed(texts: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def _size(size: int) -> str:
    text = format_bytes(size).replace(" ", "")
    return text if float(text.rstrip("KMGTiB")) * _FACTORS[text.lstrip("0123456789.")] == size else f"{size}B"


_FACTORS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def _rate(rate: float) -> str:
    return f"{min(max(rate, 1e6), 1e15) / 1e9:.4g}GB/s"


def _flops(rate: float) -> str:
    return f"{max(rate, 1e6) / 1e9:.4g}Gflop/s"


def _time(seconds: float) -> str:
    return f"{round(max(seconds, 1e-12) * 1e12)}ps" if seconds < 1e-9 else f"{seconds * 1e9:.4g}ns"


def _quoted(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
