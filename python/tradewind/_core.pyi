"""
The compiled core of Tradewind: layouts, patterns, schedules, and what verifies and simulates them.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

class Grid:
    """nx x ny x nz grid points; arrays are [z][y][x], x fastest."""

    def __init__(self, nx: int, ny: int, nz: int = 1) -> None: ...
    @property
    def points(self) -> list[int]:
        """(nx, ny, nz)"""

    def __repr__(self) -> str: ...

class Layout:
    """The points of a grid divided among ranks; each point has one owner."""

    @property
    def grid(self) -> Grid: ...
    @property
    def ranks(self) -> int: ...
    def describe(self) -> str: ...
    def __repr__(self) -> str: ...
    def boxes(self, rank: int) -> list[tuple[list[int], list[int]]]:
        """
        [((x0, y0, z0), (x1, y1, z1))] of the points that a rank owns, upper bounds excluded; they do not overlap.
        """

    def owner(self, point: Sequence[int]) -> int:
        """The rank that owns the point (x, y, z)."""

class Parts:
    """One direction of a grid divided among parts; a part may hold nothing."""

    @staticmethod
    def even(points: int, parts: int) -> Parts:
        """As evenly as it goes, the first parts one point more."""

    @staticmethod
    def cut(
        cuts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Parts:
        """Part p holds the points from cuts[p] up to cuts[p + 1]."""

    @staticmethod
    def dealt(
        owners: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        parts: int,
    ) -> Parts:
        """`owners`: the part of each point."""

    @property
    def points(self) -> int: ...
    @property
    def parts(self) -> int: ...
    def width(self, part: int) -> int:
        """Points of a part."""

    def runs(self, part: int) -> list[tuple[int, int]]:
        """[(begin, end)] of the points of a part, ascending."""

class Lists(Layout):
    """
    Points that are known by their numbers alone: those of each rank, in the order of its array. Point i of n lies
    at x = i of a grid of n x 1 x 1 points. Raises InputError for a number that is missing or owned twice.
    """

    def __init__(
        self,
        ids: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]],
    ) -> None: ...
    def ids(self, rank: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """The numbers of a rank's points, in the order of its array."""

class Blocks(Layout):
    """
    A grid divided along two of its directions: rank i + j * split[0] owns part i of the first of
    `axes` and part j of the second. Raises InputError where a part would be empty.
    """

    def __init__(self, grid: Grid, split: Sequence[int], axes: str = "xy") -> None: ...
    @property
    def split(self) -> list[int]: ...
    @property
    def axes(self) -> str: ...
    def box(self, rank: int) -> tuple[list[int], list[int]]:
        """
        ((x0, y0, z0), (x1, y1, z1)) of the points that a rank owns, the upper bound excluded.
        """

    def shape(self, rank: int) -> tuple[int, int, int]:
        """(nz, ny, nx) of a rank's array."""

class Product(Layout):
    """
    Each direction of a grid divided by itself, among the ranks from `first` on; the others own nothing.
    `coordinates`: for x, y and z the coordinate of a rank, 0 or 1, that divides it; -1: none. Raises InputError
    where parts and grid do not go together.
    """

    @overload
    def __init__(
        self, grid: Grid, parts: Sequence[Parts], coordinates: Sequence[int], first: int, ranks: int, name: str
    ) -> None: ...
    @overload
    def __init__(self, blocks: Blocks) -> None: ...
    @overload
    def __init__(self, other: Product) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def first(self) -> int: ...
    @property
    def split(self) -> list[int]: ...
    def parts(self, axis: int) -> Parts:
        """How direction 0, 1 or 2 (x, y, z) is divided."""

    def part_of(self, rank: int) -> list[int] | None:
        """The parts (x, y, z) that a rank has; None where it owns nothing."""

    def shape(self, rank: int) -> tuple[int, int, int]:
        """(nz, ny, nx) of a rank's array."""

    def in_one_row(self) -> Product:
        """
        The same points where the rows of a grid lie one after another along x: (nx ny, 1, nz) points. Raises
        InputError where x is divided.
        """

    def in_lines(
        self,
        begins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Product:
        """
        The same where z are lines of different lengths and y their places: line l has the places
        begins[l]..ends[l] - 1. The points of all lines follow each other along z. Raises InputError for other
        numbers of lines and places than the grid has.
        """

    @property
    def lines(self) -> tuple[list[int], list[int]] | None:
        """
        (begins, ends) of lines of different lengths; None where there are none.
        """

    def placed(self, from_rank: int, ranks: int) -> Product:
        """
        The same on `ranks` ranks, of which those from `from_rank` on own something.
        """

def pencil_axes(along: str) -> str: ...

class Pattern:
    """Data that must move between ranks."""

    @property
    def name(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def in_place(self) -> bool: ...
    @property
    def reduces(self) -> bool: ...
    @property
    def collective(self) -> str:
        """
        The collective that an MPI library has for it: "all-to-all" within each group, "reduction", or "" for none.
        """

    @property
    def has_levels(self) -> bool:
        """Whether its arrays hold points along x, and any levels along y and z."""

    def for_levels(self, levels: Sequence[int]) -> Pattern:
        """
        The same pattern with other levels along y and z. Raises InputError where it has none.
        """

    @property
    def one_array(self) -> bool:
        """
        Whether source and target may be one array, though they are described as two.
        """

    def describe(self) -> str: ...
    def __repr__(self) -> str: ...
    def source_shape(self, rank: int) -> tuple[int, int, int]:
        """(nz, ny, nx) of the array that a rank sends from."""

    def target_shape(self, rank: int) -> tuple[int, int, int]:
        """(nz, ny, nx) of the array that a rank receives into."""

    def expected(self, rank: int) -> list[tuple[list[int], list[int]]]:
        """
        [((x0, y0, z0), (x1, y1, z1))] of the points that a rank must end with, upper bounds excluded.
        """

max_points: int = 1152921504606846976

max_bytes: int = 9223372036854775807

def check_bytes(pattern: Pattern, bytes_per_point: int) -> None:
    """
    Raises InputError where the arrays of all ranks have more bytes than can be counted.
    """

class Halo(Pattern):
    def __init__(self, layout: Blocks, width: int, periodic: Sequence[bool]) -> None: ...
    @property
    def layout(self) -> Blocks: ...
    @property
    def width(self) -> int: ...
    @property
    def periodic(self) -> tuple[bool, bool]:
        """Whether x and y are periodic."""

    def widened(self, rank: int, by: int = 0) -> tuple[slice, slice, slice]:
        """
        Slices (z, y, x) of a rank's array: its own points, and `by` more on every side that the exchange fills.
        """

    def interior(self, rank: int, reach: int) -> tuple[slice, slice, slice]:
        """
        Slices (z, y, x) of a rank's array: its own points whose stencil of this reach needs no point of the
        halo. May be empty.
        """

    def rim(self, rank: int, reach: int) -> list[tuple[slice, slice, slice]]:
        """
        The own points that are not in the interior: boxes that do not overlap, each as slices (z, y, x).
        """

class Transpose(Pattern):
    def __init__(self, from_layout: Blocks, to_layout: Blocks) -> None: ...
    @property
    def from_layout(self) -> Blocks: ...
    @property
    def to_layout(self) -> Blocks: ...
    @property
    def complete(self) -> bool: ...

class Redistribution(Pattern):
    """
    The transposition between any two layouts that have a closed form: a rank may own nothing in one of them.
    """

    def __init__(self, from_layout: Product, to_layout: Product) -> None: ...
    @property
    def from_layout(self) -> Product: ...
    @property
    def to_layout(self) -> Product: ...
    @property
    def complete(self) -> bool:
        """
        Whether the senders of each group are its receivers, so that blocks can be passed on.
        """

class AllReduce(Pattern):
    def __init__(self, ranks: int, count: int) -> None: ...
    @property
    def count(self) -> int: ...

class Fetch(Pattern):
    @overload
    def __init__(
        self,
        sources: Sequence[int],
        lists: Sequence[
            tuple[
                Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
                Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
                Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
                int,
            ]
        ],
        one_array: bool = False,
    ) -> None:
        """
        By rank the points of its source array, and (owners, indices, places, points of its target array).
        """

    @overload
    def __init__(self, other: Fetch) -> None:
        """The same; what it describes is shared."""

    @property
    def partial(self) -> bool:
        """Whether it describes one rank alone."""

    def list_of(
        self, rank: int
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        int,
    ]:
        """
        (owners, indices, places, points of the target array) of what a rank wants.
        """

    def sent_by(self, rank: int) -> list[tuple[int, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]]:
        """[(rank, indices)] of the points that a rank sends to others."""

    def requests(self, rank: int) -> list[tuple[int, int]]:
        """
        [(owner, bytes)] of the lists that a rank sends on MPI to the owners of the points that it wants.
        """

    @property
    def points(self) -> int:
        """Points that all ranks together fetch."""

    @property
    def levels(self) -> list[int]:
        """Along y and z."""

    def with_levels(self, levels: Sequence[int]) -> Fetch:
        """The same with other levels along y and z."""

def fetch_of_ids(
    owned: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]],
    wanted: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]],
) -> Fetch:
    """By rank the global ids of its own points, and those that it wants."""

class RowRings:
    """Points around parts of a reduced grid, counted row by row."""

    def __init__(
        self, lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None:
        """The points of each row."""

    def around(
        self,
        own: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        width: int,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The points within `width` steps of some, without these, ascending."""

def fetch_of_messages(counts: Sequence[int], messages: Sequence[tuple[int, int, int]]) -> Fetch:
    """
    Make a fetch of [(source, destination, points)], no two between the same ranks; `counts`: points of each rank.
    """

class FetchAdjoint(Pattern):
    def __init__(self, fetch: Fetch) -> None: ...
    @property
    def fetch(self) -> Fetch: ...
    @property
    def partial(self) -> bool: ...
    @property
    def levels(self) -> list[int]: ...
    def with_levels(self, levels: Sequence[int]) -> FetchAdjoint: ...

class GatherScatter(Pattern):
    """
    Each value becomes the combination of all values of its id, wherever they are.
    """

    @property
    def operation(self) -> str:
        """add, mul, min or max."""

    @property
    def levels(self) -> list[int]:
        """Along y and z."""

    @property
    def partial(self) -> bool:
        """Whether it describes one rank alone."""

    @property
    def shared(self) -> int:
        """Ids that several ranks have, all together."""

    def values(self, rank: int) -> int:
        """Values of a rank."""

    def shared_ids(self, rank: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The ids that a rank shares with others, in the order of its cells."""

class ListedGatherScatter(GatherScatter):
    def __init__(self, other: ListedGatherScatter) -> None:
        """The same; what it describes is shared."""

class BrickGatherScatter(GatherScatter):
    def __init__(
        self, elements: Sequence[int], points: int, split: Sequence[int], periodic: Sequence[bool], operation: str
    ) -> None:
        """
        Elements of each rank, points of an element along each direction, ranks; x, y, z.
        """

    @property
    def elements(self) -> list[int]: ...
    @property
    def points(self) -> int: ...
    @property
    def split(self) -> list[int]: ...
    @property
    def periodic(self) -> list[bool]: ...
    def ids(self, rank: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The ids of a rank's values, in the order of its array."""

class LocalCopies:
    """
    The gather-scatter within one rank: groups of values with one id. Groups at constant distances from each other are
    combined by strides, the others by lists; without `sweeps` all are, by lists.
    """

    def __init__(
        self,
        ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        sweeps: bool = True,
    ) -> None: ...
    @overload
    def combine(
        self,
        values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        operation: str = "add",
    ) -> None:
        """Each value becomes the combination of all values of its id, in place."""

    @overload
    def combine(
        self,
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        operation: str = "add",
    ) -> None: ...

def gather_scatter_of_ids(
    ids: Sequence[Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]],
    operation: str,
) -> ListedGatherScatter:
    """By rank the ids of its values; those below 1 take no part."""

class Message:
    @property
    def peer(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def tag(self) -> int: ...
    @property
    def parity(self) -> int: ...

class Schedule:
    """Stages of messages between the ranks of a pattern."""

    @property
    def algorithm(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def stages(self) -> int: ...
    @property
    def pattern(self) -> Pattern: ...
    def __repr__(self) -> str: ...
    def sends(self, rank: int, stage: int) -> list[Message]:
        """The messages that a rank sends in a stage."""

    def receives(self, rank: int, stage: int) -> list[Message]:
        """The messages that a rank receives in a stage."""

class AlgorithmEntry:
    @property
    def pattern(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def has_radix(self) -> bool: ...
    @property
    def description(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def is_default(self) -> bool: ...
    def radices(self, pattern: Pattern) -> list[int]: ...

def algorithms() -> list[AlgorithmEntry]: ...
def make_schedule(pattern: Pattern, algorithm: str) -> Schedule: ...
def one_by_one(schedule: Schedule) -> Schedule:
    """
    Return the same messages in the posting order of sendrecv, one exchange of a stage after another, for
    simulations. Raises InputError where both ends of a message number it otherwise.
    """

def ascending(schedule: Schedule) -> Schedule:
    """
    Return the same messages, the sends of each stage in ascending order of their receivers. Raises InputError
    where they do not go around the ring of ranks.
    """

def schedule_of_messages(ranks: int, messages: Sequence[tuple[int, int, int, int, int, int]]) -> Schedule:
    """
    Make a schedule of [(stage, source, destination, points, tag, half)]. Raises InputError; see algorithm/listed.hpp.
    """

def default_algorithm(pattern: str) -> str:
    """
    Return the algorithm of a pattern where none is named: one that every rank count allows.
    """

def variable_of(pattern: str) -> str:
    """The environment variable that names the method of a pattern."""

def carried_method(pattern: Pattern, algorithm: str, transport: str, packing: str) -> tuple[str, str, str]:
    """
    How a plan carries out a method: of "native" the collective that MPI has for the pattern. Raises InputError for a transport or packing that goes with another one.
    """

all_to_all_transport: str = "alltoallv"

def native_refusal(pattern: Pattern) -> str:
    """Why MPI has no collective for a pattern; "" where it has."""

def needs_all_lists(pattern: Pattern, algorithm: str) -> bool:
    """
    Whether an algorithm passes points on from rank to rank, and a fetch has the wants of one rank alone.
    """

def method_refusal(pattern: Pattern, algorithm: str, transport: str, packing: str) -> str:
    """
    Why a pattern cannot be carried out by a method; "" where it can. Parts that are "" count as their defaults.
    """

def choose_method(
    pattern: Pattern,
    asked: Sequence[str],
    environment: str,
    tuning: tuple[str, bytes],
    dtype: str,
    fields: int,
    memory: str,
    host: tuple[str, str, int] | None,
) -> tuple[list[str], list[str], str]:
    """
    The method for a pattern, where each part came from ("argument", the variable, the file, or "default"), and a warning. `asked`: algorithm, transport and packing. `environment`: the text of the pattern's variable. `tuning`: what errors call the setting of the tuning file, and its bytes. Raises InputError for what cannot be.
    """

def tuning_request(
    pattern: Pattern, dtype: str, fields: int, memory: str
) -> list[tuple[str, str | int | bool | list[int]]]:
    """
    The keys and values of a request for a plan, by which an entry of a tuning file is found.
    """

def kept_entries(path: bytes, text: str) -> bytes:
    """
    The text of those entries of a tuning file that none of the entries of `text` replaces. Raises InputError with what is wrong in the file, each mistake with its line.
    """

def cpu_name() -> str:
    """Return the name of this processor, as the system gives it."""

class Topology:
    """How switches are wired, and where nodes are attached."""

    @property
    def name(self) -> str: ...
    def describe(self) -> str: ...
    @property
    def switches(self) -> int: ...
    @property
    def radix(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def nodes_per_switch(self) -> int: ...
    @property
    def first_terminal(self) -> int: ...
    def links(self) -> int:
        """Links between switches, each of which joins two of them both ways."""

    def port(self, switch: int, port: int) -> tuple[str, int, int]:
        """(kind, switch, port) of the other end of a port's link."""

    def distance(self, from_switch: int, to_switch: int) -> tuple[int, int]:
        """(local, global) links on a shortest path."""

class Torus(Topology):
    def __init__(self, shape: Sequence[int], nodes_per_switch: int) -> None: ...

class FatTree(Topology):
    def __init__(self, down_ports: Sequence[int], up_ports: Sequence[int]) -> None: ...

class Dragonfly(Topology):
    def __init__(
        self,
        rows: int,
        columns: int,
        groups: int,
        nodes_per_switch: int,
        global_links: int,
        arrangement: str = "spread",
    ) -> None: ...

class DragonflyPlus(Topology):
    def __init__(
        self,
        leaves: int,
        spines: int,
        groups: int,
        nodes_per_switch: int,
        global_links: int,
        arrangement: str = "spread",
    ) -> None: ...

class HyperX(Topology):
    def __init__(self, shape: Sequence[int], links: Sequence[int], nodes_per_switch: int) -> None: ...

class Complete(Topology):
    def __init__(self, switches: int, links: int, nodes_per_switch: int) -> None: ...

class Hypercube(Topology):
    def __init__(self, dimensions: int, links: int, nodes_per_switch: int) -> None: ...

class SlimFly(Topology):
    def __init__(self, q: int, nodes_per_switch: int) -> None: ...

class CubeMesh(Topology):
    def __init__(self, gpu: str, boxes: int) -> None: ...

class Graph(Topology):
    def __init__(self, text: str, file: str, nodes_per_switch: int, node_switches: int) -> None: ...

class Crossbar(Topology):
    def __init__(self, nodes: int) -> None: ...

class Machine:
    """Bandwidths in bytes per second, latencies and overheads in seconds."""

    def __init__(
        self,
        *,
        topology: Topology,
        routing: str,
        link_bandwidth: float,
        link_latency: float,
        global_bandwidth: float,
        global_latency: float,
        injection_bandwidth: float,
        injection_latency: float,
        ejection_bandwidth: float,
        ejection_latency: float,
        send_overhead: float,
        receive_overhead: float,
        memory_bandwidth: float,
        buffer: int = 65536,
        crossbar_bandwidth: float = 0,
        nics: int = 1,
        copy_bandwidth: float = 1e18,
        flops: float = 0,
        eager_limit: int = -1,
        header: int = 64,
        bypass: int = 0,
        port_buffer: int = 0,
        output_buffer: int = 0,
        channels: int = 0,
        nic_buffer: int = 0,
        bypass_last_dimension: bool = False,
        unexpected_bandwidth: float = 0,
        receives_at_start: bool = False,
    ) -> None: ...
    @property
    def topology(self) -> Topology: ...
    @property
    def nodes(self) -> int: ...
    @property
    def groups(self) -> int:
        """
        Groups of switches that hold nodes: of dragonflies, and boxes of a cubemesh; else 1.
        """

    @property
    def buffer_sizes(self) -> tuple[int, int, int]:
        """
        Bytes of an input buffer's channel, of one behind the crossbar (0: none), of the buffer for a NIC.
        """

    @property
    def routing(self) -> str: ...

class RateTable:
    """Rates in bytes per second, by bytes and by the runs in which they lie."""

    def __init__(
        self, sizes: Sequence[float], runs: Sequence[float], rates: Sequence[Sequence[float]], whole: Sequence[float]
    ) -> None: ...

class IntranodeTransport:
    """Cost of messages within a node, of one transport with one packing."""

    def __init__(
        self,
        *,
        latency: float,
        overhead: float,
        rates: RateTable,
        copies: RateTable,
        element_bytes: int = 8,
        scattered: RateTable | None = None,
        gathered: RateTable | None = None,
    ) -> None: ...
    def send_seconds(self, bytes: float, runs: float = 1, alike: bool = True) -> float: ...
    def receive_seconds(self, bytes: float, runs: float = 1, alike: bool = True) -> float:
        """
        Return the CPU time of the receiver for a message in this many runs, without half of the overhead.
        """

    def combined_seconds(self, bytes: float) -> float: ...

class Walker:
    """
    Walks single packets by the routing of a machine, without a simulation.
    """

    def __init__(self, machine: Machine) -> None: ...
    @property
    def channels(self) -> int:
        """Virtual channels that make the routing free of deadlock."""

    def walk(self, from_node: int, to_node: int, random: int = 0, queues: int = 0) -> list[tuple[int, int, int]]:
        """
        (switch, port, virtual channel) of every link between switches on a packet's way. `random` are its 30 random bits; queues are empty where `queues` is 0, else drawn from it.
        """

class Placement:
    def __init__(
        self,
        kind: str,
        ranks: int,
        ranks_per_node: int,
        nodes: int,
        seed: int,
        split: Sequence[int] = [0, 0],
        holders: Sequence[int] = [0, 0],
        torus: Sequence[int] = [],
    ) -> None: ...
    @property
    def ranks(self) -> int: ...
    def node(self, rank: int) -> int: ...

class RoutingEntry:
    @property
    def name(self) -> str: ...
    @property
    def topology(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def source(self) -> str: ...

class TopologyEntry:
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def source(self) -> str: ...

def placements() -> list[str]: ...
def routings() -> list[RoutingEntry]: ...
def topologies() -> list[TopologyEntry]: ...

class Matchings:
    """All matchings of receives from anywhere that were possible."""

    @property
    def receives(self) -> int: ...
    @property
    def kept(self) -> int:
        """Receives that take what they took."""

    @property
    def states(self) -> int: ...
    @property
    def unclear(self) -> int:
        """States in which a rank tests for what comes first."""

    @property
    def complete(self) -> bool: ...
    @property
    def hangs(self) -> bool: ...
    @property
    def waiting(self) -> list[tuple[int, int, bool, int, int, int]]:
        """
        (rank, peer, or -1 for anyone, whether it sends, bytes, label, row) of a chain of ranks that wait.
        """

    @property
    def taken(self) -> list[tuple[int, int, int, int]]:
        """
        (rank, recorded sender, other sender, row) of the receives that lead there.
        """

class Calls:
    """Calls of each rank of a trace, with messages matched."""

    @property
    def ranks(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def largest_message(self) -> int: ...
    @property
    def calls(self) -> int:
        """Computations, sends, receives and waits of all ranks."""

    @property
    def labels(self) -> list[str]: ...
    def table(self, rank: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Return [call][kind (of call_kinds), label, peer or request, number of the message at its receiver, row, bytes or ps] of a rank.
        """

    @property
    def unmatched(self) -> list[tuple[int, int, bool, int, int, int, int]]:
        """
        (rank, peer, whether it is a send, communicator, tag, bytes, row) of sends and receives without another end.
        """

    def matchings(self, limit: int, tests: Sequence[bool], bound: int) -> Matchings:
        """
        Return whether the calls end whichever message a receive from anywhere takes, where messages up to `limit` bytes are buffered. `tests`: of each label, whether these calls end with what comes first. `bound`: states that are visited at most.
        """

    def merged(self, limit: int) -> Calls:
        """
        Return the calls with messages of one rank to another as one, of at most `limit` bytes, where their sender waits between them for nothing but such sends.
        """

    def with_early_receives(self) -> Calls:
        """Return the calls with each receive posted behind the wait before it."""

    def with_late_waits(self) -> Calls:
        """
        Return the calls with waits for messages behind the computation that follows them at once.
        """

    @property
    def never_awaited(self) -> list[tuple[int, int]]:
        """
        (rank, row) of requests that are begun, and neither waited for nor freed.
        """

    def buffering(
        self,
        threads: Sequence[
            Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)]
        ] = [],
    ) -> tuple[int, list[tuple[int, int, bool, int, str, int]]]:
        """
        Return (eager limit, cycle): messages up to this many bytes have to be buffered (0: none; -1: the calls end with no buffers), and (rank, peer, whether it sends, bytes, label, row) of the ranks of a cyclic dependency where nothing is buffered. `threads`: [rank][row] thread, empty where a rank has one; threads go on whatever others wait for.
        """

def free_network_s(calls: Calls) -> float:
    """
    Return the seconds that the calls take where messages take no time: the longest chain of computing.
    """

class CallsOfTrace:
    """Makes `Calls` of the rows of a trace."""

    def __init__(
        self, ranks: int, labels: Sequence[str], allreduce: Callable[[int, int], Schedule], at_once: bool = False
    ) -> None:
        """
        `at_once`: a rank that waits for something else begins all stages of its collective calls.
        """

    def add_communicator(self, number: int, members: Sequence[int]) -> None: ...
    def add(
        self,
        *,
        rank: int,
        kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        flags: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        collective: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        label: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
        communicator: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        peer: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        tag: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        amount: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        request: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        begins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        computing: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None:
        """
        Add the rows of a rank, once: columns of equal length, the first row of each block and the end of the last one, the order of the blocks, and ps of the computation with which each of them begins, if it does.
        """

    def finish(self) -> Calls: ...

block_tag: int = -2199023255552

free_tags: int = -2199023255554

call_kinds: list = ["compute", "send", "receive", "wait"]

collective_calls: list = ...

class SimulationResult:
    @property
    def time_s(self) -> float: ...
    @property
    def time_ps(self) -> int: ...
    @property
    def step_end_s(self) -> list[float]: ...
    @property
    def spent_s(self) -> list[float]:
        """
        [rank * labels + label]: seconds in the calls of a trace; empty for programs.
        """

    @property
    def ranks(self) -> int:
        """Ranks whose calls were replayed; 0 for programs."""

    def call_end_ps(self, rank: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        [call of `Calls.table`]: when it ended, ps. Raises InputError where no calls were replayed.
        """

    def arrived_ps(self, rank: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        [message that the rank receives]: when its last byte came, ps; else as `call_end_ps`.
        """

    @property
    def busy_s(self) -> tuple[float, float, float] | None:
        """
        With noise, what `busy_time_s` returns, and the detours met while computing; None without, and of calls.
        """

    @property
    def messages(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def unexpected_bytes(self) -> int: ...
    @property
    def steps_simulated(self) -> int: ...
    @property
    def steps_skipped(self) -> int: ...
    @property
    def no_skip(self) -> str:
        """Why no step was skipped; empty where some were."""

    @property
    def packet_hops(self) -> int: ...
    @property
    def bound_s(self) -> float: ...
    @property
    def bound_by(self) -> str: ...
    @property
    def imbalance(self) -> float: ...
    @property
    def delay_counts(self) -> list[int]: ...
    @property
    def delay_series(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """[bin of time][packets that arrived, sum of their delays in s]."""

    @property
    def delay_bin_s(self) -> float: ...
    @property
    def delay_pairs(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        [source block * blocks + destination block][packets, sum of their delays in s]; empty unless asked for.
        """

    @property
    def passages(self) -> list[tuple[int, int, int, int]]:
        """
        (switch, port by which it goes on, bytes, time in ps of its head at the switch) of every packet to the rank that was followed, in order of time.
        """

    @property
    def trace_events(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        [event][rank, stage of the program, begin (ps), end (ps), kind (of trace_event_kinds), peer, NIC, bytes] of the ranks that are shown, by rank and in order of time. Peer -1: none, or unknown.
        """

    @property
    def port_bytes(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """Bytes that each port of each switch has sent, [switch * radix + port]."""

    @property
    def nic_bytes(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """Bytes that each node has injected, [node]."""

    @property
    def carried_bytes(self) -> float:
        """
        Bytes times the ports that they go through, injection and ejection included.
        """

class Compute:
    """
    Computation: seconds, or flops and bytes, per rank or per point of a layout.
    """

    def __init__(
        self,
        seconds: float = 0,
        flops: float = 0,
        bytes: float = 0,
        layout: Layout | None = None,
        point_seconds: float = 0,
        points: Sequence[float] | None = None,
        distribution: str = "",
        spread: float = 0,
        each_time: bool = False,
    ) -> None: ...

class Step:
    """An exchange, a computation, or both at once, `repeat` times."""

    def __init__(self, name: str, schedule: Schedule | None, repeat: int = 1, compute: Compute = ...) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def stages(self) -> int: ...
    @property
    def repeat(self) -> int: ...

class Exchange:
    """
    A schedule among the ranks of a program from `first` on, or among `ranks`, which ascend.
    """

    def __init__(
        self, name: str, schedule: Schedule, bytes_per_point: int, first: int = 0, ranks: Sequence[int] = []
    ) -> None: ...
    @property
    def name(self) -> str: ...

class GroupStep:
    """A step of a group: one of `step_kinds`."""

    def __init__(self, name: str, kind: str, exchange: int = -1, repeat: int = 1, compute: Compute = ...) -> None: ...

class Group:
    """
    Ranks with the same steps: `members`, ascending; none: those that follow the group before.
    """

    def __init__(
        self, name: str, ranks: int, steps: Sequence[GroupStep], repeat: int = 1, members: Sequence[int] = []
    ) -> None: ...

class Order:
    """
    In which order the ranks of each group start exchanges, wait for them and compute.
    """

    def __init__(self, exchanges: Sequence[Exchange], groups: Sequence[Group]) -> None: ...
    @property
    def ranks(self) -> int: ...
    @property
    def lines(self) -> int:
        """Number of exchanges that may be open at once."""

    def times(self, exchange: int) -> int:
        """Return the number of times that an exchange takes place."""

    @property
    def stages(self) -> int:
        """Number of stages of all exchanges, as often as they take place."""

    def at(self, stage: int) -> tuple[int, int, int]:
        """
        Return (exchange, its first stage, line) that a stage of a simulation's trace events is of.
        """

step_kinds: list = ["exchange", "start", "wait", "compute", "poke"]

class Program:
    """The steps of all ranks, one after another."""

    @overload
    def __init__(self, steps: Sequence[Step], bytes_per_point: int) -> None: ...
    @overload
    def __init__(self, order: Order) -> None: ...
    @property
    def ranks(self) -> int: ...
    @property
    def stages(self) -> int: ...
    @property
    def fingerprint(self) -> int:
        """A number that changes with whatever the program asks of its ranks."""

class Peers:
    """
    The processes that share a simulation; made from a communicator by _mpi.
    """

    @property
    def process(self) -> int: ...
    @property
    def processes(self) -> int: ...
    def refuse(self) -> None:
        """In place of a simulation that the others begin: it fails there."""

    @property
    def severed(self) -> bool:
        """Whether nothing can be done together any more: all have to end."""

class SimulationOptions:
    def __init__(
        self,
        *,
        packet_bytes: int,
        threads: int = 1,
        seed: int = 1,
        adaptive: bool = True,
        finite_buffers: bool = False,
        one_sided: bool = False,
        blocks: int = 0,
        followed: int = -1,
        shown: Sequence[int] = [],
        peers: Peers | None = None,
        intranode: IntranodeTransport | None = None,
        compact_from_bytes: int = 536870912,
        repetition_steps: int = 1,
        asked: Sequence[int] = [],
        enough: Callable[[Sequence[float]], bool] | None = None,
        progress_by: str = "pokes",
        skip: bool = True,
        order_seed: int = 0,
        noise_period_s: float = 0,
        noise_duration_s: float = 0,
        noise_scattered: bool = False,
        unloaded: bool = False,
        free_copies: bool = False,
    ) -> None: ...

class Forecast:
    @property
    def messages(self) -> float: ...
    @property
    def bytes(self) -> float: ...
    @property
    def packet_hops(self) -> float: ...
    @property
    def memory_bytes(self) -> float: ...

def simulate_packets(
    machine: Machine,
    program: Program,
    placement: Placement,
    options: SimulationOptions,
    progress: Callable[[float, int, int], None] | None = None,
) -> SimulationResult: ...
def simulate_loggp(
    machine: Machine,
    program: Program,
    placement: Placement,
    options: SimulationOptions,
    progress: Callable[[float, int, int], None] | None = None,
) -> SimulationResult: ...
def simulate_calls(
    machine: Machine,
    calls: Calls,
    placement: Placement,
    options: SimulationOptions,
    progress: Callable[[float, int, int], None] | None = None,
) -> SimulationResult:
    """
    Simulate the calls of a trace; `spent_s` of the result has the time in them.
    """

def critical_path(result: SimulationResult) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Return [piece][rank, call of `Calls.table`, label, whether it is a message on its way, begin (ps), end (ps), peer of the message or -1] of the critical path of a replay, in order of time: each piece begins where the one before it ends.
    """

def mean_computing_s(machine: Machine, program: Program, placement: Placement) -> list[float]:
    """
    [step] seconds that a rank computes, in the mean over the ranks that compute anything.
    """

def busy_time_s(machine: Machine, program: Program, placement: Placement, seed: int) -> tuple[float, float, float]:
    """
    Seconds that ranks compute in a program, without noise: of all of them, and of those with the least and the most.
    """

def forecast(machine: Machine, program: Program, placement: Placement, options: SimulationOptions) -> Forecast: ...
def delay_lower_edge_s(bin: int) -> float:
    """
    The lower edge of a bin of `delay_counts`; of the bin after the last one, the upper edge of that.
    """

progress_kinds: list = ["calls", "pokes", "thread"]

trace_event_kinds: list = ...

latest_s: float = 9000000.0

def refuse_time(what: str, seconds: float) -> None:
    """
    Raises InputError: what is later than `latest_s`, the longest time that can be simulated.
    """

largest_packet: int = 134217728

rank_bytes: int = 120

class Team:
    """
    Threads for the compiled loops: the caller's and others, which sleep between the calls.
    They are not bound to cores. Raises InputError for a number that cannot be.
    """

    def __init__(self, threads: int = 1) -> None: ...
    @property
    def threads(self) -> int: ...

class Diagnosis:
    """
    Diagnosis of a part of a field. Sums are exact: the sum of digit[i] * 2^(32 i - 1074).
    """

    @property
    def sum(self) -> list[int]:
        """Digits of the exact sum."""

    @property
    def squares(self) -> list[int]:
        """Digits of the exact sum of squares."""

    @property
    def minimum(self) -> float: ...
    @property
    def maximum(self) -> float: ...
    @property
    def not_finite(self) -> list[int] | None:
        """
        (z, y, x) in the array of the first value that is not finite, or whose square is not; None.
        """

@overload
def diffuse(
    source: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    region: tuple[slice, slice, slice],
    alpha: float,
    team: Team,
) -> None: ...
@overload
def diffuse(
    source: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    region: tuple[slice, slice, slice],
    alpha: float,
    team: Team,
) -> None:
    """
    target = source - alpha lap(lap(source)) for the points of a region, slices (z, y, x) of the arrays
    [z][y][x]. Reads two points more on all four sides. The threads of the team share out the levels.
    """

@overload
def diagnose(
    field: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    region: tuple[slice, slice, slice],
    team: Team,
) -> Diagnosis: ...
@overload
def diagnose(
    field: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    region: tuple[slice, slice, slice],
    team: Team,
) -> Diagnosis:
    """
    Return the diagnosis of a region, slices (z, y, x), of a field [z][y][x].
    """

class Gaussian:
    """
    Gaussian latitudes of one hemisphere, from the pole to the equator, in more digits than a
    double has; the arrays are rounded. Raises InputError for a number that cannot be.
    """

    def __init__(self, latitudes: int) -> None: ...
    @property
    def latitudes(self) -> int: ...
    @property
    def colatitude(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Radians."""

    @property
    def sine(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Sine of the colatitude."""

    @property
    def versine(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """1 - the sine of the latitude."""

    @property
    def weight(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Shares of the sphere; those of both hemispheres together are 1."""

def legendre(
    gaussian: Gaussian,
    first_row: int,
    m: int,
    top: int,
    values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    end: int | None = None,
) -> None:
    """
    Compute P(n, m), n = m..top, at the latitudes from `first` to before `end`, to the equator unless given,
    normalised to mean square 1 over the sphere: values are [n - m even][latitude], then [n - m odd][latitude].
    """

class LegendreRecurrence:
    """
    P(n, m) of a wavenumber, n = m..top, as of `legendre`, a few degrees at a time.
    """

    def __init__(self, gaussian: Gaussian, m: int, top: int) -> None: ...
    def start(self, first_row: int, end: int) -> None:
        """Go to n = m at the latitudes from `first_row` to before `end`."""

    def next(
        self, degrees: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]
    ) -> None:
        """
        Compute the next degrees: values are [first, third, ... degree][latitude], then those between them.
        """

def negligible_latitudes(gaussian: Gaussian, m: int, top: int) -> int:
    """
    Return the number of latitudes, from the pole on, at which P(n, m) is below 2^-100 for all n = m..top.
    """

@overload
def spread_row(
    row: Annotated[NDArray[numpy.complex128], dict(shape=(None, None), device="cpu")],
    values: Annotated[NDArray[numpy.complex128], dict(shape=(None, None), order="C", device="cpu")],
    places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    mean_factor: float,
    factor: float,
) -> None: ...
@overload
def spread_row(
    row: Annotated[NDArray[numpy.complex64], dict(shape=(None, None), device="cpu")],
    values: Annotated[NDArray[numpy.complex64], dict(shape=(None, None), order="C", device="cpu")],
    places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    mean_factor: float,
    factor: float,
) -> None:
    """
    Copy Fourier coefficients of a row [field][wavenumber] to values[places[m]][field], times a factor.
    """

@overload
def collect_row(
    values: Annotated[NDArray[numpy.complex128], dict(shape=(None, None), order="C", device="cpu")],
    places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    row: Annotated[NDArray[numpy.complex128], dict(shape=(None, None), device="cpu")],
    mean_factor: float,
    factor: float,
) -> None: ...
@overload
def collect_row(
    values: Annotated[NDArray[numpy.complex64], dict(shape=(None, None), order="C", device="cpu")],
    places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    row: Annotated[NDArray[numpy.complex64], dict(shape=(None, None), device="cpu")],
    mean_factor: float,
    factor: float,
) -> None:
    """
    Copy values[places[m]][field], times a factor, to a row [field][wavenumber]; the others become 0.
    """

@overload
def split_parities(
    rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    even: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    odd: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
) -> None: ...
@overload
def split_parities(
    rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    even: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    odd: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
) -> None:
    """
    Sums (even) and differences (odd) of the rows of both hemispheres, which lie from north to south.
    """

@overload
def join_parities(
    even: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    odd: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
) -> None: ...
@overload
def join_parities(
    even: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    odd: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
) -> None:
    """
    FourierRows of both hemispheres, from north to south, of their sums and differences.
    """

def packed(weights: Sequence[float], sets: int) -> list[list[int]]:
    """
    Return items dealt to sets with loads as equal as a good packing makes them, each list ascending.
    """

def even_cuts(weights: Sequence[float], parts: int) -> list[int]:
    """
    Return where to cut a sequence so that the largest part is as small as whole entries allow.
    """

@overload
def helmholtz(
    field: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)],
    factors: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None, None), device="cpu", writable=False)
    ],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu")],
    team: Team,
) -> None: ...
@overload
def helmholtz(
    field: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)],
    factors: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None, None, None), device="cpu", writable=False)
    ],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu")],
    team: Team,
) -> None:
    """
    out = A field, [z][y][x]; the field has one point more on all four sides. Factors in blocks of 8 points of a row, [z][y][x / 8][15][x % 8]: for the
    columns (x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1) those of the levels z, z - 1, z + 1; in
    place of the level below the lowest stands the third from below, and alike above. Raises InputError.
    """

@overload
def solve_columns(
    right: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)],
    factors: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None, None), device="cpu", writable=False)
    ],
    solution: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu")],
    team: Team,
    minus: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)]
    | None = None,
    plus: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)] | None = None,
) -> None: ...
@overload
def solve_columns(
    right: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)],
    factors: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None, None, None), device="cpu", writable=False)
    ],
    solution: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu")],
    team: Team,
    minus: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)]
    | None = None,
    plus: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)] | None = None,
) -> None:
    """
    Solve a tridiagonal system for each column of [z][y][x]: right - minus is its right-hand side, and plus
    is added to its solution. Factors [z][y][x / 8][3][x % 8]: that of the point below, 1 / pivot, and that of the point
    above times 1 / pivot. Raises InputError.
    """

@overload
def products(
    pairs: Sequence[
        tuple[
            Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)],
            Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)],
        ]
    ],
    team: Team,
) -> list[float]: ...
@overload
def products(
    pairs: Sequence[
        tuple[
            Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)],
            Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)],
        ]
    ],
    team: Team,
) -> list[float]:
    """
    Return the scalar products of pairs of fields [z][y][x], in one sweep. Raises InputError.
    """

@overload
def exact_products(
    pairs: Sequence[
        tuple[
            Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)],
            Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)],
        ]
    ],
    team: Team,
) -> tuple[list[list[int]], int]: ...
@overload
def exact_products(
    pairs: Sequence[
        tuple[
            Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)],
            Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)],
        ]
    ],
    team: Team,
) -> tuple[list[list[int]], int]:
    """
    Return the scalar products of pairs of fields as exact sums of rounded terms, the sum of
    digit[i] * 2^(32 i - 1074) each, and the number of terms that are not finite, which are left out. Raises
    InputError.
    """

@overload
def combine(
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu")],
    terms: Sequence[
        tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device="cpu", writable=False)]]
    ],
    team: Team,
) -> None: ...
@overload
def combine(
    target: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu")],
    terms: Sequence[
        tuple[float, Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device="cpu", writable=False)]]
    ],
    team: Team,
) -> None:
    """
    target = the sum of factors times fields [z][y][x], 1 to 8 pairs; the target may be one of the fields.
    Raises InputError.
    """

class AreaTransform:
    """
    The stages of the bi-Fourier transform of a limited area of nx x ny points: lines along x, and lines along y of an
    ellipse. The threads of a team share out the lines. Raises InputError for too few points.
    """

    def __init__(self, nx: int, ny: int) -> None: ...
    @overload
    def to_waves(
        self,
        lines: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        waves: Annotated[NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu")],
        factor: float,
        team: Team,
    ) -> None: ...
    @overload
    def to_waves(
        self,
        lines: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        waves: Annotated[NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu")],
        factor: float,
        team: Team,
    ) -> None:
        """
        Sums over x of lines [z][y][x] times exp(-2 pi i m x / nx) and a factor, for m = 0 on as far as the waves
        [z][y][m] have room. Raises InputError.
        """

    @overload
    def to_lines(
        self,
        waves: Annotated[
            NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        lines: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
        factor: float,
        team: Team,
    ) -> None: ...
    @overload
    def to_lines(
        self,
        waves: Annotated[
            NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        lines: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
        factor: float,
        team: Team,
    ) -> None:
        """
        The lines [z][y][x] of wavenumbers, times a factor; those that are not there are 0. Raises InputError.
        """

    @overload
    def to_ellipse(
        self,
        waves: Annotated[
            NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        limits: Sequence[int],
        ellipse: Annotated[NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu")],
        factor: float,
        team: Team,
    ) -> None: ...
    @overload
    def to_ellipse(
        self,
        waves: Annotated[
            NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        limits: Sequence[int],
        ellipse: Annotated[NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu")],
        factor: float,
        team: Team,
    ) -> None:
        """
        Sums over y of waves [z][y][m] times exp(-2 pi i n y / ny) and a factor, for |n| <= limits[m]: coefficients
        [m, n][1][z]. Raises InputError.
        """

    @overload
    def from_ellipse(
        self,
        ellipse: Annotated[
            NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        limits: Sequence[int],
        waves: Annotated[NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu")],
        team: Team,
    ) -> None: ...
    @overload
    def from_ellipse(
        self,
        ellipse: Annotated[
            NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        limits: Sequence[int],
        waves: Annotated[NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        The waves [z][y][m] of coefficients [m, n][1][z]; those that are not there are 0. Raises InputError.
        """

@overload
def wave_right_side(
    u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    phi: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    speeds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    s: float,
    right: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    team: Team,
) -> None: ...
@overload
def wave_right_side(
    u: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    v: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    phi: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    speeds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    s: float,
    right: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    team: Team,
) -> None:
    """
    right = phi - s speed (2 div w - s lap phi) of modes [mode][y][x] on a C grid, with a squared speed for
    each mode. Winds and phi have one point more on all four sides. The threads of the team share out the rows.
    Raises InputError.
    """

@overload
def wave_winds(
    u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    phi: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    after: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    s: float,
    u_after: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    v_after: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    team: Team,
) -> None: ...
@overload
def wave_winds(
    u: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    v: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    phi: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    after: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    s: float,
    u_after: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    v_after: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    team: Team,
) -> None:
    """
    The winds w - s grad(phi + after) of modes [mode][y][x] on a C grid; all arrays have one point more on all
    four sides, which is not written. The threads of the team share out the rows. Raises InputError.
    """

@overload
def place_levels(
    levels: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    field: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    team: Team,
) -> None: ...
@overload
def place_levels(
    levels: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    field: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    team: Team,
) -> None:
    """
    Write levels [z][y][x] to the points inside a halo of one point. The threads of the team share out the
    rows. Raises InputError.
    """

@overload
def solve_cyclic(
    field: Annotated[
        NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    solution: Annotated[NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu")],
    ratio: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gain: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    team: Team,
) -> None: ...
@overload
def solve_cyclic(
    field: Annotated[NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    solution: Annotated[NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu")],
    ratio: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gain: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    team: Team,
) -> None:
    """
    Solve b X[y] - a (X[y - 1] + X[y + 1]) = field[y], periodic along y, for each z and x of fields
    complex [z][y][x], which may be one array: r + 1/r = b / a with |r| < 1 is the ratio [z][x], r / a the gain [z][x].
    The threads of the team share out the levels. Raises InputError.
    """

@overload
def step_layers(
    columns: Sequence[
        Annotated[NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu", writable=False)]
    ],
    stepped: Sequence[Annotated[NDArray[numpy.complex128], dict(shape=(None, None, None), order="C", device="cpu")]],
    modes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    speeds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    slopes: Annotated[NDArray[numpy.complex128], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    s: float,
    team: Team,
) -> None: ...
@overload
def step_layers(
    columns: Sequence[
        Annotated[NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)]
    ],
    stepped: Sequence[Annotated[NDArray[numpy.complex64], dict(shape=(None, None, None), order="C", device="cpu")]],
    modes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    speeds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    slopes: Annotated[NDArray[numpy.complex128], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    s: float,
    team: Team,
) -> None:
    """
    Write the coefficients of u, v and phi by layers, a step of gravity waves later. Their fields, [variable,
    level], are shared out evenly among arrays [m, n][1][field]. `modes` [level][mode] and the squared `speeds` are
    those of the layers, `slopes` [m, n][direction] what derivatives multiply by. The threads of the team share
    out the coefficients. Raises InputError.
    """

class MeshGraph:
    """The neighbours of the nodes of a rank's part of a mesh."""

    def __init__(
        self,
        offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        neighbours: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        faces: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        edges: Annotated[NDArray[numpy.int32], dict(shape=(None, 2), order="C", device="cpu", writable=False)],
        inverse_volume: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        all: int,
    ) -> None:
        """
        As `tradewind.layout.partition.Part` has them; all: own nodes and halo. Raises InputError.
        """

    @property
    def nodes(self) -> int:
        """Number of own nodes."""

    @property
    def all(self) -> int:
        """Number of own nodes and those of the halo."""

    @property
    def edges(self) -> int: ...
    @property
    def kept_rows(self) -> int:
        """Rows of levels that each thread of a sweep keeps."""

class Nodes:
    """Own nodes that a loop is for."""

    def __init__(
        self,
        range: tuple[int, int],
        list: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
        mask: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
        wanted: bool = False,
    ) -> None:
        """
        Nodes begin..end - 1, or these entries of a list; with a mask those where it is `wanted`.
        """

@overload
def mpdata_divergence(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    team: Team,
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None: ...
@overload
def mpdata_divergence(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    team: Team,
    down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None:
    """
    out = the divergence of the upwind fluxes of q. Fields are [node][level], own nodes and halo; fluxes
    [edge][level] in volume per second. In three dimensions fluxes are in mass per second; down: what flows
    down through the lower face of each level of own nodes; inverse_mass: one over its mass. Raises
    InputError for other shapes.
    """

@overload
def mpdata_flow(
    by_row: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    by_level: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    team: Team,
) -> None: ...
@overload
def mpdata_flow(
    by_row: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    by_level: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    team: Team,
) -> None:
    """
    out[row][level] = the sum over terms of by_row[row][term] by_level[term][level].
    """

@overload
def mpdata_upwind(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    team: Team,
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None: ...
@overload
def mpdata_upwind(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    team: Team,
    down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None:
    """out = q after an upwind pass alone."""

@overload
def mpdata_corrected(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    gauge: bool,
    limits: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)]
    | None,
    team: Team,
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None: ...
@overload
def mpdata_corrected(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    gauge: bool,
    limits: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)]
    | None,
    team: Team,
    down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None:
    """
    out = q after the pass of which divergence is given, and after the next one, the last.
    """

@overload
def mpdata_limits(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    dt: float,
    gauge: bool,
    team: Team,
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None: ...
@overload
def mpdata_limits(
    graph: MeshGraph,
    nodes: Nodes,
    flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    dt: float,
    gauge: bool,
    team: Team,
    down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None:
    """
    out[node][2][level] = the shares of what flows into and out of a node in the next pass that make no
    new extremes.
    """

@overload
def mpdata_next_pass(
    graph: MeshGraph,
    flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    next_flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    next_q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    limits: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)]
    | None,
    team: Team,
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    next_down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None = None,
) -> None: ...
@overload
def mpdata_next_pass(
    graph: MeshGraph,
    flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    next_flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    next_q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    limits: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)]
    | None,
    team: Team,
    down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    next_down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")] | None = None,
) -> None:
    """
    next_flux, next_down = the face fluxes of the next pass, without the gauge; next_q = q - dt divergence.
    """

@overload
def mpdata_swept(
    graph: MeshGraph,
    nodes: tuple[int, int],
    flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    kept: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    team: Team,
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None: ...
@overload
def mpdata_swept(
    graph: MeshGraph,
    nodes: tuple[int, int],
    flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    kept: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    team: Team,
    down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    inverse_mass: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
) -> None:
    """
    out = q after two passes with the infinite gauge, of those nodes (begin, end) without a neighbour in the
    halo, in one sweep. kept: [threads * kept_rows][level], see MeshGraph. Raises InputError for own nodes
    that do not lie in the order of their edges.
    """

@overload
def mpdata_plain(
    graph: MeshGraph,
    flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None,
    through: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    team: Team,
) -> None: ...
@overload
def mpdata_plain(
    graph: MeshGraph,
    flux: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    q: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    divergence: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None,
    through: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    dt: float,
    team: Team,
) -> None:
    """
    As mpdata_divergence (divergence None) and mpdata_corrected, with the gauge, of all own nodes: the
    loops as one writes them first. through: [edge][level], what flows through faces.
    """

class ColumnBlock:
    """
    The columns of a rank: the first (x, y), how many, levels, and the period along x (0: none).
    """

    def __init__(self, first: Sequence[int], points: Sequence[int], levels: int, period: int = 0) -> None: ...

class DepartureChunks:
    """
    Iterations of a block's trajectories whose winds are fetched on demand.
    """

    def __init__(self, block: ColumnBlock) -> None: ...
    def cells(self, done: int) -> tuple[list[int], list[int]]:
        """
        Return the first and the last cell (x, y) of departure points that have `done` iterations.
        """

@overload
def trace_departures(
    block: ColumnBlock,
    wind: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    half_step: float,
    scale: float,
    departures: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu")],
    team: Team,
    *,
    extrapolated: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    corner: Sequence[int] = [0, 0],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    grid: Sequence[int] = [1, 1],
    cos_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    sin_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    cos_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    sin_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    guess: bool = False,
    iterations: int = 1,
    chunks: DepartureChunks | None = None,
    done: int = 0,
) -> tuple[list[int], list[int], int]: ...
@overload
def trace_departures(
    block: ColumnBlock,
    wind: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    half_step: float,
    scale: float,
    departures: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu")],
    team: Team,
    *,
    extrapolated: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    corner: Sequence[int] = [0, 0],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None = None,
    grid: Sequence[int] = [1, 1],
    cos_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    sin_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    cos_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    sin_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None = None,
    guess: bool = False,
    iterations: int = 1,
    chunks: DepartureChunks | None = None,
    done: int = 0,
) -> tuple[list[int], list[int], int]:
    """
    Replace departure points [x, y(, z)][z][y][x] by the next iterations of SETTLS, which begin with the
    first guess where they are asked to; without extrapolated winds, by that alone. Returns the first and the last cell (x, y) that they lie in,
    and the first point that is not finite, or -1. Raises InputError for winds that are not there. With
    `chunks`, points whose winds are not there wait: later calls, with guess=False, take those that have
    `done` of the iterations, and go on with them while the block itself has the winds.
    """

@overload
def interpolate_tracers(
    block: ColumnBlock,
    field: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    corner: Sequence[int],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    own_first: int,
    own_pitch: int,
    tracers: int,
    full: bool,
    limiter: bool,
    team: Team,
) -> int: ...
@overload
def interpolate_tracers(
    block: ColumnBlock,
    field: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    corner: Sequence[int],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    own_first: int,
    own_pitch: int,
    tracers: int,
    full: bool,
    limiter: bool,
    team: Team,
) -> int:
    """
    Replace the values of the block in a field [tracer, z][row][column] by those at the departure points.
    Returns the place [tracer][z][y][x] of the first value that is not finite, or -1. Raises InputError
    for columns that are not there.
    """

def departure_cells(
    block: ColumnBlock,
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[list[int], list[int]]:
    """
    Return the first and the last cell (x, y) that departure points lie in.
    """

def mark_stencils(
    block: ColumnBlock,
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    corner: Sequence[int],
    marks: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")],
    stencil: str,
    chunks: DepartureChunks | None = None,
    done: int = 0,
) -> None:
    """
    Set to 1 the cells [y][x] that the stencils (linear, quasi-cubic or cubic) of departure points need,
    where not all of them lie in the block. `corner`: the first cell (x, y). With `chunks` of those
    points alone that have `done` iterations. Raises InputError.
    """

class ReducedRows:
    """
    The rows of a reduced Gaussian grid from the north: columns, and latitudes in radians.
    """

    def __init__(self, columns: Sequence[int], latitudes: Sequence[float]) -> None: ...

@overload
def trace_on_rows(
    rows: ReducedRows,
    block: ColumnBlock,
    wind: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    half_step: float,
    departures: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu")],
    team: Team,
    *,
    cos_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sin_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cos_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sin_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    extrapolated: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    corner: Sequence[int] = [0, 0],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None = None,
    guess: bool = False,
    iterations: int = 1,
) -> tuple[list[int], list[int], int]: ...
@overload
def trace_on_rows(
    rows: ReducedRows,
    block: ColumnBlock,
    wind: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    half_step: float,
    departures: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu")],
    team: Team,
    *,
    cos_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sin_x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cos_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sin_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    extrapolated: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    corner: Sequence[int] = [0, 0],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None = None,
    guess: bool = False,
    iterations: int = 1,
) -> tuple[list[int], list[int], int]:
    """
    Do as `trace_departures` for the columns [z][0][column] of a block on the rows of a reduced grid.
    Departure points are shares of a circle, -1/2..1/2, and rows from the north; `corner`: the first row
    of the window, and how many; `place`: [row][-1..columns + 1], one after another.
    """

@overload
def interpolate_on_rows(
    rows: ReducedRows,
    block: ColumnBlock,
    field: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    corner: Sequence[int],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tracers: int,
    full: bool,
    limiter: bool,
    team: Team,
) -> int: ...
@overload
def interpolate_on_rows(
    rows: ReducedRows,
    block: ColumnBlock,
    field: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    corner: Sequence[int],
    place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tracers: int,
    full: bool,
    limiter: bool,
    team: Team,
) -> int:
    """
    Do as `interpolate_tracers` on the rows of a reduced grid; the block's columns are the first of a
    level. Raises InputError for columns that are not there.
    """

def mark_on_rows(
    rows: ReducedRows,
    block: ColumnBlock,
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
    corner: Sequence[int],
    marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu")],
    stencil: str,
) -> None:
    """
    Set to 1 the cells [row][-1..columns + 1] of a window that stencils need. Raises InputError.
    """

def rows_reached(
    block: ColumnBlock,
    departures: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[list[int], list[int]]:
    """
    Return (0, row): the first and the last that departure points lie behind.
    """

class Elements:
    """
    A rank's hexahedral spectral elements, trilinear between their vertices.
    """

    def __init__(
        self,
        nodes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        derivative: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        vertices: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        open: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None:
        """
        nodes, weights [n] of quadrature, derivative [n][n]; vertices [element][8][3], x fastest; open
        [element]: bit 2 d + s set where another element lies beyond the side s along d, else the solution is 0
        there. Raises InputError, also for an element that is inside out.
        """

    @property
    def points(self) -> int:
        """Points in each direction of an element."""

    @property
    def count(self) -> int: ...
    @overload
    def factors(self, out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")], team: Team) -> None: ...
    @overload
    def factors(self, out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")], team: Team) -> None:
        """
        out [element][6][point] = the upper triangle, by rows, of the metric with the weights of quadrature.
        """

    @overload
    def mass(self, out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")], team: Team) -> None: ...
    @overload
    def mass(self, out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")], team: Team) -> None:
        """out [element][point] = the diagonal mass matrix."""

    @overload
    def dot(
        self,
        a: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        b: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None: ...
    @overload
    def dot(
        self,
        a: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        b: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        sums[element] = the element's part of the product of two fields; each point counts once.
        """

    @overload
    def scale(
        self,
        factors: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        source: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        r: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None: ...
    @overload
    def scale(
        self,
        factors: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        source: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        r: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        z = factors source, sums[element] = the element's part of r z; each point counts once.
        """

    @overload
    def set_boundary(self, u: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")], team: Team) -> None: ...
    @overload
    def set_boundary(self, u: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")], team: Team) -> None:
        """Set the values on the boundary to 0."""

class ElementBrick:
    """How a rank's elements lie: a brick, x fastest."""

    def __init__(self, points: int, elements: Sequence[int], beyond: Sequence[Sequence[bool]]) -> None:
        """
        elements along x, y, z; beyond [axis][low, high]: whether elements of other ranks lie there.
        """

    @overload
    def sum_shared(
        self, values: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")], team: Team
    ) -> None: ...
    @overload
    def sum_shared(self, values: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")], team: Team) -> None:
        """
        Values of points that only elements of this rank share become their sums, along x, then y, then z.
        """

@overload
def sum_by_lists(
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
    team: Team,
) -> None: ...
@overload
def sum_by_lists(
    offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    values: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
    team: Team,
) -> None:
    """
    Values at places[offsets[i]], ..., places[offsets[i + 1] - 1] become their sum, for each i.
    """

class ElementOperator:
    """
    -div grad u + shift u on spectral elements: its second part by the diagonal mass matrix
    [element][point], or, without one, shift times the values themselves. factors: see
    `Elements.factors`; None: computed anew in each call. closes_first_only: results are set to 0 on the
    boundary in the first element alone, as Nekbone does after its first call.
    """

    def __init__(
        self,
        elements: Elements,
        shift: float,
        factors: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)] | None = None,
        mass: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)] | None = None,
        closes_first_only: bool = False,
    ) -> None: ...
    def apply(
        self,
        which: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        u: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        out = A u in some elements, not summed over elements, and without the shift of an operator that has no
        mass.
        """

    def apply_to_direction(
        self,
        which: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        beta: float,
        r: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        p: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        p = r + beta p, out = A p as by `apply`, sums[element] = the element's part of p A p.
        """

    def complete(
        self,
        p: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """out = A p, of out from `apply` that has been summed over elements."""

    def update(
        self,
        alpha: float,
        p: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        x: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        r: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        x += alpha p, r -= alpha A p, sums[element] = the element's part of r r; out as in `complete`.
        """

    def update_pipelined(
        self,
        alpha: float,
        beta: float,
        q: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        vectors: Sequence[Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")]],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        A step of pipelined conjugate gradients on the vectors x, r, w, p, s, z, with q = A w as out in
        `complete`: z = q + beta z, s = w + beta s, p = r + beta p, x += alpha p, r -= alpha s, w -= alpha z;
        sums [2][element]: parts of r r and w r.
        """

class SingleElementOperator:
    """
    -div grad u + shift u on spectral elements: its second part by the diagonal mass matrix
    [element][point], or, without one, shift times the values themselves. factors: see
    `Elements.factors`; None: computed anew in each call. closes_first_only: results are set to 0 on the
    boundary in the first element alone, as Nekbone does after its first call.
    """

    def __init__(
        self,
        elements: Elements,
        shift: float,
        factors: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)] | None = None,
        mass: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)] | None = None,
        closes_first_only: bool = False,
    ) -> None: ...
    def apply(
        self,
        which: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        u: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        out = A u in some elements, not summed over elements, and without the shift of an operator that has no
        mass.
        """

    def apply_to_direction(
        self,
        which: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        beta: float,
        r: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        p: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        p = r + beta p, out = A p as by `apply`, sums[element] = the element's part of p A p.
        """

    def complete(
        self,
        p: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """out = A p, of out from `apply` that has been summed over elements."""

    def update(
        self,
        alpha: float,
        p: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        x: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        r: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        x += alpha p, r -= alpha A p, sums[element] = the element's part of r r; out as in `complete`.
        """

    def update_pipelined(
        self,
        alpha: float,
        beta: float,
        q: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        vectors: Sequence[Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")]],
        sums: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        A step of pipelined conjugate gradients on the vectors x, r, w, p, s, z, with q = A w as out in
        `complete`: z = q + beta z, s = w + beta s, p = r + beta p, x += alpha p, r -= alpha s, w -= alpha z;
        sums [2][element]: parts of r r and w r.
        """

class Subdomains:
    """
    Overlapping subdomains of the additive Schwarz method: an element and the first inner layer of
    each one beyond its sides, solved by fast diagonalisation as a brick.
    """

    def __init__(
        self,
        elements: Elements,
        kinds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        vectors: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        transposed: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        shift: float,
        weights: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> None:
        """
        kinds [element * 3]: the problem along x, y, z; by kind, on m = points + 2 points: eigenvectors
        [point][mode], their transpose, eigenvalues [mode]; shift: is added to the sum of three of these; weights
        [element][point] multiply the residual before and the result after.
        """

    def take_layers(
        self,
        r: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        faces: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        faces [element][6][point] = the weighted layer of r inside each open side, else 0.
        """

    def solve(
        self,
        r: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        faces: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        z = the solution of each subdomain in its element, faces that beyond its sides; in, faces is the sum of
        both elements' layers. Own layers are subtracted from z, where `add_layers` adds the sum of both.
        """

    def add_layers(
        self,
        faces: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """z += the layers inside each open side."""

class SingleSubdomains:
    """
    Overlapping subdomains of the additive Schwarz method: an element and the first inner layer of
    each one beyond its sides, solved by fast diagonalisation as a brick.
    """

    def __init__(
        self,
        elements: Elements,
        kinds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        vectors: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        transposed: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        shift: float,
        weights: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
    ) -> None:
        """
        kinds [element * 3]: the problem along x, y, z; by kind, on m = points + 2 points: eigenvectors
        [point][mode], their transpose, eigenvalues [mode]; shift: is added to the sum of three of these; weights
        [element][point] multiply the residual before and the result after.
        """

    def take_layers(
        self,
        r: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        faces: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        faces [element][6][point] = the weighted layer of r inside each open side, else 0.
        """

    def solve(
        self,
        r: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu", writable=False)],
        faces: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        z: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """
        z = the solution of each subdomain in its element, faces that beyond its sides; in, faces is the sum of
        both elements' layers. Own layers are subtracted from z, where `add_layers` adds the sum of both.
        """

    def add_layers(
        self,
        faces: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        z: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")],
        team: Team,
    ) -> None:
        """z += the layers inside each open side."""

class Verified:
    """Result of a verification: counts over all ranks and stages."""

    @property
    def ranks(self) -> int: ...
    @property
    def stages(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def points(self) -> int:
        """Points of one field sent in messages."""

    @property
    def largest(self) -> int:
        """Points of the largest message."""

    @property
    def copied(self) -> int:
        """Points copied within a rank."""

def verify(schedule: Schedule, transports: Sequence[str], progress: Callable[[int], None] | None = None) -> Verified:
    """
    Runs a schedule in this process: every expected point arrives exactly once, and the posting
    orders of `transports` are free of deadlock. Calls progress(stage) before each stage. Raises VerificationError.
    """

def verify_order(order: Order, transports: Sequence[str]) -> None:
    """
    Proves that a program is free of deadlock, each exchange in the posting order of its
    transport. Raises VerificationError.
    """

class TransportEntry:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def family(self) -> str:
        """
        two-sided, persistent, fence, notify, shared, collective or nccl: transports of one family share their code.
        """

    @property
    def packings(self) -> list[str]:
        """The packings that it goes with."""

    @property
    def one_stage(self) -> bool:
        """Whether it carries schedules of one stage only."""

    @property
    def on_devices(self) -> bool:
        """Whether it carries messages between arrays on devices alone."""

class PackingEntry:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...

default_transport: str = "isend-irecv"

default_packing: str = "buffer"

def transports() -> list[TransportEntry]:
    """The ways to carry the messages of a stage."""

def packings() -> list[PackingEntry]:
    """The ways between arrays and messages."""

def transport_refusal(schedule: Schedule, transport: str, packing: str) -> str:
    """Why a schedule cannot be carried so, and what can be; "" where it can."""

def stage_text(schedule: Schedule, rank: int, stage: int) -> str:
    """Return what a rank does in a stage, one line per message or copy."""

def communication_matrix(
    schedule: Schedule, ranks_per_bin: int, first: int, last: int
) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    int64 array [sender bin][receiver bin]: points sent in the stages first..last - 1.
    """

def damaged(schedule: Schedule, fault: str, rank: int, stage: int, j: int) -> Schedule:
    """
    The schedule with a fault at the j-th message that a rank sends in a stage, for tests of checkers.
    """
