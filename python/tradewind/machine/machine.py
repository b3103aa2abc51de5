"""Machines: TOML files with the wiring of a network and the rates of its links, NICs and nodes.

``load_machine("dragonfly-MM")`` reads a machine that comes with Tradewind, ``load_machine("mine.toml")`` a file of
yours; ``settings={"link.bandwidth": "100GB/s"}`` changes any value. Every number of a file names its source under
``[source]``, and whether it is published, estimated or assumed. An unknown key, a wrong unit or an impossible value is
an error with file and line, all at once.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from tradewind import _core
from tradewind.base import units
from tradewind.base.data import data_folder
from tradewind.base.errors import InputError
from tradewind.base.file_work import FileWork
from tradewind.base.names import unknown
from tradewind.base.noise import ARRIVALS, Noise
from tradewind.base.tables import Table, one_of
from tradewind.base.toml_lines import Place, TomlFile, toml_text
from tradewind.machine.computing import (
    KernelRates,
    Node,
    Rates,
    Sharing,
    Work,
    has_core_rates,
    problems_of_rates,
    seconds_of,
)
from tradewind.machine.display import machine_table
from tradewind.machine.evidence import IMAGINARY, WHOLE, Evidence, evidence_of, naming, problem_of
from tradewind.machine.intranode import IntranodeTransport, RateTable, find_intranode
from tradewind.machine.power import Power
from tradewind.machine.quantities import Bandwidth, Bypass, Detour, Frequency, Latency, Limit, Size
from tradewind.machine.topology import TOPOLOGIES, Graph, Topology, Torus, with_nics
from tradewind.method.method import DEFAULT_PACKING

DEFAULT_BUFFER = 65536
"""Bytes of an input buffer where a machine names none; at least a packet."""


class GlobalLink(Table):
    """Links between groups, where they differ; None: as other links."""

    bandwidth: Bandwidth | None = None
    latency: Latency | None = None


class Link(Table):
    """A link between two switches, each direction by itself."""

    bandwidth: Bandwidth
    latency: Latency
    """Time from the head leaving a port to the head at the next switch, including that switch's own latency."""
    global_: Annotated[GlobalLink, Field(alias="global")] = GlobalLink()


class Switch(Table):
    """A switch: crossbar and buffers."""

    bandwidth: Bandwidth | None = None
    """Through its crossbar, all ports together; None: no limit."""
    buffer: Size | None = None
    """Bytes per virtual channel of an input port; None: `DEFAULT_BUFFER`, or a packet if larger."""
    port_buffer: Size | None = None
    """Instead of `buffer`: of an input port, divided among its channels."""
    output_buffer: Size | None = None
    """Bytes per port behind the crossbar, divided among its channels; None: no such buffer."""
    channels: Annotated[int, Field(strict=True, ge=1, le=16)] | None = None
    """That both are divided among; None: as many as the routing uses."""


class Nic(Table):
    """The NICs of a node, and the port of the switch that they are attached to."""

    count: Annotated[int, Field(strict=True, ge=1, le=16)] = 1
    """NICs of a node; each has the bandwidths below."""
    injection_bandwidth: Bandwidth
    ejection_bandwidth: Bandwidth
    latency: Latency
    """Between node and switch, either way."""
    send_overhead: Latency
    receive_overhead: Latency
    """CPU time per message."""
    buffer: Size | None = None
    """Bytes of the switch's input port for a NIC; None: as a channel of other ports."""


class Mpi(Table):
    """Parameters of the MPI library."""

    eager_limit: Limit | None = None
    """Largest message that is sent without asking the receiver first; None: all are."""
    header: Size = 64
    """Bytes of each of the three small messages of a rendezvous: request, clear-to-send, acknowledgement."""
    bypass: Bypass = 0
    """Messages up to this size wait for no other rank's: only latency, overhead and what their rank sends count."""
    bypass_distance: Literal["path", "last-dimension"] = "path"
    """Their distance: a shortest path or, on a torus, its last dimension only (as SST/macro 7.1 counts)."""
    unexpected_bandwidth: Bandwidth | None = None
    """Rate of the CPU copying messages that came from other nodes before their receive was posted; None: no cost."""
    connection_overhead: Latency = 0.0
    """CPU time per message, at either end, for each connection of its rank: one to every rank of other nodes."""
    receives: Literal["stage", "start"] = "stage"
    """Time of posting: the receives of a stage when it begins, or all of an exchange when it begins."""


class Packet(Table):
    """Packets of the network."""

    size: Size


class Files(Table):
    """Rates of encoding and of the disk, for programs that write and read files."""

    encode_rate: Bandwidth | None = None
    """Bytes in memory that a rank encodes per second."""
    compress_rate: Bandwidth | None = None
    """Bytes in memory that a rank compresses per second."""
    decode_rate: Bandwidth | None = None
    """Bytes in memory that a rank decodes per second; None: as encode_rate."""
    disk_bandwidth: Bandwidth | None = None
    """Rate of all files that are written or read at the same time, together."""
    file_bandwidth: Bandwidth | None = None
    """Maximum that one rank reaches alone; None: as disk_bandwidth."""

    def seconds(self, work: FileWork, sharing: int) -> float:
        """Return the seconds of a rank's work on files, where `sharing` ranks share the disk. Raises InputError."""
        disk = self.disk_bandwidth and min(self.disk_bandwidth / sharing, self.file_bandwidth or self.disk_bandwidth)
        rates = {
            "encode": ("encode_rate", self.encode_rate),
            "compress": ("compress_rate", self.compress_rate),
            "decode": ("decode_rate", self.decode_rate or self.encode_rate),
            "write": ("disk_bandwidth", disk),
            "read": ("disk_bandwidth", disk),
        }
        total, missing = 0.0, []
        for key, (name, rate) in rates.items():
            if size := getattr(work, key):
                if rate is None:
                    missing.append(f"the machine has no files.{name}, which a step with {key} needs")
                else:
                    total += size / rate
        if missing:
            raise InputError(*dict.fromkeys(missing))
        return total


class NoiseTable(Table):
    """Noise of the operating system: detours of the CPU of each rank."""

    frequency: Frequency
    duration: Detour
    arrival: Annotated[str, one_of("arrival", ARRIVALS)] = ARRIVALS[0]

    def made(self) -> Noise:
        """Return the noise."""
        return Noise(self.frequency, self.duration, self.arrival)


class Machine(Table):
    """A machine file."""

    title: str
    routing: str
    topology: Annotated[Topology, Field(discriminator="kind")]
    link: Link
    switch: Switch = Switch()
    nic: Nic
    node: Node
    mpi: Mpi = Mpi()
    packet: Packet
    files: Files = Files()
    noise: NoiseTable | None = None
    """None: detours are not simulated unless a simulation asks for them."""
    power: Power | None = None
    """Power of nodes and switches; None: no joules are computed."""
    kernel: dict[str, KernelRates] = Field(default_factory=dict)
    """Rates of one core, by the names of kernels (`tradewind.workload.steps.Compute.kernel`)."""
    copy_: Annotated[RateTable | None, Field(alias="copy")] = None
    """Rates of copies within a rank; required with `intranode`."""
    intranode: list[IntranodeTransport] = Field(default_factory=list)
    """Cost of messages within a node, per transport and packing."""
    source: dict[str, str]
    """Source of each number, by its key ("link.bandwidth") or its table; see `tradewind.machine.evidence`."""

    @property
    def buffer_bytes(self) -> int:
        """Bytes per virtual channel of an input port."""
        return self.switch.buffer or max(DEFAULT_BUFFER, self.packet.size)

    @property
    def has_core_rates(self) -> bool:
        """Whether a computation is limited by the cores of its rank; else a rank has its share of its node at once."""
        return has_core_rates(self.node, self.kernel)

    @property
    def has_domains_or_core_rates(self) -> bool:
        """Whether computations depend on cores or NUMA domains, and not only on a rank's share of its node."""
        return self.has_core_rates or self.node.numa_domains is not None

    def compute_s(self, flops: float, copied: float, kernel: str, has_points: bool, ranks: int, threads: int) -> float:
        """Return the seconds of a computation of a rank with `threads` threads, where `ranks` share a node.

        `copied`: bytes, each read and written. `has_points`: whether that is the work of a point. See
        `tradewind.machine.computing`. Raises InputError where no rate is known.
        """
        work = Work(flops, copied, kernel, has_points)
        return seconds_of(work, self.node, self.kernel, self.title.partition(":")[0], Sharing(ranks, threads))

    def evidence(self) -> dict[str, Evidence]:
        """Return the evidence per value of the file; a value that only a setting names may be missing."""
        values = self.model_dump(by_alias=True, exclude_unset=True, exclude={"title", "routing", "source"})
        named = {key: naming(key, self.source) for key in _keys(values)}
        return {key: evidence_of(self.source[name]) for key, name in named.items() if name is not None}

    def conflicts(self) -> Iterator[tuple[Place, str]]:
        """Values that cannot be together: where, and what is wrong."""
        yield from self.power.problems() if self.power is not None else ()
        size, flow, switch = self.packet.size, self.node.flow_memory_bandwidth, self.switch
        if switch.port_buffer is None and self.buffer_bytes < size:
            yield ("switch", "buffer"), f"switch.buffer = {self.buffer_bytes} B is less than packet.size = {size} B"
        if switch.port_buffer is not None and switch.buffer is not None:
            yield ("switch", "port_buffer"), "switch.buffer and switch.port_buffer: one of them is allowed"
        if switch.channels is not None and switch.port_buffer is None and switch.output_buffer is None:
            yield (
                ("switch", "channels"),
                "switch.channels needs switch.port_buffer or switch.output_buffer, which it divides",
            )
        if flow is not None and flow > self.node.memory_bandwidth:
            yield (
                ("node", "flow_memory_bandwidth"),
                f"node.flow_memory_bandwidth = {units.format_rate(flow)} is more than the "
                f"{units.format_rate(self.node.memory_bandwidth)} of node.memory_bandwidth, which all copies share",
            )
        for key, problem in problems_of_rates(self.node, self.kernel):
            yield tuple(key.split(".")), f"{key}: {problem}"
        if self.mpi.eager_limit is not None and self.mpi.bypass > self.mpi.eager_limit:
            yield (
                ("mpi", "bypass"),
                f"mpi.bypass = {self.mpi.bypass} B is more than mpi.eager_limit = {self.mpi.eager_limit} B: "
                "only messages that are sent eagerly can bypass the network",
            )
        if self.noise is not None and (problems := self.noise.made().problems()):
            yield ("noise", "duration"), f"noise: {problems[0]}"
        if self.intranode and self.copy_ is None:
            yield ("intranode",), "intranode needs copy, the rates of copies within a rank"
        methods = [(each.transport, each.packing) for each in self.intranode]
        for i, method in enumerate(methods):
            if method in methods[:i]:
                yield ("intranode", i), f"intranode {i + 1}: another one is of {method[0]} {method[1]}"

    def intranode_transport(self, transport: str, packing: str, element_bytes: int) -> _core.IntranodeTransport:
        """Return the costs of a transport within a node for such elements. Raises InputError if they are unknown."""
        found = find_intranode(self.intranode, transport, packing)
        assert self.copy_ is not None
        methods = {(each.transport, each.packing): each for each in self.intranode}
        gathered = None if packing == DEFAULT_PACKING else methods.get((transport, DEFAULT_PACKING))
        return found.core(self.copy_, element_bytes, gathered)

    def build(self, routing: str | None = None, connections: int = 0) -> _core.Machine:
        """The machine as the simulator takes it, with another routing if one is named.

        `connections`: how many other ranks each rank keeps a connection with; they cost `mpi.connection_overhead`.
        """
        link, kind = self.link, self.topology.kind
        connected = self.mpi.connection_overhead * connections
        routing = routing or self.routing
        known = [entry.name for entry in _core.routings() if entry.topology == kind]
        if routing not in known:
            raise InputError(unknown(f"{kind} routing", routing, known))
        return _core.Machine(
            topology=with_nics(self.topology, self.nic.count).build(),
            routing=routing,
            link_bandwidth=link.bandwidth,
            link_latency=link.latency,
            global_bandwidth=link.global_.bandwidth or link.bandwidth,
            global_latency=link.latency if link.global_.latency is None else link.global_.latency,
            injection_bandwidth=self.nic.injection_bandwidth,
            injection_latency=self.nic.latency,
            ejection_bandwidth=self.nic.ejection_bandwidth,
            ejection_latency=self.nic.latency,
            send_overhead=self.nic.send_overhead + connected,
            receive_overhead=self.nic.receive_overhead + connected,
            memory_bandwidth=self.node.memory_bandwidth,
            buffer=self.switch.buffer or max(DEFAULT_BUFFER, self.packet.size),
            crossbar_bandwidth=self.switch.bandwidth or 0.0,
            nics=self.nic.count,
            copy_bandwidth=self.node.flow_memory_bandwidth or self.node.memory_bandwidth,
            flops=self.node.flops or 0.0,
            eager_limit=-1 if self.mpi.eager_limit is None else self.mpi.eager_limit,
            header=self.mpi.header,
            bypass=self.mpi.bypass,
            port_buffer=self.switch.port_buffer or 0,
            output_buffer=self.switch.output_buffer or 0,
            channels=self.switch.channels or 0,
            nic_buffer=self.nic.buffer or 0,
            bypass_last_dimension=self.mpi.bypass_distance == "last-dimension",
            unexpected_bandwidth=self.mpi.unexpected_bandwidth or 0.0,
            receives_at_start=self.mpi.receives == "start",
        )


@dataclass(frozen=True, repr=False)
class MachineFile:
    """A machine and its short name."""

    name: str
    machine: Machine
    settings: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Values of the file that were changed, by key."""

    def __repr__(self) -> str:
        """Return the name, what it is, its network and its routing."""
        machine = self.machine
        return f"<Machine {self.name}: {machine.title}; {machine.topology.kind}, routing {machine.routing}>"

    def with_background(self, fraction: float) -> MachineFile:
        """Return the machine as a job sees it while others take a fraction of its links between switches."""
        if fraction == 0:
            return self
        link, left = self.machine.link, 1 - fraction
        bandwidth = None if link.global_.bandwidth is None else link.global_.bandwidth * left
        global_ = link.global_.model_copy(update={"bandwidth": bandwidth})
        slower = link.model_copy(update={"bandwidth": link.bandwidth * left, "global_": global_})
        return replace(self, machine=self.machine.model_copy(update={"link": slower}))

    def with_eager_limit(self, size: int) -> MachineFile:
        """Return the machine with another size, bytes, from which messages wait for their receive."""
        mpi = self.machine.mpi.model_copy(update={"eager_limit": size})
        return replace(self, machine=self.machine.model_copy(update={"mpi": mpi}))

    def _repr_html_(self) -> str:
        values = self.machine.model_dump(by_alias=True, exclude_unset=True, exclude={"title", "source"})
        return machine_table(self.machine.title, values, self.machine.evidence())

    @property
    def identity(self) -> str:
        """A hash of all values that times of a simulation without files depend on, the defaults among them."""
        return self._identity(with_files=False)

    @property
    def files_identity(self) -> str:
        """The same for a simulation of a program that writes or reads files."""
        return self._identity(with_files=True)

    def _identity(self, *, with_files: bool) -> str:
        values = self.machine.model_dump(exclude={"title", "source", "power"} | (set() if with_files else {"files"}))
        for name in ("files", "kernel", "noise"):
            if not any((values.get(name) or {}).values()):  # as of all before there were such rates
                values.pop(name, None)
        intranode = values.pop("intranode")
        if intranode:  # under its first name, so that stored cases keep their identity
            values["carriage"] = intranode
        else:  # machines without it keep theirs
            del values["copy_"]
        if isinstance(self.machine.topology, Graph):  # what its file holds counts, not where it lies
            values["topology"]["file"] = hashlib.sha256(self.machine.topology.text().encode()).hexdigest()
        for table, key, default in _LATER_KEYS:  # as of all before there were others
            if values[table].get(key) == default:
                values[table].pop(key, None)
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


_LATER_KEYS = (
    ("topology", "arrangement", "spread"),
    ("switch", "port_buffer", None),
    ("switch", "output_buffer", None),
    ("switch", "channels", None),
    ("nic", "buffer", None),
    ("node", "core_flops", None),
    ("node", "numa_domains", None),
    ("node", "serial_fraction", 0.0),
    ("mpi", "bypass_distance", "path"),
    ("mpi", "unexpected_bandwidth", None),
    ("mpi", "receives", "stage"),
    ("mpi", "connection_overhead", 0.0),
)
"""Tables, keys and defaults that came when there were results already: at their defaults these stay good."""


def machine_folder() -> Path:
    """Return the folder of the machine files that come with Tradewind."""
    return data_folder("machines")


def machine_names() -> list[str]:
    """The machines that come with Tradewind."""
    return sorted(path.stem for path in machine_folder().glob("*.toml"))


def load_machine(name: str | Path, settings: Mapping[str, str] | None = None) -> MachineFile:
    """The machine of a name or a file, with some of its values set anew. Raises InputError with all problems."""
    path = Path(name)
    if path.suffix != ".toml":
        path = machine_folder() / f"{name}.toml"
        if path.name != f"{name}.toml" or not path.is_file():
            if "," in str(name):
                raise InputError(f"machine {str(name)!r}: one machine is allowed here, not a list: repeat it for each")
            raise InputError(unknown("machine", str(name), machine_names()) + "; or name a file like mine.toml")
    text = toml_text(path)
    changes = tuple((key, str(value)) for key, value in (settings or {}).items())
    # The file of a graph may change as well.
    read = _checked.__wrapped__ if "graph" in f"{text}{changes}" else _checked
    return read(path, text, changes)


@lru_cache(maxsize=64)
def _checked(path: Path, text: str, settings: tuple[tuple[str, str], ...]) -> MachineFile:
    """Return the machine of a text. Loops over many small cases load the same one again and again."""
    file = TomlFile(path, text)
    _read_former_keys(file)
    _read_one_source(file)
    numbers = list(_keys(file.data))  # what a setting adds has no line in the file, and needs no source there
    problems = [_set(file.data, key, value) for key, value in settings]
    _find_graph(file)
    try:
        machine = Machine.model_validate(file.data)
    except ValidationError as error:
        mistakes, more = file.first(error.errors(include_url=False))
        problems += [*(file.at(*_problem(details, file.data)) for details in mistakes), *more]
    else:
        problems += [file.at(place, text) for place, text in _source_problems(numbers, file.data, machine.source)]
        problems += [file.at(place, text) for place, text in machine.conflicts()]
        problems += _core_problems(file, machine)
    if found := [problem for problem in problems if problem]:
        raise InputError(*found)
    return MachineFile(path.stem, machine, dict(settings))


_OPTIONAL = ("global", "switch", "mpi", "files", "noise", "kernel", "power")
"""Tables that a file may leave out."""


def _read_former_keys(file: TomlFile) -> None:
    """Read ``[[carriage]]``, as files of earlier versions call ``[[intranode]]``."""
    for table in ((), ("source",)):
        data = file.data.get("source") if table else file.data
        if isinstance(data, dict) and "carriage" in data and "intranode" not in data:
            data["intranode"] = data.pop("carriage")
            file.stands_at((*table, "intranode"), (*table, "carriage"))


def _read_one_source(file: TomlFile) -> None:
    """Read ``source = "imaginary"``: one text for all values, of a machine that is made up."""
    if isinstance(text := file.data.get("source"), str):
        file.data["source"] = {WHOLE: text}
        file.stands_at(("source", WHOLE), ("source",))


def _find_graph(file: TomlFile) -> None:
    """A graph's file lies beside the machine file that names it."""
    topology = file.data.get("topology")
    if isinstance(topology, dict) and topology.get("kind") == "graph" and isinstance(topology.get("file"), str):
        file.data["topology"] = topology | {"file": str(file.path.parent / topology["file"])}


def _set(data: dict[str, Any], key: str, text: str) -> str | None:
    """Sets ``link.bandwidth`` and the like; returns what is wrong with it."""
    *tables, last = key.split(".")
    table: Any = data
    for name in tables:
        table = table.setdefault(name, {}) if isinstance(table, dict) and name in (*_OPTIONAL, *table) else None
    if not isinstance(table, dict) or isinstance(table.get(last), dict):
        return unknown("machine value", key, _keys(data))
    try:
        table[last] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        table[last] = text
    return None


def _keys(table: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict) and key != "source":
            yield from _keys(value, f"{prefix}{key}.")
        elif key not in ("title", "source", "kind"):
            yield prefix + key


def _problem(details: Any, data: dict[str, Any]) -> tuple[Place, str]:
    """One error of pydantic, in our words."""
    place: Place = details["loc"]
    if place[0] == "topology":  # pydantic puts the kind second
        place = tuple(part for i, part in enumerate(place) if i != 1 or part not in TOPOLOGIES)
    key, value = ".".join(str(part) for part in place), details["input"]
    if details["type"] == "extra_forbidden":
        known = _known_keys(place, data)
        return place, f"{key}: " + unknown("key", str(place[-1]), known)
    if details["type"] == "missing":
        made_up = f': a table, or for a machine that is made up source = "{IMAGINARY}", above all tables'
        return place[:-1], f"{key} is missing{made_up if key == 'source' else ''}"
    if details["type"] == "value_error":
        return place, f"{key} = {details['ctx']['error']}"
    if details["type"] == "union_tag_invalid":
        return (*place, "kind"), f"{key}.kind: " + unknown("topology", str(details["ctx"]["tag"]), sorted(TOPOLOGIES))
    return place, f"{key} = {value!r}: {details['msg'][0].lower()}{details['msg'][1:]}"


def _known_keys(place: Place, data: dict[str, Any]) -> list[str]:
    topology = data.get("topology")
    kind = topology.get("kind") if isinstance(topology, dict) else None
    tables: dict[Place, type[BaseModel]] = {
        (): Machine,
        ("link",): Link,
        ("link", "global"): GlobalLink,
        ("switch",): Switch,
        ("nic",): Nic,
        ("node",): Node,
        ("mpi",): Mpi,
        ("packet",): Packet,
        ("files",): Files,
        ("noise",): NoiseTable,
        ("power",): Power,
        ("copy",): RateTable,
        ("intranode",): IntranodeTransport,
        ("topology",): TOPOLOGIES.get(str(kind), Torus),
    }
    around = tuple(key for key in place[:-1] if isinstance(key, str))
    table = Rates if around[:1] == ("kernel",) else tables[around]
    return [field.alias or name for name, field in table.model_fields.items()]


def _source_problems(
    numbers: list[str], data: dict[str, Any], sources: Mapping[str, str]
) -> Iterator[tuple[Place, str]]:
    for key in numbers:
        if key != "routing" and naming(key, sources) is None:
            yield tuple(key.split(".")), f"{key} has no source: write under [source] where it comes from"
    for key, text in sources.items():
        name = f"source.{key}" if key != WHOLE else "source"
        if key != WHOLE and not _is_there(data, key):
            yield ("source", key), f"{name}: the file has no such value"
        elif problem := problem_of(text):
            yield ("source", key), f"{name}: {problem}"


def _is_there(table: Any, key: str) -> bool:
    for name in key.split("."):
        if isinstance(table, list):  # of tables, whose values have one source together
            return True
        if not isinstance(table, dict) or name not in table:
            return False
        table = table[name]
    return True


def _core_problems(file: TomlFile, machine: Machine) -> Iterator[str]:
    try:
        _ = machine.build().buffer_sizes
    except InputError as error:
        text = str(error)
        place = ("switch",) if "channels" in text else ("routing",) if "routing" in text else ("topology",)
        yield file.at(place, str(error))
