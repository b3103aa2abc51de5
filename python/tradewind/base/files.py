"""Files that are whole or not there at all: all that Tradewind writes is written here.

A file is written under another name beside its place, forced to the disk, and renamed: a reader, a crash and a full
disk leave the old content or the new one, and never a part. Only regular files are replaced; a symbolic link is
followed, and what it leads to is replaced, but not out of a folder of many files (`inside`). Whoever writes a part
holds a lock on it, which ends with its process: so `remove_parts` knows what a killed run has left, and takes nothing
from one that still writes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tradewind.base.errors import InputError, WriteError

PART = ".part"
"""Suffix of the files that become others; their names begin with a dot."""
_RANDOM_BYTES = 8
OWN_PARTS = f".{'[0-9a-f]' * 2 * _RANDOM_BYTES}{PART}"
"""Pattern of the names that parts have; earlier versions had others."""
_FOR_NO_WRONG_NAME = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
)


def kind_of(mode: int) -> str | None:
    """Return the kind of a file that is not regular, by its mode; None for a regular one."""
    return next((name for is_kind, name in _KINDS if is_kind(mode)), None)


def write_atomically(path: Path, content: bytes | memoryview, what: str = "", *, durable: bool = True) -> None:
    """Writes a file. Raises InputError, or WriteError where its name is right but the disk is full or failing.

    `what`: how errors call the file, like "time line". `durable`: it must outlast this computer.
    """
    with replaced(path, what, durable=durable) as stream:
        stream.write(content)


def write_inside(folder: Path, path: Path | str, content: bytes | memoryview, what: str = "") -> Path:
    """Writes a file of a folder, and returns where. Raises as `write_atomically`, and as `inside`."""
    whole = inside(folder, path, what)
    write_atomically(whole, content, what)
    return whole


@contextmanager
def replaced(path: Path, what: str = "", *, durable: bool = True) -> Iterator[IO[bytes]]:
    """A stream of which all, or where the body fails nothing, becomes the file `path`. Raises as `write_atomically`."""
    with _refused(path, what):
        target, old = _target(path, what)
        part, stream = _open_part(target.parent)
        try:
            with stream:
                yield stream
                stream.flush()
                if old is not None:
                    _take_after(stream.fileno(), old)
                if durable:
                    os.fsync(stream.fileno())
                os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        if durable:
            sync_folder(target.parent)


def check_target(path: Path, what: str = "") -> None:
    """Raises InputError for a file that could not be written, before anything is run that it is for."""
    with _refused(path, what):
        _try_out(_target(path, what)[0].parent)


def make_folder(path: Path, what: str = "", *, durable: bool = False) -> None:
    """Makes a folder, and those above it, where they are not there. Raises InputError where that cannot be.

    `durable`: its name must outlast this computer.
    """
    with _refused(path, what):
        new = [each for each in (path, *path.parents) if durable and not each.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for each in new:
            sync_folder(each.parent)


def check_folder(path: Path, what: str = "") -> None:
    """Raises InputError for a folder that cannot be made, or that nothing could be written to. Makes none."""
    with _refused(path, what):
        there = path.absolute()
        while (kind := _kind_there(there)) is None:
            there = there.parent
        if kind != "folder":
            here = "this" if there == path.absolute() else str(there)
            raise InputError(f"{_name(path, what)}: {here} is a {kind}; a folder is allowed")
        _try_out(there)


def remove(path: Path, what: str = "") -> None:
    """Removes a file where it is there. Raises InputError where that cannot be."""
    with _refused(path, what):
        path.unlink(missing_ok=True)


def remove_tree(path: Path, what: str = "") -> None:
    """Removes a folder with all that is in it; of links, themselves alone. Raises InputError where that cannot be."""
    with _refused(path, what):
        shutil.rmtree(path)


def inside(folder: Path, path: Path | str, what: str = "", *, follow: bool = True) -> Path:
    """Return a path below a folder. Raises InputError where a symbolic link on the way leads out of the folder.

    `follow`: a link at the end is one on the way, as it is for what writes; what removes takes away the link itself.
    """
    whole = folder / path
    root, real = (os.path.realpath(each) for each in (folder, whole if follow else whole.parent))
    if os.path.commonpath([root, real]) != root:
        raise InputError(
            f"{_name(whole, what)}: a symbolic link leads out of {folder}, to {real}, where nothing is to be changed"
        )
    return whole


def remove_parts(folder: Path, names: str = f".*{PART}") -> None:
    """Removes from a folder what killed runs have left half-written. `names`: the pattern of its name."""
    with suppress(OSError):  # no folder, no parts; and what cannot be removed does no harm
        for part in folder.glob(names):
            with suppress(OSError), open(part, "rb+") as stream:  # NFS locks only what is written to
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()


def _kind_there(path: Path) -> str | None:
    """Return the status of a path; None where nothing is there."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "link that leads nowhere" if path.is_symlink() else None
    return kind_of(mode) or "file"


def _target(path: Path, what: str) -> tuple[Path, os.stat_result | None]:
    """The file that `path` means, links followed, and what is known of it where it is there already."""
    try:
        old = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        old = None
    except ValueError as error:  # a null character
        raise InputError(f"{_name(path, what)}: {error}") from None
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        missing = (target if path.is_symlink() else path).parent
        raise InputError(f"{_name(path, what)}: there is no folder {missing}")
    if old is None:
        return target, None
    if kind := kind_of(old.st_mode):
        raise InputError(f"{_name(path, what)}: this is a {kind}; a file is allowed")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it may not be changed")
    return target, old


def _open_part(folder: Path) -> tuple[Path, IO[bytes]]:
    """A new file of a name that no other has, locked."""
    while True:
        part = folder / f".{secrets.token_hex(_RANDOM_BYTES)}{PART}"
        try:
            descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except PermissionError as error:
            raise PermissionError(error.errno, f"the folder {folder} cannot be written to") from None
        stream = os.fdopen(descriptor, "w+b")
        with suppress(OSError):  # a file system without locks: then no process removes the part
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:  # else it was taken for one that a killed run has left
            return part, stream
        stream.close()


def _try_out(folder: Path) -> None:
    part, stream = _open_part(folder)
    with stream:  # locked until it is gone
        part.unlink(missing_ok=True)


def _take_after(descriptor: int, old: os.stat_result) -> None:
    """Gives a new file the owner and the permissions of the one that it replaces."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):  # only root gives files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def sync_folder(folder: Path) -> None:
    """Forces a new name to the disk, where the folder may be read and its file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _name(path: Path, what: str) -> str:
    return f"cannot write {what} {path}" if what else f"cannot write {path}"


@contextmanager
def _refused(path: Path, what: str) -> Iterator[None]:
    """Turns what the system refuses in the body into one error about this file."""
    try:
        yield
    except OSError as error:
        kind = WriteError if error.errno in _FOR_NO_WRONG_NAME else InputError
        raise kind(f"{_name(path, what)}: {reason_of(error)}") from None


def reason_of(error: OSError) -> str:
    """Return the message of the operating system."""
    return "its name is too long" if error.errno == errno.ENAMETOOLONG else error.strerror or str(error)
