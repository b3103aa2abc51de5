"""The folder of a run: what earlier runs have left there is refused, kept or removed, and one run writes at a time."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tradewind.base.errors import InputError
from tradewind.base.files import OWN_PARTS, check_folder, inside, make_folder, remove, remove_parts, remove_tree
from tradewind.fieldserver.files.manifest import Manifest, read_manifest
from tradewind.fieldserver.plan.file_names import folders_of
from tradewind.fieldserver.plan.forms import FORMS, form_named
from tradewind.fieldserver.plan.plan_file import OutputPlan

_HELD = frozenset({errno.EWOULDBLOCK, errno.EACCES})


class FolderHold:
    """Holds a folder, which is made where it is not there, until `release`, or the end of this process.

    Raises InputError for a folder that another run holds, and for one without rights. File systems without locks hold
    nothing.
    """

    def __init__(self, folder: Path) -> None:
        check_folder(folder, "folder")
        make_folder(folder, "folder")
        self._descriptor: int | None = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            if error.errno in _HELD:
                raise InputError(f"folder {folder}: another run writes there: name another one, or wait") from None

    def release(self) -> None:
        """Let other runs write there."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.release()


def _folders_of_files(plan: OutputPlan, *, stores: bool = False) -> Iterator[Path]:
    """Yield the folders that are there for the files of a plan; or its stores, which grow under their own names."""
    for sink in plan.table.sink:
        if stores == bool(sink.form.store_file):
            pattern = folders_of(os.path.join(sink.path, "") + "file" if stores else sink.path)
            yield from map(Path, glob.glob(os.path.join(glob.escape(str(plan.folder)), pattern)))


def remove_run(folder: Path, manifest: Manifest) -> None:
    """Take back all steps that are there, their files below the folder, and stores that these are parts of."""
    named = (each["path"] for step in manifest.steps() for each in read_manifest(folder, step)["files"])
    paths = sorted({path for path in map(PurePosixPath, named) if not path.is_absolute()})
    for path in paths:
        inside(folder, str(path), "output file", follow=False)
    manifest.clear()  # first: what is half removed is of no step
    marks = [mark for name in FORMS if (mark := form_named(name).store_file)]
    for path in paths:
        above = [folder / each for each in reversed(path.parents) if each.parts]
        store = next((each for each in above if any((each / mark).is_file() for mark in marks)), None)
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
            f"folder {plan.folder} holds steps {steps[0]}..{steps[-1]} of a run: name another one, or set "
            "existing = 'continue' (with what is there) or 'replace'"
        )
    if steps and plan.table.existing == "replace":
        remove_run(plan.folder, manifest)
    for folder in folders:
        remove_parts(folder, OWN_PARTS)
    for part in manifest.folder.glob(".step-*"):
        remove(part)
