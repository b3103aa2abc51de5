"""Checks of `tradewind doctor`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import TradewindError
from tradewind.base.installation import flags, package_folder
from tradewind.fieldserver.plan.forms import FORMS, form_named
from tradewind.launch import job

if TYPE_CHECKING:
    from tradewind.mpi.library import MPI

_HELLO_TIMEOUT_S = 120.0


FEATURES = {
    "verify, show, simulate, advise, list, report, and studies that measure nothing": ("core",),
    "bench, tune, calibrate, run, and plans in Python": ("core", "mpi", "launcher", "two ranks"),
    "programs in C, C++ and Fortran": ("libtradewind", "launcher"),
}
"""Abilities of an installation, and the checks that each needs; forms of output files come on top."""
NOT_INSTALLED = "not installed"
"""Value of a check of what an installation may do without."""


def checkup() -> dict[str, Any]:
    """All checks, and what follows from them.

    ``{"ok": ..., "checks": [{"name", "ok", "value", "advice"}, ...], "works": [...], "does_not_work": [...]}``
    """
    checks = [
        _check("python", platform.python_version),
        _check("tradewind", lambda: f"{importlib.metadata.version('tradewind')}, in {package_folder()}"),
        _check("core", _core),
        _check("cores", lambda: f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} may be used"),
        _check("memory", _memory),
        mpi := _check("mpi", _mpi),
        _check("threads", _threads) if mpi["ok"] else _not_tried("threads"),
        _check("launcher", _launcher),
        _check("two ranks", _two_ranks) if mpi["ok"] else _not_tried("two ranks"),
        _check("libtradewind", _libtradewind),
        *(_check_form(format) for format in FORMS),
    ]
    well = {check["name"] for check in checks if check["ok"]}
    features = FEATURES | {f"output of models as {_title(format)}": (format,) for format in FORMS}
    works = [feature for feature, needed in features.items() if well.issuperset(needed)]
    return {
        "ok": all(check["ok"] or check["value"] == NOT_INSTALLED for check in checks),
        "checks": checks,
        "works": works,
        "does_not_work": [feature for feature in features if feature not in works],
    }


def _check(name: str, look: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"name": name, "ok": True, "value": look(), "advice": ""}
    except (TradewindError, ImportError, OSError) as error:
        head, _, advice = str(error).partition(": ")
        return {"name": name, "ok": False, "value": head, "advice": advice}


def _title(format: str) -> str:
    try:
        return form_named(format).title
    except ImportError:  # of what all forms need: its own check says so
        return format


def _check_form(format: str) -> dict[str, Any]:
    """Check a form of output files, whose packages may be left out, and may fail in ways of their own."""
    try:
        package = form_named(format).package
    except ImportError as error:
        return {"name": format, "ok": False, "value": str(error), "advice": "see the check of the core"}
    if importlib.util.find_spec(package) is None:
        advice = f"for {format} files of a field server: pip install 'tradewind[output]'"
        return {"name": format, "ok": False, "value": NOT_INSTALLED, "advice": advice}
    try:
        return {"name": format, "ok": True, "value": _form(format), "advice": ""}
    except Exception as error:
        value = f"{package} cannot be loaded, or cannot write: {str(error) or type(error).__name__}"
        return {"name": format, "ok": False, "value": value, "advice": "pip install --force-reinstall " + package}


def _not_tried(name: str) -> dict[str, Any]:
    return {"name": name, "ok": False, "value": "not tried, as MPI does not work", "advice": ""}


def _core() -> str:
    from tradewind import _core

    return f"{len(_core.algorithms())} algorithms"


def _memory() -> str:
    import psutil

    from tradewind.base.units import format_bytes

    memory = psutil.virtual_memory()
    return f"{format_bytes(memory.available)} of {format_bytes(memory.total)} are free"


def _mpi() -> str:
    from tradewind import mpi

    library = mpi.library_name()
    from tradewind import _mpi  # not before, as the import above raises the reason where it does not load

    return f"{library}, which mpi4py uses too; built against {_mpi.build_mpi} by compiler {_mpi.build_compiler}"


def _threads() -> str:
    from tradewind.mpi.library import MPI

    names = ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")
    levels = {getattr(MPI, f"THREAD_{name}"): name.lower() for name in names}
    return f"MPI gives the level {levels[MPI.Query_thread()]}"


def _launcher() -> str:
    launcher = job.find_launcher()
    return f"{shutil.which(launcher.command[0])}: {launcher.version.replace(':, ', ', ')}"


def _two_ranks() -> str:
    if job.is_rank():
        return "not tried: this is an MPI rank itself"
    result = job.run(2, "tradewind.launch.checkup:hello", None, timeout_s=_HELLO_TIMEOUT_S)
    return f"started on {', '.join(sorted(set(result['hosts'])))}; exchanged {result['bytes']} bytes, all right"


def _libtradewind() -> str:
    flags()
    return "installed; `tradewind config` prints the flags of compilers"


def _form(format: str) -> str:
    """Write a field of a few bytes in a form of output files; returns the versions of what has written it."""
    import numpy as np

    from tradewind.fieldserver.files.sinks import form_of
    from tradewind.fieldserver.files.sinks.form import Moment, Place
    from tradewind.fieldserver.plan.field import OutputField, Record
    from tradewind.fieldserver.plan.geometry import Regular
    from tradewind.fieldserver.plan.plan_file import Request, Sink

    field = OutputField("t", Regular(4, 3, 0.0, -10.0, 10.0, 10.0), (1.0,))
    record = Record(field, 0, (0,), np.arange(12.0).reshape(1, 12))
    request = Request(Sink(name="doctor", format=format, path="doctor"), "doctor", None, None)
    with tempfile.TemporaryDirectory() as folder:
        file = form_of(format)(Place(Path(folder), durable=False), "doctor", Moment(datetime(2000, 1, 1), 0.0), 0)
        file.append(record, request, file.prepare(record, request))
        (written,) = file.finish()
    versions = ", ".join(f"{name} {version}" for name, version in form_of(format).versions().items())
    return f"{versions}; wrote {written.bytes} bytes"


def hello(comm: MPI.Intracomm, _: None) -> dict[str, Any]:
    """Run by two ranks: a halo exchange, compared with the expected result."""
    from tradewind import _core, mpi
    from tradewind.base.errors import VerificationError
    from tradewind.workload.patterns.halo import HaloArrays

    layout = _core.Blocks(_core.Grid(16, 8, 4), (comm.Get_size(), 1))
    halo = _core.Halo(layout, 2, (True, True))
    rank = comm.Get_rank()
    array = HaloArrays.source(halo, rank, 0, "f8")
    plan = mpi.plan(halo, comm, array)
    plan()
    if (array != HaloArrays.expected(halo, rank, 0, "f8")).any():
        raise VerificationError("the exchange of two ranks went wrong: run the tests, and report their output")
    return {"hosts": comm.allgather(platform.node()), "bytes": comm.allreduce(plan.bytes_sent)}
