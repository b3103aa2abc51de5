"""Time steps that ranks record, and what is wrong with their programs; run by test_recording.py on MPI ranks."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ranks_problems import problems_of

import tradewind as tw
from tradewind.base.errors import InputError, PlanError

GRID = (24, 16, 5)
PAUSE_S = 0.02
"""Computation of rank 1 in a step."""


class Model:
    """A plain model: a halo of two fields that overlaps with work, a fetch, rows of ranks, and a sum."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        rank, ranks = comm.Get_rank(), comm.Get_size()
        grid = tw.Grid(*GRID)
        blocks = tw.Blocks(grid, split=(2, ranks // 2))
        halo = tw.Halo(blocks, width=2, periodic="x")
        u, v = (np.zeros(halo.source_shape(rank)) for _ in range(2))
        self.halo = halo.plan(comm, [u, v], algorithm="sweep")
        levels = tw.Transpose(blocks, tw.Blocks(grid, split=(ranks, 1), axes="zx"))
        source = np.zeros(levels.source_shape(rank), np.float32)
        target = np.zeros(levels.target_shape(rank), np.float32)
        self.levels = levels.plan(comm, source, target, algorithm="ring-2")
        points = tw.Points(comm, range(10 * rank, 10 * rank + 10))
        fetch = points.fetch([(10 * rank + 13) % (10 * ranks), (10 * rank + 27) % (10 * ranks)])
        self.fetch = fetch.plan(comm, np.zeros(10), np.zeros(2))
        self.row = comm.Split(rank // 2, rank)
        sums = tw.AllReduce(2, 3)
        self.in_row = sums.plan(self.row, np.zeros(3), algorithm="recursive-2")
        self.total = tw.AllReduce(ranks, 1).plan(comm, np.zeros(1), algorithm="native")

    @property
    def calls(self) -> list[tuple[Any, int]]:
        """The plans of a step, and how often each is called."""
        return [(self.halo, 1), (self.levels, 2), (self.fetch, 1), (self.in_row, 1)]

    def step(self) -> None:
        self.halo.start()
        if self.comm.Get_rank() == 1:
            time.sleep(PAUSE_S)
        self.halo.poke()
        self.halo.wait()
        self.levels()
        self.fetch()
        self.in_row()
        self.levels()
        self.total()


class Uneven(Model):
    """The same with two ranks that gather output on a communicator of theirs, one of which pokes more often."""

    def __init__(self, comm: Any) -> None:
        super().__init__(comm)
        self.gathers = comm.Get_rank() % 2 == 1
        self.writers = comm.Split(comm.Get_rank() % 2, comm.Get_rank())
        if self.gathers:
            output = np.zeros(50)
            self.output = tw.AllReduce(self.writers.Get_size(), 50).plan(self.writers, output, algorithm="recursive-2")

    @property
    def calls(self) -> list[tuple[Any, int]]:
        return super().calls + ([(self.output, 1)] if self.gathers else [])

    def step(self) -> None:
        if self.gathers:
            self.output.start()
        self.halo.start()
        for _ in range(1 + (self.comm.Get_rank() == 3)):
            self.halo.poke()
        self.halo.wait()
        self.levels()
        self.fetch()
        self.in_row()
        self.levels()
        if self.gathers:
            self.output.wait()
        self.total()


def _difference(comm: Any, model: Model, program: Any) -> str:
    """Return how messages and bytes of the program differ from those that the plans sent."""
    own = [sum(plan.messages * times for plan, times in model.calls)]
    own += [sum(plan.bytes_sent * times for plan, times in model.calls)]
    messages, size = (sum(numbers) for numbers in zip(*comm.allgather(own), strict=True))
    verified = program.verify()
    (reduced,) = (exchange.core for exchange in program.exchanges if exchange.name.endswith("native"))
    sent = [m for rank in range(reduced.ranks) for stage in range(reduced.stages) for m in reduced.sends(rank, stage)]
    found = verified["messages"] - len(sent), verified["bytes"] - sum(m.count for m in sent) * 8
    if found != (messages, size):
        return f"messages and bytes of the program {found}, of its run {(messages, size)}"
    return ""


def own_steps(comm: Any, folder: Path) -> str:
    """Ranks with equal steps are a group, wherever they are; plans on some of the ranks are theirs, or of rows."""
    model = Uneven(comm)
    with tw.record(comm) as program:
        model.step()
    if different := _difference(comm, model, program):
        return different
    if (groups := [list(group.members) for group in program.groups]) != [[0, 2], [1], [3]]:
        return f"groups {groups}"
    among = {exchange.name: list(program.ranks_of(exchange)) for exchange in program.exchanges}
    patterns = [exchange.core.pattern.name for exchange in program.exchanges]
    if patterns != ["halo", "transpose", "fetch", "fetch", "allreduce", "allreduce"]:
        return f"patterns {patterns}"
    if [name for name, ranks in among.items() if len(ranks) < 4] != ["6 allreduce recursive-2"]:
        return f"exchanges among {among}"
    if (named := among["6 allreduce recursive-2"]) != [1, 3]:
        return f"the output is gathered by {named}"
    program.save(folder / "uneven.toml")
    comm.Barrier()
    here, there = (each.simulate("torus-M") for each in (program, tw.load_program(folder / "uneven.toml")))
    return "" if here["time_s"] == there["time_s"] else f"recorded {here['time_s']} s, loaded {there['time_s']} s"


def same_messages(comm: Any) -> str:
    """Messages and bytes of the program are those that the plans sent."""
    model = Model(comm)
    with tw.record(comm) as program:
        model.step()
    if different := _difference(comm, model, program):
        return different
    kinds = [type(step).__name__ for step in program.groups[0].steps if type(step).__name__ != "Compute"]
    wanted = ["Start", "Poke", "Wait", *["WholeExchange"] * 5]
    patterns = [exchange.core.pattern.name for exchange in program.exchanges]
    if patterns != ["halo", "transpose", "fetch", "fetch", "allreduce"]:
        return f"patterns {patterns}"
    return "" if kinds == wanted else f"steps {kinds}"


def same_when_loaded(comm: Any, folder: Path) -> str:
    """The saved file is the same program, which is simulated; computations last as long as they did."""
    model = Model(comm)
    with tw.record(comm) as program:
        model.step()
    program.save(folder / "step.toml")
    comm.Barrier()
    loaded = tw.load_program(folder / "step.toml")
    here, there = (each.simulate("torus-M") for each in (program, loaded))
    if here["time_s"] != there["time_s"] or here["messages"] != there["messages"]:
        return f"recorded {here['time_s']} s, loaded {there['time_s']} s"
    longest = [
        max(float(step.points[rank]) for step in program.groups[0].steps if hasattr(step, "points"))
        for rank in range(comm.Get_size())
    ]
    if here["time_s"] < PAUSE_S or longest[1] < PAUSE_S:
        return f"{PAUSE_S} s of rank 1 are missing: simulated {here['time_s']} s, longest computations {longest}"
    return ""


def rows_in_any_order(comm: Any) -> str:
    """Rows of different lengths, and columns, which ranks start in different orders, are one exchange each."""
    rank = comm.Get_rank()
    row, column = comm.Split(rank // 3, rank), comm.Split(rank % 3, rank)
    plans = [tw.AllReduce(own.Get_size(), 3).plan(own, np.zeros(3), algorithm="recursive-2") for own in (row, column)]
    with tw.record(comm) as program:
        for plan in plans if rank % 2 else plans[::-1]:
            plan.start()
        for plan in plans:
            plan.wait()
    sent = comm.allreduce(sum(plan.messages for plan in plans))
    if (found := program.verify()["messages"]) != sent:
        return f"{found} messages of the program, {sent} of its run"
    among = [list(program.ranks_of(exchange)) for exchange in program.exchanges]
    groups = sorted(list(group.members) for group in program.groups)
    return "" if among == [[0, 1, 2, 3]] * 2 and groups == [[0, 2], [1, 3]] else f"exchanges {among}, groups {groups}"


def components(comm: Any, folder: Path) -> str:
    """Halos of components that differ in a step are no exchange of both, and lie on grids of their own."""
    rank = comm.Get_rank()
    ocean = rank >= 2
    own = comm.Split(int(ocean), rank)
    halo = tw.Halo(tw.Blocks(tw.Grid(*(16, 12, 2) if ocean else GRID), split=(1, 2)), width=1)
    fill = halo.plan(own, np.zeros(halo.source_shape(own.Get_rank())), algorithm="sweep")
    total = tw.AllReduce(2, 1).plan(own, np.zeros(1), algorithm="recursive-2")
    coupled = tw.AllReduce(4, 7).plan(comm, np.zeros(7), algorithm="recursive-2")
    with tw.record(comm) as program:
        fill()
        if ocean:
            total()
        coupled()
    program.save(folder / "components.toml")
    comm.Barrier()
    wanted = {
        "1 halo sweep": ([0, 1], GRID),
        "2 allreduce recursive-2": ([0, 1, 2, 3], None),
        "3 halo sweep": ([2, 3], (16, 12, 2)),
        "4 allreduce recursive-2": ([2, 3], None),
    }
    for each in (program, tw.load_program(folder / "components.toml")):
        each.verify()
        found = {}
        for exchange in each.exchanges:
            pattern = exchange.core.pattern
            grid = pattern.layout.grid if pattern.name == "halo" else None
            found[exchange.name] = list(each.ranks_of(exchange)), grid and tuple(grid.points)
        if found != wanted:
            return f"exchanges {found}"
    return ""


def _refused(comm: Any, error: type[Exception], words: str, do: Callable[[Model], None]) -> str:
    model = Model(comm)
    try:
        with tw.record(comm):
            do(model)
    except error as found:
        problem = "" if words in str(found) else f"{found}"
    else:
        problem = "nothing was raised"
    if model.halo.in_flight:
        model.halo.wait()
    with tw.record(comm):  # and the next one works
        model.step()
    return problem


def refusals(comm: Any) -> dict[str, str]:
    rank = comm.Get_rank()

    def nested(model: Model) -> None:
        with tw.record(comm):
            model.step()

    def more_often(model: Model) -> None:
        nothing = tw.Points(comm, [rank]).fetch([]).plan(comm, np.zeros(1), np.zeros(0))
        for _ in range(1 + (rank == 2)):
            nothing()

    def raises(model: Model) -> None:
        if rank == 1:
            raise KeyError("of the model")

    def early(comm: Any) -> str:
        model = Model(comm)
        with tw.record(comm) as program:
            try:
                program.verify()
            except PlanError as error:
                problem = "" if "when the block of record() has ended" in str(error) else str(error)
            model.step()
        return problem

    own = KeyError if rank == 1 else PlanError
    failed = "of the model" if rank == 1 else "rank 1 cannot end this recording: KeyError: 'of the model'"
    return problems_of(
        comm,
        [
            ("open", lambda c: _refused(c, InputError, "and not awaited: halo", lambda model: model.halo.start())),
            ("nested", lambda c: _refused(c, PlanError, "a recording is under way", nested)),
            ("often", lambda c: _refused(c, InputError, "1 times on rank 0 and 2 times on rank 2", more_often)),
            ("raises", lambda c: _refused(c, own, failed, raises)),
            ("early", early),
        ],
    )


def run(comm: Any, folder: str) -> dict[str, str]:
    cases = [
        ("messages", same_messages),
        ("loaded", lambda comm: same_when_loaded(comm, Path(folder))),
        ("groups", lambda comm: own_steps(comm, Path(folder))),
        ("rows", rows_in_any_order),
        ("components", lambda comm: components(comm, Path(folder))),
    ]
    return problems_of(comm, cases) | refusals(comm)
