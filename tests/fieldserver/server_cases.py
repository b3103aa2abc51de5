"""Runs of a model with a field server on MPI ranks; the tests read what these leave behind."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from killed_writers import Death
from output_plans import T, values

import tradewind as tw
from tradewind.base.errors import TradewindError
from tradewind.fieldserver.files.manifest import committed_steps
from tradewind.fieldserver.model.field_server import FieldServer
from tradewind.fieldserver.plan.geometry import Gaussian, Regular, Spectral, Unstructured
from tradewind.fieldserver.plan.plan_file import load_plan
from tradewind.fieldserver.server.delivery import Delivery
from tradewind.fieldserver.server.slots import Slot
from tradewind.layout.closed import indices

ROWS = tw.ReducedGrid.octahedral(8)
POINTS = int(ROWS.rows.sum())
SPECTRUM = 21


def whole(name: str, step: int, levels: int, points: int) -> np.ndarray:
    """[level][point], other numbers for each field, step, level and point."""
    if name == "t":
        return values(T, step)
    base = 1.0 + len(name) + ord(name[0]) / 7 + step
    return base + 3 * np.arange(levels)[:, None] + np.cos(np.arange(points) * 0.37 + step)


def layouts(ranks: int) -> dict[str, Any]:
    """By field: layout, geometry, levels, the kind of element."""
    snake = [list(range(k, SPECTRUM + 1, ranks)) for k in range(ranks)]
    coefficients = Spectral(SPECTRUM)
    dealt = tw.Wavenumbers(tw.Grid(SPECTRUM + 1, SPECTRUM + 2, 2), snake)  # a rectangle of as many points
    assert coefficients.points == (SPECTRUM + 1) * (SPECTRUM + 2)
    grid = tw.Grid(12, 8, 3)
    return {
        "t": (tw.Blocks(grid, (1, ranks)) if ranks < 4 else tw.Blocks(grid, (2, ranks // 2)), T.geometry, 3),
        "q": (tw.Bands(ROWS, ranks), Gaussian(tuple(ROWS.rows)), 1),
        "vo": (dealt, Unstructured(coefficients.points), 2),
    }


def part(name: str, layout: Any, rank: int, step: int, levels: int, points: int) -> np.ndarray:
    """A rank's part of a whole field."""
    full = whole(name, step, levels, points)
    nx, ny, nz = layout.grid.points
    x, y, z = indices(layout, rank)
    return np.ascontiguousarray(full.reshape(nz, ny, nx)[np.ix_(z, y, x)])


def run(comm: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """A run of some steps; returns the figures, of the first rank."""
    plan = load_plan("plan.toml", payload["plan"])
    server = FieldServer(plan, comm, servers=payload["servers"], method=payload.get("method"))
    model = server.comm
    if model is not None:
        rank, ranks = model.Get_rank(), model.Get_size()
        named = layouts(ranks)
        for name, (layout, geometry, levels) in named.items():
            server.define(name, layout, geometry, levels=range(1, levels + 1))
        kept: dict[str, np.ndarray] = {}
        mesh = np.arange(POINTS)[rank::ranks][::-1]  # dealt one by one, and backwards
        server.define("h", mesh, Gaussian(tuple(ROWS.rows)), levels=(1, 2), axis=0)
        for step in payload["steps"]:
            of_step = {name: part(name, where, rank, step, n, grid.points) for name, (where, grid, n) in named.items()}
            of_step["h"] = np.ascontiguousarray(whole("h", step, 2, POINTS)[:, mesh].T)
            hand = _start_all if payload.get("starts") else _write_all
            hand(server, step, of_step, kept)
            server.end_step(step)
    server.close()
    return server.figures


def _write_all(server: FieldServer, step: int, fields: dict[str, np.ndarray], kept: dict[str, np.ndarray]) -> None:
    for name, field in fields.items():
        server.write(name, field, step)
        field[...] = np.nan  # it is the model's again


def _start_all(server: FieldServer, step: int, fields: dict[str, np.ndarray], kept: dict[str, np.ndarray]) -> None:
    """Start all from arrays that are `kept` from step to step, of which rank 1 has two for each field."""
    assert server.comm is not None
    turn = step % 2 if server.comm.Get_rank() == 1 else 0
    arrays = {name: kept.setdefault(f"{name} {turn}", np.empty_like(field)) for name, field in fields.items()}
    for name, field in fields.items():
        arrays[name][...] = field
    started = [server.start(name, arrays[name], step) for name in fields]
    for each, array in zip(started, arrays.values(), strict=True):
        each.wait()
        array[...] = np.nan


def in_trouble(comm: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """A run whose last rank, a server, is in `trouble` from a step on: it stops, raises, or finishes nothing.

    `goes_on`: it comes back when the model has finished.
    """
    pids = comm.allgather(os.getpid())
    plan = load_plan("plan.toml", payload["plan"])
    server = FieldServer(plan, comm, servers=payload["servers"])
    model, trouble, go = server.comm, payload["trouble"], Path(payload["go"])
    if trouble == "slow" and comm.Get_rank() == comm.Get_size() - 1:
        _stall(server, payload["at"], go)
    if trouble == "raises" and comm.Get_rank() == comm.Get_size() - 1:
        _raise_at(server, payload["at"])
    if model is not None:
        rank, ranks = model.Get_rank(), model.Get_size()
        layout, geometry, levels = layouts(ranks)["t"]
        server.define("t", layout, geometry, levels=range(1, levels + 1))
        for step in payload["steps"]:
            if rank == 0 and step == payload["at"] and trouble == "stops":
                os.kill(pids[-1], signal.SIGSTOP)
            server.write("t", part("t", layout, rank, step, levels, geometry.points), step)
            server.end_step(step)
        server.finish()
        go.touch()
        if rank == 0 and payload["goes_on"]:
            os.kill(pids[-1], signal.SIGCONT)
    server.close()
    return server.figures


def _raise_at(server: FieldServer, step: int) -> None:
    """Let a server fail as it ends a step."""
    carry_out = server._server.carry_out

    def raises(order: Any) -> Any:
        if order["op"] == "end" and order["step"] == step:
            raise KeyError("an order that makes no sense")
        return carry_out(order)

    server._server.carry_out = raises


def _stall(server: FieldServer, step: int, go: Path) -> None:
    """Let the writer of a server write nothing from a step on, until there is a file `go`."""
    writer = server._server.writer
    write = writer._write_block

    def stalled(block: Any) -> None:
        while block.jobs[0].record.step >= step and not go.exists():
            time.sleep(0.001)
        write(block)

    writer._write_block = stalled


def started_from_an_array(comm: Any, payload: dict[str, Any]) -> list[str] | None:
    """Fields that go without a copy, to a server that writes nothing from step 1 on; returns the errors of the model.

    The array is the model's again before the server is lost in step 1, and afterwards in step 2.
    """
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=1)
    go, errors = Path(payload["go"]), []
    if server.comm is None:
        _stall(server, 1, go)
    else:
        rank, ranks = server.comm.Get_rank(), server.comm.Get_size()
        layout, geometry, levels = layouts(ranks)["t"]
        server.define("t", layout, geometry)
        arrays = [part("t", layout, rank, step, levels, geometry.points) for step in range(4)]
        for step in (0, 1):
            begun = server.start("t", arrays[step], step)
            begun.wait()
            arrays[step][...] = np.nan
            errors.append(error_of(lambda step=step: server.end_step(step)))
        begun = server.start("t", arrays[2], 2)
        errors += [error_of(lambda: server.end_step(2)), error_of(server.finish)]
        begun.wait()
        server.write("t", arrays[3], 3)
        errors += [error_of(lambda: server.end_step(3)), error_of(server.finish)]
        go.touch()
    server.close()
    return errors if comm.Get_rank() == 0 else None


def stopped_within(comm: Any, payload: dict[str, Any]) -> dict[str, Any] | None:
    """A server that stops within what it does together with the model, or as it ends; returns what followed.

    `place`: "define", before it takes the second one; "plan", as they make the plan of a block of another
    size; "start", before it takes a large field that goes without a copy; "input", as it sends a field; "end", when it
    is ordered to close.
    """
    pids, place = comm.allgather(os.getpid()), payload["place"]
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=1)
    if server.comm is None:
        with _stopping(server._server, place):
            server.close()
        return None
    rank, ranks = server.comm.Get_rank(), server.comm.Get_size()
    layout, geometry = tw.Blocks(tw.Grid(256, 128, 3), (1, ranks)), Regular.box(256, 128)
    for name in ("t", "u"):
        server.define(name, layout, geometry)
    values = np.full(layout.shape(rank), 1.0)
    found: dict[str, Any] = {}
    if place == "input":
        server.prefetch([payload["input"]])
        server.read("t", values, payload["input"])
        found["read"] = [float(values.min()), float(values.max())]
    for step in range(3):
        values[...] = step
        begun = server.start("t", values, step) if place == "start" else server.write("t", values, step)
        if place == "start":
            begun.wait()
            values[...] = np.nan
        elif step == 1:
            server.write("u", values, step)  # two fields in a block
        server.end_step(step)
        if place == "start":
            server.finish()  # the next field goes by the same plan
    server.finish()
    if place != "end" and rank == 0:
        os.kill(pids[-1], signal.SIGCONT)
    found["close"] = error_of(server.close)
    if place == "end" and rank == 0:
        os.kill(pids[-1], signal.SIGCONT)
    return found | {"taken_over": server.figures.get("taken_over")} if rank == 0 else None


@contextmanager
def _stopping(server: Any, place: str) -> Iterator[None]:
    """Let a server stop itself, once, at a place."""
    owner, name = {
        "define": (server, "defined"),
        "plan": (Slot, "bound"),
        "start": (Slot, "bound"),
        "input": (Delivery, "give"),
        "end": (server.writer, "close"),
    }[place]
    inner, calls = getattr(owner, name), []

    def stops(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        second = len(calls) == 2
        wanted = {"plan": arguments[-1:] == (2,), "start": second, "define": second}.get(place, True)
        if wanted and not stopped:
            stopped.append(True)
            os.kill(os.getpid(), signal.SIGSTOP)
        return inner(*arguments, **named)

    stopped: list[bool] = []
    setattr(owner, name, stops)
    try:
        yield
    finally:
        setattr(owner, name, inner)


def reading_from_a_stopped_server(comm: Any, payload: dict[str, Any]) -> dict[str, Any] | None:
    """Input of two servers, of which the last one is stopped when it has confirmed that it is available."""
    pids = comm.allgather(os.getpid())
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=2)
    right, inputs = [], payload["inputs"]
    if server.comm is not None:
        layout, geometry, levels = layouts(1)["t"]
        server.define("t", layout, geometry, levels=range(1, levels + 1))
        own = np.empty_like(part("t", layout, 0, 0, levels, geometry.points))
        server.prefetch(inputs)
        os.kill(pids[-1], signal.SIGSTOP)
        for number, path in enumerate(inputs):
            server.read("t", own, path)
            right.append(bool((own == part("t", layout, 0, number, levels, geometry.points)).all()))
        os.kill(pids[-1], signal.SIGCONT)
    server.close()
    return {"right": right, **server.figures} if comm.Get_rank() == 0 else None


def stopped_in_a_step_larger_than_the_queue(comm: Any, payload: dict[str, Any]) -> str | None:
    """A server that stops in a step of which it has written more than the model still has; returns the error."""
    pids = comm.allgather(os.getpid())
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=1)
    found = ""
    if server.comm is not None:
        grid = tw.Grid(*payload["points"], 1)
        names = [f"t{number}" for number in range(payload["fields"])]
        for name in names:
            server.define(name, tw.Blocks(grid, (1, 1)), Regular.box(*payload["points"]))
        for step in range(2):
            for number, name in enumerate(names):
                if (step, number) == (0, len(names) - 1):
                    os.kill(pids[-1], signal.SIGSTOP)
                server.write(name, np.full((1, *payload["points"][::-1]), float(number)), step)
            found += error_of(lambda step=step: server.end_step(step))
        found += error_of(server.finish)
        os.kill(pids[-1], signal.SIGCONT)
    server.close()
    return found if comm.Get_rank() == 0 else None


def killed(comm: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """A run of which one rank is killed before the n-th of the things that it does: makes a field, or changes files."""
    if comm.Get_rank() == payload["rank"]:
        death, made = Death(payload["moment"], Path(payload["folder"])), part

        def part_or_death(*arguments: Any) -> np.ndarray:
            death.come_nearer()
            return made(*arguments)

        globals()["part"] = part_or_death
    return run(comm, payload)


def on_a_small_disk(comm: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """A run whose server cannot write files of more than some bytes from step 2 on."""
    plan = load_plan("plan.toml", payload["plan"])
    server = FieldServer(plan, comm, servers=1)
    if server.comm is None:
        writer = server._server.writer
        ended = writer._end_step

        def limited(step: int, share: int) -> None:
            most = payload["maximum_bytes"] if step >= 2 else resource.RLIM_INFINITY
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
            ended(step, share)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        writer._end_step = limited
    else:
        layout, geometry, levels = layouts(1)["t"]
        server.define("t", layout, geometry, levels=range(1, levels + 1))
        for step in payload["steps"]:
            server.write("t", part("t", layout, 0, step, levels, geometry.points), step)
            server.end_step(step)
    server.close()
    return server.figures


def time_line(comm: Any, payload: dict[str, Any]) -> dict[str, Any] | None:
    """The order of HIRLAM's time line: two input files, a step, three output files, the next input, a step, output."""
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=1)
    model = server.comm
    found = None
    if model is not None:
        rank, ranks = model.Get_rank(), model.Get_size()
        layout, geometry, levels = layouts(ranks)["t"]
        server.define("t", layout, geometry, levels=range(1, levels + 1))
        own = np.empty_like(part("t", layout, rank, 0, levels, geometry.points))
        inputs = payload["inputs"]
        server.prefetch(inputs[:2])
        read = []
        for path in inputs[:2]:
            server.read("t", own, path)
            read.append(bool((own == part("t", layout, rank, inputs.index(path), levels, geometry.points)).all()))
        for step in range(2):
            own[...] = part("t", layout, rank, 10 + step, levels, geometry.points)
            server.write("t", own, step)
            server.end_step(step)
            if step == 0:
                server.prefetch(inputs[2:])
                server.finish()  # a step that takes long: a model that asks at once has the file read at once
                server.read("t", own, inputs[2])
                read.append(bool((own == part("t", layout, rank, 2, levels, geometry.points)).all()))
        found = model.gather(read)
    server.close()
    return {"figures": server.figures, "read": found, "model": server.events} if comm.Get_rank() == 0 else None


def with_a_stalled_writer(comm: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """A run whose server writes nothing until the model has handed over all steps, or as long as one step waits."""
    plan = load_plan("plan.toml", payload["plan"])
    server = FieldServer(plan, comm, servers=1)
    go, before = Path(payload["go"]), psutil.Process().memory_info().rss
    if server.comm is None:
        write = server._server.writer._write_block

        def stalled(block: Any) -> None:
            while payload["stalls"] and not go.exists():
                time.sleep(0.001)
            write(block)

        server._server.writer._write_block = stalled
    else:
        grid = tw.Grid(*payload["points"], 1)
        field = np.empty((1, *payload["points"][::-1]))
        server.define("t", tw.Blocks(grid, (1, 1)), Regular.box(*payload["points"]))
        for step in payload["steps"]:
            field[...] = step + np.arange(field.size).reshape(field.shape) / field.size
            server.write("t", field, step)
            server.end_step(step)
        go.touch()
    server.close()
    peaks = comm.gather(psutil.Process().memory_info().rss - before)
    return {**server.figures, "grown": peaks} if comm.Get_rank() == 0 else {}


def error_of(call: Any) -> str:
    """The error of a call, with its kind."""
    try:
        call()
    except TradewindError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def defined_late(comm: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Fields that are defined when others have been written; returns their errors, by the number of servers."""
    found = {}
    for servers in (0, 1):
        text = payload["plan"].replace("FOLDER", f"{payload['folder']}/{servers}")
        server = FieldServer(load_plan("plan.toml", text), comm, servers=servers)
        if server.comm is not None:
            rank, ranks = server.comm.Get_rank(), server.comm.Get_size()
            layout, geometry, levels = layouts(ranks)["t"]
            values = part("t", layout, rank, 0, levels, geometry.points)
            server.define("t", layout, geometry)
            server.write("t", values, 0)
            try:
                server.define("x", layout, geometry)
            except TradewindError as error:
                found[f"{servers}"] = str(error)
            server.define("u", layout, geometry)
            server.write("u", values, 0)
            server.end_step(0)
        server.close()
    return found


def many_arrays(comm: Any, payload: dict[str, Any]) -> dict[str, list[int]]:
    """Runs that start each field of a step from an array of its own, `many` in all, and wait for all at its end.

    Returns the steps that are there, by the number of servers.
    """
    found = {}
    for servers in payload["servers"]:
        text = payload["plan"].replace("FOLDER", f"{payload['folder']}/{servers}")
        server = FieldServer(load_plan("plan.toml", text), comm, servers=servers)
        if server.comm is not None:
            rank, ranks = server.comm.Get_rank(), server.comm.Get_size()
            layout, geometry, levels = layouts(ranks)["t"]
            names = [f"f{number}" for number in range(payload["many"])]
            for name in names:
                server.define(name, layout, geometry)
            arrays = [part("t", layout, rank, number, levels, geometry.points) for number in range(len(names))]
            for step in range(2):
                begun = [server.start(name, values, step) for name, values in zip(names, arrays, strict=True)]
                for each in begun:
                    each.wait()
                server.end_step(step)
        server.close()
        found[str(servers)] = committed_steps(f"{payload['folder']}/{servers}")
    return found


def troubled_at_the_end(comm: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """A run of which a server gets an order that makes no sense when all has been written, before that to close.

    Input was named that no rank reads.
    """
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=payload["servers"])
    if comm.Get_rank() == comm.Get_size() - 1:
        _fail_before_close(server._server)
    if server.comm is not None:
        rank, ranks = server.comm.Get_rank(), server.comm.Get_size()
        layout, geometry, levels = layouts(ranks)["t"]
        server.define("t", layout, geometry)
        server.prefetch(payload["inputs"])
        server.write("t", part("t", layout, rank, 0, levels, geometry.points), 0)
        server.end_step(0)
        server.finish()
    server.close()
    return server.figures


def _fail_before_close(server: Any) -> None:
    """Let a server carry out an order that there is not, before it closes."""
    receive = server._next

    def next_order() -> dict[str, Any]:
        order = receive()
        if order["op"] == "close":
            server._carry_out({"op": "nonsense"})
        return order

    server._next = next_order


def refusals(comm: Any, payload: dict[str, Any]) -> dict[str, str]:
    """Wrong calls of a model, and the error of each."""
    rank, text = comm.Get_rank(), payload["plan"]
    other = text.replace('"60s"', '"61s"') if rank == 1 else text
    found = {
        "plans": error_of(lambda: FieldServer(load_plan("plan.toml", other), comm)),
        "servers": error_of(lambda: FieldServer(load_plan("plan.toml", text), comm, servers=2)),
        "way": error_of(lambda: FieldServer(load_plan("plan.toml", text), comm, servers="many")),
        "transport": error_of(lambda: FieldServer(load_plan("plan.toml", text), comm, method={"transport": "nope"})),
        "fence": error_of(lambda: FieldServer(load_plan("plan.toml", text), comm, method={"transport": "put-fence"})),
        "algorithm": error_of(lambda: FieldServer(load_plan("plan.toml", text), comm, method={"algorithm": "ring"})),
        "spill": error_of(lambda: FieldServer(load_plan("plan.toml", payload["spill"]), comm, servers=1)),
    }
    server = FieldServer(load_plan("plan.toml", text), comm, servers=1)
    if server.comm is None:
        _raise_at(server, 6)
    else:
        layout, geometry, levels = layouts(1)["t"]
        server.define("t", layout, geometry, levels=(1, 2, 3))
        server.define("q", tw.Blocks(tw.Grid(12, 8, 1), (1, 1)), geometry, levels=(1, 2))
        values = part("t", layout, 0, 4, levels, geometry.points)
        one = np.ascontiguousarray(values[:1])
        found |= {
            "element": error_of(lambda: server.define("x", layout, geometry, dtype=np.int32)),
            "unknown": error_of(lambda: server.write("tt", values, 4)),
            "turned": error_of(lambda: server.write("t", np.ascontiguousarray(values.T), 4)),
            "mask": error_of(lambda: server.write("t", np.ma.masked_less(values, 281), 4)),
            "level": error_of(lambda: server.write("q", one, 4)),
            "level range": error_of(lambda: server.write("q", one, 4, level=2)),
        }
        server.write("t", values, 4)
        for level in (1, 0):
            server.write("q", one, 4, level=level)
        server.end_step(4)
        found |= {
            "name alone": error_of(lambda: server.prefetch("in.nc")),
            "no names": error_of(lambda: server.prefetch([3])),
        }
        bad = payload["inputs"]
        server.prefetch([f"{Path(path).parent}/./{Path(path).name}" for path in bad])  # the same files
        for number, path in enumerate(bad):
            found[f"input {number}"] = error_of(lambda path=path: server.read("t", values, path))
        server.write("t", values, 6)
        server.end_step(6)
        server.finish()
    server.close()
    found["closed"] = error_of(lambda: server.write("t", np.zeros(1), 9))
    found["taken over"] = json.dumps(server.figures.get("taken_over"))
    return found


def long_run(comm: Any, payload: dict[str, Any]) -> list[dict[str, float]]:
    """A run of many steps, of which the plan wants some; returns memory and seconds of the processor at moments."""
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=payload["servers"])
    layout = tw.Blocks(tw.Grid(4, 4, 1), (1, 1))
    server.define("t", layout, Regular.box(4, 4))
    found, field = [], np.ones((1, 4, 4))
    for step in range(payload["moments"][-1] + 1):
        if step in payload["moments"]:
            server.finish()
            gc.collect()
            process = psutil.Process()
            found.append({"bytes": process.memory_info().rss, "seconds": time.process_time()})
        server.write("t", field, step)
        if payload["ends_all"] or server.wants("t", step):
            server.end_step(step)
    server.close()
    return found
