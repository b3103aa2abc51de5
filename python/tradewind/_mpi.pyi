"""Schedules on real MPI. Use it through tradewind.mpi."""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

import tradewind._core

class Plan:
    """
    A schedule bound to arrays and a communicator: call it as often as needed, on all ranks.

    start() posts the first messages and returns, wait() does the rest; a call is both. Between
    the two the source may be read but not written, and what the plan receives is undefined.
    Raises PlanError when used out of turn, after its communicator is gone, or when MPI fails.
    """

    def __call__(self) -> None: ...
    def start(self) -> None: ...
    def wait(self) -> None: ...
    def poke(self) -> bool:
        """
        Between start and wait: completes what has come and posts the next stage, without waiting. Returns whether
        wait will return at once. Does nothing where the transport cannot go on without waiting, see `pokes`.
        """

    @property
    def pokes(self) -> bool:
        """
        Whether the transport can go on in a poke: isend-irecv, persistent, put-notify and MPI's collectives can.
        """

    @property
    def in_flight(self) -> bool:
        """Started, not yet waited for."""

    @property
    def messages(self) -> int:
        """MPI messages that this rank sends in one call."""

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends in one call."""

    @property
    def transport(self) -> str: ...
    @property
    def packing(self) -> str: ...
    @property
    def staging(self) -> str:
        """
        How messages of arrays on a device reach MPI, in words; "" of arrays in the host's memory.
        """

    @property
    def stream(self) -> int:
        """
        The stream of the caller's work on a device, as a number: what a call reads was written before in it,
        and what comes later in it reads what the call wrote. 0 of arrays in the host's memory.
        """

    @stream.setter
    def stream(self, arg: int, /) -> None: ...
    @property
    def in_shared_memory(self) -> bool:
        """
        Whether all source arrays lie in memory that the ranks of a node share; see tradewind.empty.
        """

    @property
    def seconds(self) -> dict:
        """
        By activity (pack, post, copy, wait, unpack) this rank's seconds since the plan was made or
        cleared; 0 unless it records.
        """

    @property
    def events(self) -> list[tuple[str, int, int, int, float, float]]:
        """
        [(activity, stage, peer or -1, bytes, begin, end)] in seconds of time.perf_counter(), where the
        plan records events.
        """

    def clear(self) -> None:
        """Forgets seconds and events."""

    def describe(self) -> str:
        """Pattern and algorithm, in words."""

    def __repr__(self) -> str: ...

class Request:
    """Request for a plan; see tradewind.mpi.plan."""

    def __init__(
        self,
        source: Sequence[tuple[object, Sequence[int], Sequence[int]]],
        target: Sequence[tuple[object, Sequence[int], Sequence[int]]],
        arrays: object,
        element: str,
        operation: str,
        largest_message: int,
        pack_ahead: bool,
        synchronous: bool,
        check: bool,
        watchdog_s: float,
        record: str,
        ranks_per_node: int,
        device: tuple[str, int, int | None] | None = None,
        pushes_at_once: bool = True,
        split_levels: Sequence[Sequence[int]] = [],
    ) -> None: ...
    @property
    def in_shared_memory(self) -> bool:
        """Whether all source arrays lie in memory of `shared_bytes`."""

def schedule_plan(
    schedule: tradewind._core.Schedule, comm: int, request: Request, transport: str, packing: str, tentative: bool
) -> Plan | None:
    """
    Collective. Raises where the ranks make different plans; returns None there if the plan is `tentative`.
    """

def native_plan(
    pattern: tradewind._core.Pattern, comm: int, request: Request, transport: str, packing: str, tentative: bool
) -> Plan | None:
    """As schedule_plan, by the MPI library's own collective."""

class Points:
    """The points that each rank owns; see tradewind.points."""

    @staticmethod
    def of_ids(
        comm: int, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> Points: ...
    @staticmethod
    def of_count(comm: int, count: int) -> Points: ...
    @staticmethod
    def of_layout(comm: int, layout: tradewind._core.Blocks) -> Points: ...
    @property
    def rank(self) -> int: ...
    @property
    def ranks(self) -> int: ...
    @property
    def count(self) -> int:
        """Points that this rank owns."""

    def refuse(self, problem: str) -> None:
        """
        Tells the other ranks, which make or ask something together, that this one cannot: they raise. Collective.
        """

    def locate(
        self, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]
    ]:
        """Owners of ids, and the places in their arrays. Collective."""

    def fetch_ids(
        self,
        ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        behind: int,
        one_array: bool,
        known: bool,
        peers: Sequence[int],
    ) -> tradewind._core.Fetch: ...
    def fetch(
        self,
        owner: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        target: int,
        one_array: bool,
        known: bool,
        peers: Sequence[int],
    ) -> tradewind._core.Fetch: ...

def share_ids(
    comm: int,
    ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    operation: str,
) -> tradewind._core.ListedGatherScatter:
    """
    The gather-scatter of the ids of this rank's values, each rank's of its own. Collective.
    """

class Dealing:
    """The shares of an output to which the files of a plan go."""

    def __init__(self, plan: bytes, shares: int, bytes_of: Callable) -> None:
        """
        `bytes_of`: bytes of a file by its path, with a star for a level, and step.
        """

    def share_of(self, field: str, step: int, sink: str, level: float = 0.0) -> int: ...
    def end_step(self, step: int) -> None:
        """Forget the files of a step, and of those before."""

    @property
    def is_empty(self) -> bool:
        """Whether no file of a step is kept."""

class FieldServer:
    """The side of the model of a field server; see tradewind.FieldServer."""

    def __init__(
        self,
        model: int,
        plan: bytes,
        transport: str,
        packing: str,
        servers: Sequence[int],
        make_writer: object,
        waits: bool,
        steps: int,
    ) -> None:
        """
        Collective. `plan`: as servers send it. `servers`: of each a communicator of the ranks of the model and the
        server behind them; none: each rank of the model writes. `make_writer`: returns a writer of this rank.
        """

    def define(
        self,
        name: str,
        layout: tradewind._core.Product | None,
        own: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        points: int,
        element: str,
        levels: Sequence[float],
        axis: int,
        attributes: Sequence[tuple[str, str]],
        geometry_name: str,
        geometry: str,
    ) -> None:
        """
        Define a field in a layout, or of the `own` points of a level of this rank. `attributes`: keys, and values
        as JSON. `geometry`: JSON, or nothing where the writers know its name.
        """

    def knows_geometry(self, name: str) -> bool: ...
    def shape(self, name: str) -> list[int]:
        """
        Points of this rank's array of a field along x, y, z; of listed points: points, levels, 1.
        """

    def write(self, name: str, values: object, step: int, level: int) -> None: ...
    def start(self, name: str, values: object, owner: object | None, step: int, level: int) -> int:
        """
        Return the number of the call. `owner`: what holds the memory, where it is shared.
        """

    def wait_for(self, call: int) -> None: ...
    def end_step(self, step: int) -> None: ...
    def prefetch(self, paths: Sequence[bytes]) -> None: ...
    def read(self, name: str, values: object, path: bytes) -> None: ...
    def finish(self) -> None: ...
    def send_error(self, text: str, input: bool) -> None:
        """Send an error of this rank to the others; raises what was met before."""

    @property
    def is_broken(self) -> bool:
        """Whether an error has ended what the ranks do together."""

    def end(self) -> bool:
        """End; returns whether all ranks have taken part."""

    def raise_end(self) -> None: ...
    def leave(self, text: str) -> list[str]:
        """
        End without the other ranks, to which the error is sent. Returns errors of writers that no rank has raised.
        """

    def part(self) -> None: ...
    @property
    def dropped(self) -> int: ...
    @property
    def lost(self) -> list[tuple[int, str, bool, int]]:
        """
        Servers that are lost: (number, reason, whether a server has taken over, its number or rank).
        """

    @property
    def server_figures(self) -> list:
        """Figures of the servers that have ended, in JSON, on the first rank."""

class Processes(tradewind._core.Peers):
    """The processes of a communicator, for a simulation. Collective."""

    def __init__(self, comm: int) -> None: ...

def agree(comm: int, identity: str, problem: str, limit_s: float = 0.0, recording: bool = False) -> None:
    """
    Collective: raises unless all ranks give the same text and none has a problem. A rank that waits for the
    others for longer than `limit_s` (0: no limit) raises, too. `recording`: errors are those of a recording.
    """

def agreements() -> tuple[int, int]:
    """
    Agreements in which this thread has taken part, and those of them that have failed.
    """

def decline(comm: int, limit_s: float = 0.0) -> None:
    """
    Takes part in place of a tentative plan that this rank does not have: the other ranks get none, either.
    Raises where one of them has a problem; see `agree`.
    """

@overload
def allgather_lists(
    comm: int, pattern: tradewind._core.Pattern, algorithm: str, needed: bool
) -> tradewind._core.Pattern:
    """
    The pattern of a plan, a fetch or its adjoint, with the lists of all ranks, which rank 0's algorithm needs; raises where not all ranks' do. Collective.
    """

@overload
def allgather_lists(comm: int, fetch: tradewind._core.Fetch) -> tradewind._core.Fetch:
    """A fetch with the lists of all ranks. Collective."""

def measure(
    comm: int, steps: Sequence[tuple[Plan, int]], warmup: int, samples: int, copy_only: bool = False
) -> tuple[list[float], list[list[float]]]:
    """
    Collective. Seconds of `samples` exchanges, the maximum over ranks: ([sample], [step][sample]).
    """

def device_of(pointer: int) -> tuple[str, int] | None:
    """
    The driver and the number of the device that an address lies on; None: on none that is known.
    """

def copy_to_host(
    field: tuple[object, Sequence[int], Sequence[int]],
    device: tuple[str, int, int | None] | None,
    element: str,
    host: object,
) -> None:
    """Copy an array on a device to a dense one of the host, x fastest."""

def copy_from_host(
    field: tuple[object, Sequence[int], Sequence[int]],
    device: tuple[str, int, int | None] | None,
    element: str,
    host: object,
) -> None:
    """Copy a dense array of the host, x fastest, to one on a device."""

def shared_bytes(bytes: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """An array in memory that the ranks of a node share."""

def record_begin(comm: int) -> None:
    """Record what all plans do from here on. Collective."""

def record_end(problem: str = "") -> str:
    """
    End the recording, and return the text of a program file. Collective. `problem`: why this rank has nothing to record.
    """

def library_name() -> str:
    """Return the name and version of the MPI library, in one line."""

def host_of(comm: int) -> tuple[str, str, int]:
    """
    The processor and MPI library of this rank, and the maximum of ranks per node. Collective.
    """

def library_version() -> str:
    """Return the name and version of the MPI library in use."""

build_mpi: str = "MPICH 5.0.2"

build_compiler: str = "12.2.0"
