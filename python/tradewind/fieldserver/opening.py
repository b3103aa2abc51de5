"""How a field server is set up: ranks agree on the plan, servers are split off, the folder is prepared."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from tradewind.base.collective import on_root
from tradewind.base.errors import InputError, quoted
from tradewind.base.files import OWN_PARTS, check_folder, inside, make_folder, remove, remove_parts, remove_tree
from tradewind.fieldserver.channel import Channel
from tradewind.fieldserver.file_names import folders_of
from tradewind.fieldserver.folder_hold import FolderHold
from tradewind.fieldserver.manifest import Manifest, read_manifest
from tradewind.fieldserver.plan_file import OutputPlan
from tradewind.fieldserver.serving import Server
from tradewind.fieldserver.talk import Talk
from tradewind.fieldserver.writer import Writer
from tradewind.mpi.library import MPI

THREADS = "threads"
"""Value of `servers`: threads of the ranks of the model write."""

ZARR_FILE = "zarr.json"
"""File that each store of Zarr has."""

Method = Mapping[str, str | None]


@dataclass
class Opened:
    """The parts of a field server on a rank: a server; or the channels and writers of the model."""

    comm: MPI.Intracomm | None
    """Communicator of the ranks of the model; None on servers."""
    server: Server | None = None
    channels: list[Channel] = field(default_factory=list)
    """One for each share."""
    writers: list[tuple[int, Writer]] = field(default_factory=list)
    """With the numbers of their shares."""
    holds: list[FolderHold] = field(default_factory=list)
    """The folder, on the first rank."""

    def release(self) -> None:
        """Let other runs write to the folder."""
        while self.holds:
            self.holds.pop().release()


def open_shares(plan: OutputPlan, comm: MPI.Intracomm, servers: int | str, method: Method | None) -> Opened:
    """Split servers off, or make writers on the ranks of the model. Collective. Raises InputError."""
    _check_alike(comm, plan, servers)
    holds: list[FolderHold] = []
    on_root(comm, lambda: holds.append(prepare_folder(plan)))
    if isinstance(servers, int) and servers > 0:
        opened = _beside_servers(plan, comm, servers, method)
    else:
        opened = _on_the_model(plan, comm, method, threads=servers == THREADS)
    opened.holds = holds
    return opened


def _on_the_model(plan: OutputPlan, comm: MPI.Intracomm, method: Method | None, *, threads: bool) -> Opened:
    """Each rank of the model writes a share."""
    own = comm.Dup()
    ranks, rank = own.Get_size(), own.Get_rank()
    mine = Writer(plan, shares=ranks, asynchronous=threads)
    channels = [
        Channel(plan, number, own, number, writer=mine if number == rank else None, method=method, waits=not threads)
        for number in range(ranks)
    ]
    return Opened(own, channels=channels, writers=[(rank, mine)])


def _beside_servers(plan: OutputPlan, comm: MPI.Intracomm, servers: int, method: Method | None) -> Opened:
    """The last ranks are servers; each has a communicator with all ranks of the model, where it is the last."""
    ranks, rank = comm.Get_size(), comm.Get_rank()
    models = ranks - servers
    model: Any = comm.Split(0 if rank < models else MPI.UNDEFINED, rank)
    opened = Opened(model if rank < models else None)
    for number in range(servers):
        takes_part = rank < models or rank == models + number
        pair: Any = comm.Split(0 if takes_part else MPI.UNDEFINED, rank)
        if rank == models + number:
            opened.server = Server(plan, pair, servers, method, watchdog_s=plan.table.patience)
        elif rank < models:
            talk = Talk(pair, models) if rank == 0 else None
            opened.channels.append(Channel(plan, number, pair, models, model=model, talk=talk, method=method))
    return opened


def _check_alike(comm: MPI.Intracomm, plan: OutputPlan, servers: int | str) -> None:
    said = comm.allgather((hashlib.sha256(plan.text.encode()).hexdigest(), str(servers)))
    for what, each in (("plan file", 0), ("number of servers", 1)):
        others = [rank for rank, one in enumerate(said) if one[each] != said[0][each]]
        if others:
            raise InputError(f"rank {others[0]} has another {what} than rank 0: the same on all ranks is allowed")


def check_servers(servers: int | str, ranks: int) -> None:
    """Raises InputError for what is no number of servers of so many ranks."""
    named = isinstance(servers, str) and servers == THREADS
    if not named and (isinstance(servers, bool) or not isinstance(servers, int)):
        raise InputError(f"servers {quoted(servers)}: a number, or {THREADS!r}, is allowed")
    if isinstance(servers, int) and not 0 <= servers < ranks:
        raise InputError(f"{quoted(servers)} servers of {ranks} ranks: 0..{ranks - 1} are allowed")


def _folders_of_files(plan: OutputPlan, *, stores: bool = False) -> Iterator[Path]:
    """The folders that are there for the files of a plan; or its stores, which grow under their own names."""
    for sink in plan.table.sink:
        if stores == (sink.format == "zarr"):
            pattern = folders_of(os.path.join(sink.path, "") + "file" if stores else sink.path)
            yield from map(Path, glob.glob(os.path.join(glob.escape(str(plan.folder)), pattern)))


def remove_run(folder: Path, manifest: Manifest) -> None:
    """Take back all steps that are there, their files below the folder, and stores that these are parts of."""
    named = (each["path"] for step in manifest.steps() for each in read_manifest(folder, step)["files"])
    paths = sorted({path for path in map(PurePosixPath, named) if not path.is_absolute()})
    for path in paths:
        inside(folder, str(path), "output file", follow=False)
    manifest.clear()  # first: what is half removed is of no step
    for path in paths:
        above = [folder / each for each in reversed(path.parents) if each.parts]
        store = next((each for each in above if (each / ZARR_FILE).is_file()), None)
        if store is None:
            remove(folder / path, "output file")
        else:
            remove_tree(store, "output file")


def check_spill(folder: Path) -> None:
    """Raises InputError for a folder that fields cannot be moved to; makes it where it is not there."""
    make_folder(folder, "spilled fields")
    check_folder(folder, "spilled fields")


def prepare_folder(plan: OutputPlan) -> FolderHold:
    """Refuse, keep or take back what earlier runs have left; returns a hold on the folder. Raises InputError."""
    hold = FolderHold(plan.folder)
    try:
        _prepare(plan)
    except BaseException:
        hold.release()
        raise
    return hold


def _prepare(plan: OutputPlan) -> None:
    if plan.table.spill is not None:
        check_spill(Path(plan.table.spill))
    manifest = Manifest(plan.folder, durable=plan.table.durable)
    check_folder(manifest.folder, "folder")
    folders = {manifest.folder, *_folders_of_files(plan)}
    for folder in folders | set(_folders_of_files(plan, stores=True)):
        if folder.is_relative_to(plan.folder):  # else it is of a sink that may be outside
            inside(plan.folder, folder.relative_to(plan.folder), "output file")
    steps = manifest.steps()
    if steps and plan.table.existing == "refuse":
        raise InputError(
            f"folder {plan.folder} holds steps {steps[0]}..{steps[-1]} of a run: name another one, or say "
            "existing = 'continue' (with what is there) or 'replace'"
        )
    if steps and plan.table.existing == "replace":
        remove_run(plan.folder, manifest)
    for folder in folders:
        remove_parts(folder, OWN_PARTS)
    for part in manifest.folder.glob(".step-*"):
        remove(part)
