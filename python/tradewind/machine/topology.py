"""Topologies of machine files: one table for each kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import (
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.reading import read_text
from tradewind.base.tables import Table

MAX_COUNT = 2**31 - 1
"""Maximum of anything that a topology counts."""

Count = Annotated[int, Field(strict=True, ge=1, le=MAX_COUNT)]


class ForAll(list[int]):
    """One number that stands for those of all levels or dimensions."""


def _as_list(value: object, check: ValidatorFunctionWrapHandler) -> list[int]:
    numbers: list[int] = check(value if isinstance(value, list) else [value])
    return numbers if isinstance(value, list) else ForAll(numbers)


OneOrMore = Annotated[list[Count], Field(max_length=24), WrapValidator(_as_list)]
"""One number for all levels or dimensions, or a list with one for each."""


Arrangement = Literal["spread", "relative", "absolute", "circulant"]
"""Arrangement of global links: which switch of a group holds the link to which other group (group_links.hpp)."""


def _spread(numbers: list[int], count: int) -> list[int]:
    return list(numbers) * count if isinstance(numbers, ForAll) else numbers


def _check_length(numbers: list[int] | None, count: int, of: str) -> None:
    """Raises InputError for a list that has not one number for each level or dimension."""
    if numbers is not None and not isinstance(numbers, ForAll) and len(numbers) != count:
        raise InputError(f"{numbers}: one number, or a list of {count}, is allowed: one for each {of}")


class Torus(Table):
    """A torus of one to six dimensions: every switch is linked to two neighbours along each."""

    kind: Literal["torus"]
    shape: Annotated[list[Count], Field(min_length=1, max_length=6)]
    """Switches along each dimension."""
    nodes_per_switch: Count

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.Torus(self.shape, self.nodes_per_switch)


class FatTree(Table):
    """A fat-tree: nodes on the lowest level of switches, each level linked to the next one."""

    kind: Literal["fattree"]
    levels: Annotated[Count, Field(le=16)]
    """Levels of switches."""
    down_ports: OneOrMore
    """Descendant ports of a switch; one number for all levels, or one for each, the lowest first."""
    up_ports: OneOrMore | None = None
    """Uplinks of a switch; one number for all levels, or one for each but the top. None: as many as its downlinks
    ones."""

    @field_validator("down_ports", "up_ports")
    @classmethod
    def _one_each(cls, numbers: list[int] | None, info: ValidationInfo) -> list[int] | None:
        if "levels" in info.data:  # else they are wrong themselves
            top = info.field_name == "up_ports"
            _check_length(numbers, info.data["levels"] - top, "level but the top one" if top else "level")
        return numbers

    def ports(self) -> tuple[list[int], list[int]]:
        """Descendant ports of a switch of each level, and upward ones of each but the top."""
        down = _spread(self.down_ports, self.levels)
        return down, down[:-1] if self.up_ports is None else _spread(self.up_ports, self.levels - 1)

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.FatTree(*self.ports())


class Dragonfly(Table):
    """A dragonfly of groups that are rectangles of switches."""

    kind: Literal["dragonfly"]
    rows: Count
    columns: Count
    """A group is rows x columns switches, every row and every column fully connected."""
    groups: Count
    nodes_per_switch: Count
    global_links: Annotated[int, Field(strict=True, ge=0, lt=2**20)]
    """Links of a switch to other groups."""
    arrangement: Arrangement = "spread"

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        sizes = (self.rows, self.columns, self.groups, self.nodes_per_switch)
        return _core.Dragonfly(*sizes, self.global_links, self.arrangement)


class DragonflyPlus(Table):
    """A dragonfly+: each group is a fat-tree of two levels, whose spines have the links to other groups."""

    kind: Literal["dragonflyplus"]
    leaves: Count
    spines: Count
    """Switches of a group: every leaf is joined to every spine."""
    groups: Count
    nodes_per_switch: Count
    """Number of nodes on a leaf; spines have none."""
    global_links: Annotated[int, Field(strict=True, ge=0, lt=2**20)]
    """Links of a spine to other groups."""
    arrangement: Arrangement = "spread"

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        sizes = (self.leaves, self.spines, self.groups, self.nodes_per_switch)
        return _core.DragonflyPlus(*sizes, self.global_links, self.arrangement)


class HyperX(Table):
    """A HyperX: along each dimension all switches of a row are linked to each other."""

    kind: Literal["hyperx"]
    shape: Annotated[list[Count], Field(min_length=1, max_length=24)]
    """Switches along each dimension."""
    links: OneOrMore = ForAll([1])
    """Parallel links between two switches; one number for all dimensions, or one for each."""
    nodes_per_switch: Count

    @field_validator("links")
    @classmethod
    def _one_each(cls, numbers: list[int], info: ValidationInfo) -> list[int]:
        if "shape" in info.data:
            _check_length(numbers, len(info.data["shape"]), "dimension")
        return numbers

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.HyperX(self.shape, _spread(self.links, len(self.shape)), self.nodes_per_switch)


class Complete(Table):
    """A complete graph: every switch is linked to all others."""

    kind: Literal["complete"]
    switches: Count
    links: Count = 1
    """Parallel links between two switches."""
    nodes_per_switch: Count

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.Complete(self.switches, self.links, self.nodes_per_switch)


class Hypercube(Table):
    """A hypercube: switches whose numbers differ in one bit are linked."""

    kind: Literal["hypercube"]
    dimensions: Annotated[Count, Field(le=24)]
    """There are 2^dimensions switches."""
    links: Count = 1
    """Parallel links between two switches."""
    nodes_per_switch: Count

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.Hypercube(self.dimensions, self.links, self.nodes_per_switch)


class SlimFly(Table):
    """A Slim Fly of diameter 2 (McKay, Miller and Siran graph)."""

    kind: Literal["slimfly"]
    q: Count
    """A power of a prime, from 3 to 256. There are 2 q^2 switches."""
    nodes_per_switch: Count

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.SlimFly(self.q, self.nodes_per_switch)


class CubeMesh(Table):
    """Boxes of 8 GPUs, linked by NVLink as a hybrid cube-mesh (DGX-1)."""

    kind: Literal["cubemesh"]
    gpu: Literal["P100", "V100"]
    """NVLink between the 8 GPUs of a box."""
    boxes: Count = 1

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.CubeMesh(self.gpu, self.boxes)


class Graph(Table):
    """Any network, as a list of links in a text file."""

    kind: Literal["graph"]
    file: str
    """A text file with a line for each link (``load_machine`` looks for it beside the machine file)."""
    nodes_per_switch: Count
    node_switches: Count | None = None
    """Nodes are attached to this many switches, the first ones; None: on all."""

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for an invalid list, and where the file cannot be read."""
        return _core.Graph(self.text(), self.file, self.nodes_per_switch, self.node_switches or 0)

    def text(self) -> str:
        """Return the content of the file. Raises InputError where it cannot be read."""
        return read_text(Path(self.file))


class Crossbar(Table):
    """A single switch with all nodes."""

    kind: Literal["crossbar"]
    nodes: Count

    def build(self) -> _core.Topology:
        """Return it as the core has it. Raises InputError for invalid sizes."""
        return _core.Crossbar(self.nodes)


Topology = (
    Torus | FatTree | Dragonfly | DragonflyPlus | HyperX | Complete | Hypercube | SlimFly | CubeMesh | Graph | Crossbar
)
TOPOLOGIES: dict[str, type[Table]] = {
    get_args(table.model_fields["kind"].annotation)[0]: table for table in get_args(Topology)
}


def with_nics(table: Topology, count: int) -> Topology:
    """The topology with as many terminals as there are NICs: what the simulator calls its nodes.

    Raises InputError where nodes cannot have several, or these are too many to be counted.
    """
    if count == 1:
        return table
    if isinstance(table, CubeMesh):
        raise InputError(f"nic.count = {count}: a GPU of a {table.kind} has one")
    if isinstance(table, FatTree):  # a switch of the lowest level has as many ways up as before
        down, up = table.ports()
        key, nodes = "down_ports", down[0]
        more: dict[str, object] = {key: [nodes * count, *down[1:]], "up_ports": up or None}
    else:
        key = "nodes" if isinstance(table, Crossbar) else "nodes_per_switch"
        nodes = getattr(table, key)
        more = {key: nodes * count}
    if nodes * count > MAX_COUNT:
        raise InputError(f"{key} = {nodes} with nic.count = {count}: at most {MAX_COUNT} NICs are possible")
    return table.model_copy(update=more)
