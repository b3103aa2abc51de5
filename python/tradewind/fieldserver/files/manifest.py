"""The manifest: for each step a file that lists what the step consists of. A step is there when its manifest is.

Writers that share a step out leave a part each, under a name that begins with a point; the one that finds all parts
writes the manifest. Two that find them at the same time write the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.files import inside, make_folder, reason_of, remove, write_atomically
from tradewind.base.reading import is_file, path_of, read_json
from tradewind.fieldserver.files.sinks.form import Written, checksum
from tradewind.fieldserver.plan.file_names import MANIFEST

WHAT = "manifest"
_NAME = re.compile(r"step-(\d{1,10})\.json")
_MAX_BYTES = 64 * 2**20


class Manifest:
    """The manifests of a folder, written by `shares` writers, of which this one is number `share`."""

    def __init__(self, folder: Path, *, shares: int = 1, durable: bool = True) -> None:
        self._above, self.folder, self.shares, self._durable = folder, folder / MANIFEST, shares, durable

    def path(self, step: int) -> Path:
        """Where the manifest of a step is."""
        return self.folder / f"step-{step:08}.json"

    def _part(self, step: int, share: int) -> Path:
        return self.folder / f".step-{step:08}.{share}-of-{self.shares}.json"

    def add(
        self,
        step: int,
        share: int,
        time: str,
        written: Sequence[Written],
        dropped: Mapping[str, int],
        *,
        failed: bool = False,
    ) -> bool:
        """Record what a share of a step consists of; returns whether the step is whole by this.

        `dropped`: files that were given up, with the number of fields that they had. `failed`: this share is not whole,
        so the step has no manifest, and the last share to record that leaves nothing of it here.
        """
        if self.shares == 1 and failed:
            return False
        if self.shares > 1 and is_file(self.path(step)):
            return True  # another has taken this share over
        make_folder(inside(self._above, MANIFEST, WHAT), WHAT, durable=self._durable)
        own = {"files": [asdict(each) for each in written], "dropped": dict(dropped), "failed": failed}
        if self.shares == 1:
            self._commit(step, time, [own])
            return True
        if not failed or not is_file(self._part(step, share)):  # else another has taken over, and may have succeeded
            self._write(self._part(step, share), json.dumps(own))
        parts = [self._part(step, number) for number in range(self.shares)]
        if not all(map(is_file, parts)):
            return False
        try:
            found = [read_json(part, WHAT, _MAX_BYTES) for part in parts]
        except InputError:
            if not all(map(is_file, parts)):  # another has found them as well, and removed them
                return self.has(step)
            raise
        whole = not any(part["failed"] for part in found)
        try:
            if whole:
                self._commit(step, time, found)
        finally:
            for part in parts:
                remove(part, WHAT)
        return whole

    def _commit(self, step: int, time: str, parts: Sequence[Mapping[str, Any]]) -> None:
        files = sorted((each for part in parts for each in part["files"]), key=lambda each: str(each["path"]))
        dropped = {path: count for part in parts for path, count in part["dropped"].items()}
        whole = {"step": step, "time": time, "files": files, "dropped": dropped}
        self._write(self.path(step), json.dumps(whole, indent=1))

    def _write(self, path: Path, text: str) -> None:
        write_atomically(
            inside(self._above, path.relative_to(self._above), WHAT), text.encode(), WHAT, durable=self._durable
        )

    def has(self, step: int) -> bool:
        """Whether a step is there."""
        return is_file(self.path(step))

    def steps(self) -> list[int]:
        """The steps that are there, ascending."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise InputError(f"cannot read the folder {self.folder}: {reason_of(error)}") from None
        return sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))

    def clear(self) -> None:
        """Take all steps back."""
        inside(self._above, MANIFEST, WHAT)
        for step in self.steps():
            remove(self.path(step), WHAT)


def committed_steps(folder: Path | str) -> list[int]:
    """Return the steps of a folder that are whole, ascending."""
    return Manifest(path_of("folder", folder)).steps()


def read_manifest(folder: Path | str, step: int) -> dict[str, Any]:
    """Return what a step consists of: step, time, files (path, bytes, sha256), dropped. Raises InputError."""
    path = Manifest(Path(folder)).path(step)
    found: Any = read_json(path, WHAT, _MAX_BYTES)
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(files, list):
        raise InputError(f"{path}: no manifest of ours")
    for each in files:
        name = each.get("path") if isinstance(each, dict) else None
        if not isinstance(name, str):
            raise InputError(f"{path}: no manifest of ours")
        if ".." in PurePosixPath(name).parts or "\0" in name:
            raise InputError(f"{path}: file {name!r}: '..' is not allowed")
    whole: dict[str, Any] = found
    return whole


def check(folder: Path | str) -> list[str]:
    """Read all files that manifests of a folder name, and return what is wrong with them: nothing, if all is well."""
    problems, folder = [], path_of("folder", folder)
    for step in Manifest(folder).steps():
        for each in read_manifest(folder, step)["files"]:
            path = folder / each["path"]
            try:
                with open(path, "rb") as stream:
                    size, found = checksum(stream)
            except OSError as error:
                problems.append(f"step {step}: {path}: {error.strerror}")
                continue
            if (size, found) != (each.get("bytes"), each.get("sha256")):
                problems.append(f"step {step}: {path}: {size} bytes with another checksum than the manifest has")
    return problems
