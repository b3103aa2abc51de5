"""The folder of a study's results: one file a case, whole or not there at all.

======================== ========================================================================================
``study.toml``           the study file as last run: what a report is rebuilt from
``manifest.json``        the cases that belong to it, those skipped and those failed
``cases/<key>.json``     one result, with its inputs, its provenance, a checksum, and a hash of the simulated program
``machines/<name>.toml`` the machines that were simulated
``models/<name>.toml``   the whole models, where there are any
======================== ========================================================================================

Several studies may share their cases: then these lie in a pool, a folder of cases that the manifest names.
"""

from __future__ import annotations

import fcntl
import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from tradewind.base.data import MANIFEST
from tradewind.base.errors import InputError, TradewindError
from tradewind.base.files import PART, check_folder, inside, make_folder, reason_of, remove_parts, write_inside
from tradewind.base.reading import check_source, is_folder, is_there, read_json, read_text
from tradewind.study.cases.case import digest

FORMER_KEYS = {"reckoned_change": "extrapolated_change", "least_bytes": "minimum_bytes"}
"""Keys of results that earlier versions stored, and their current names."""
NO_PROGRAM = "no hash of a program is stored with them"
OTHER_PROGRAM = "their programs have changed since: other steps, exchanges, flops or bytes"
"""Why stored cases are not used again."""
RESULTS = "results in"
"""Text of errors before the name of a folder."""


class _Labels(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)

    sweep: str
    kind: str
    exchange: str
    ranks: int
    machine: str | None
    settings: str | None


class _ManifestEntry(BaseModel):
    model_config = ConfigDict(strict=True)

    key: str
    labels: _Labels
    layout_imbalance: float


class _Manifest(BaseModel):
    """Keys that a report needs."""

    model_config = ConfigDict(extra="allow", strict=True)

    cases: list[_ManifestEntry]
    skipped: list[dict[str, str]]
    failed: dict[str, str]
    notes: list[str]
    pool: str | None = None


class CorruptCaseError(TradewindError):
    """A case file that is not what was once written."""


class Store:
    """A results folder. Make it with `create`, or with `existing` to read one."""

    def __init__(self, folder: Path, pool: Path | None = None) -> None:
        self.folder, self.pool = folder, pool
        self.cases = pool or folder / "cases"
        self.machines = folder / "machines"
        self.study_file = folder / "study.toml"
        self.manifest_file = folder / MANIFEST

    @classmethod
    def create(cls, folder: Path, study_text: str, pool: Path | None = None) -> Store:
        """Makes the folder of a study, or goes on with it. Raises InputError for one that belongs to something else.

        `pool`: the folder of the cases where several studies share them.
        """
        store = cls(folder, pool)
        title = _title(study_text)
        check_folder(folder, RESULTS)
        if is_there(store.study_file):
            theirs = _title(read_text(store.study_file))
            if theirs != title:
                raise InputError(
                    f"{folder} holds the results of another study, {theirs!r} and not {title!r}: "
                    "name another folder with --out"
                )
        elif is_folder(folder) and not store._is_new():
            raise InputError(f"{folder} is not empty and holds no study: name another folder with --out")
        for made in (store.cases, store.machines, folder / "figures"):
            if made != pool:
                inside(folder, made.name, RESULTS)
        for made in (store.cases, store.machines):
            make_folder(made, RESULTS)
            check_folder(made, RESULTS)
        return store

    def _is_new(self) -> bool:
        """Whether the folder holds nothing but what a run leaves that ended before it wrote its study."""
        found = set(self.folder.iterdir())  # once: another run may begin here meanwhile
        parts = {path for path in found if path.name.startswith(".") and path.suffix == PART}
        made = (folder for folder in (self.cases, self.machines) if folder.is_dir())
        empty = {folder for folder in made if all(child.suffix == PART for child in folder.iterdir())}
        return found <= {self.folder / ".lock"} | parts | empty

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """The folder of a study that was run before. Raises InputError for any other."""
        store = cls(folder)
        if not is_there(store.study_file) or not is_there(store.manifest_file):
            raise InputError(f"{folder} is not a results folder: `tradewind study FILE` makes one")
        pool = store.load_manifest().get("pool")
        return cls(folder, folder / pool) if pool else store

    def remove_parts(self) -> None:
        """Removes what killed runs left half-written."""
        for folder in (self.folder, self.cases, self.machines, self.folder / "figures"):
            remove_parts(folder)

    def write(self, path: Path, content: bytes) -> None:
        """Writes a file of the folder, or of the pool. Raises InputError, also where a link leads out of it."""
        folder = self.pool if self.pool is not None and path.parent == self.pool else self.folder
        write_inside(folder, path.relative_to(folder), content)

    def write_input(self, folder: str, name: str, content: bytes) -> None:
        """Writes a file that the study names; `folder`: MODELS or TRACES. Raises InputError."""
        make_folder(self.folder / folder, RESULTS)
        check_folder(self.folder / folder, RESULTS)
        self.write(self.folder / folder / name, content)

    def path(self, key: str) -> Path:
        """Return the path of the file of a case."""
        return self.cases / f"{key}.json"

    def save(self, key: str, body: dict[str, Any]) -> None:
        """Stores the result of a case under its key."""
        document = {"checksum": digest(body), "case": body}
        self.write(self.path(key), json.dumps(document, indent=1, allow_nan=False).encode())

    def load(self, key: str) -> dict[str, Any] | None:
        """The stored result of a case; None where there is none. Raises CorruptCaseError for a damaged one."""
        path = self.path(key)
        if not is_there(path):
            return None
        try:
            document = read_json(path, "a case")
        except InputError as error:
            raise CorruptCaseError(f"{path} is truncated or damaged: {error}") from None
        body = document.get("case") if isinstance(document, dict) else None
        if not isinstance(body, dict) or document.get("checksum") != digest(body):
            raise CorruptCaseError(f"{path} is damaged: its checksum does not fit")
        if body.get("key") != key:
            raise CorruptCaseError(f"{path} holds another case, {body.get('key')!r}")
        return _with_current_names(body)

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        """Store the manifest of the folder: its cases, skips, failures and notes."""
        pool = {"pool": os.path.relpath(self.pool, self.folder)} if self.pool else {}
        manifest = {**manifest, **pool}
        self.write(self.manifest_file, json.dumps(manifest, indent=1, allow_nan=False).encode())

    def load_manifest(self) -> dict[str, Any]:
        """Return the stored manifest. Raises TradewindError where there is none, or it is damaged."""
        try:
            manifest = read_json(self.manifest_file)
            _Manifest.model_validate(manifest)
        except InputError as error:
            raise TradewindError(f"{error}; run the study again") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            problem = f"{where}: {first['msg']}" if where else first["msg"]
            raise TradewindError(f"{self.manifest_file} is damaged ({problem}); run the study again") from None
        found: dict[str, Any] = manifest
        return found


def outdated(body: Mapping[str, Any], program: str | None) -> str | None:
    """Return why a stored simulation is not that of the program of today, a hash; None where it is, or nothing was
    simulated."""
    if program is None or body.get("program") == program:
        return None
    return OTHER_PROGRAM if body.get("program") else NO_PROGRAM


def counted_by_reason(what: str, reasons: Iterable[str]) -> list[str]:
    """Return a line for each reason why cases are computed again, with the number of them."""
    return [f"{count} {what} computed again: {reason}" for reason, count in Counter(reasons).items()]


@contextmanager
def locked(stores: Iterable[Store]) -> Iterator[None]:
    """Keeps other runs out of the folders and their pools. The locks end with the process, however it ends."""
    folders = dict.fromkeys(folder for store in stores for folder in (store.folder, store.pool) if folder)
    with ExitStack() as held:
        for folder in folders:
            held.enter_context(_locked(folder))
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with _opened(folder / ".lock") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            raise TradewindError(f"{folder}: another run writes here ({stream.read().strip()})") from None
        except OSError as error:  # for example Lustre without the option flock
            reason = f"{reason_of(error)}: results need a file system with locks"
            raise TradewindError(f"cannot lock {folder / '.lock'}: {reason}") from None
        stream.truncate(0)
        stream.write(f"process {os.getpid()}\n")
        stream.flush()
        yield


def _opened(lock: Path) -> IO[str]:
    inside(lock.parent, lock.name, "the lock")
    try:
        if is_there(lock):
            check_source(lock, "the lock")
        return open(lock, "a+", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the lock {lock}: {reason_of(error)}") from None


def _with_current_names(body: dict[str, Any]) -> dict[str, Any]:
    """Return a case with the current names of the keys of its result."""
    result = body.get("result")
    if not isinstance(result, dict):
        return body
    return {**body, "result": {FORMER_KEYS.get(key, key): value for key, value in result.items()}}


def _title(study_text: str) -> str:
    try:
        return str(tomllib.loads(study_text).get("title", ""))
    except tomllib.TOMLDecodeError:
        return ""
