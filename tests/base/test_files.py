"""Files are written as a whole or not at all, and replace regular files only."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tradewind.base.errors import InputError, WriteError
from tradewind.base.files import (
    check_folder,
    check_target,
    inside,
    make_folder,
    remove_parts,
    replaced,
    write_atomically,
    write_inside,
)
from tradewind.base.reading import read_bytes, read_json, read_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["a.txt"]


def test_a_new_file_has_the_permissions_that_the_user_asks_for(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a").write_bytes(b"old")
    for name, target in (("link", "there/a"), ("chain", "link"), ("dangling", "there/b")):
        (tmp_path / name).symlink_to(target)
        write_atomically(tmp_path / name, name.encode())
        assert (tmp_path / name).is_symlink()
    assert (tmp_path / "there" / "a").read_bytes() == b"chain"
    assert (tmp_path / "there" / "b").read_bytes() == b"dangling"


def test_a_link_does_not_lead_out_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    (tmp_path / "a").write_bytes(b"theirs")
    (folder / "up").symlink_to("..")
    (folder / "file").symlink_to("../a")
    (folder / "own").mkdir()
    (folder / "within").symlink_to("own")
    for path in ("up/a", "up/new", "file", "within/../up/a"):
        with pytest.raises(InputError, match=f"{path}: a symbolic link leads out of {folder}, to {tmp_path}/"):
            write_inside(folder, path, b"ours")
    with pytest.raises(InputError, match="leads out"):
        inside(folder, "up/a", follow=False)
    assert inside(folder, "file", follow=False) == folder / "file", "what removes takes the link itself away"
    (tmp_path / "link").symlink_to("results")
    assert write_inside(tmp_path / "link", "within/b", b"ours") == tmp_path / "link" / "within" / "b"
    assert (folder / "own" / "b").read_bytes() == b"ours"
    assert names(tmp_path) == ["a", "link", "results"]
    assert (tmp_path / "a").read_bytes() == b"theirs"


def pipe(path: Path) -> None:
    os.mkfifo(path)


def plug(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a long path is none for a socket
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def state(path: Path) -> tuple[int, ...]:
    """Return what writing would change: not when somebody last read it, which following a link may be."""
    found = path.lstat()
    return found.st_mode, found.st_ino, found.st_dev, found.st_rdev, found.st_size, found.st_mtime_ns


def device(path: Path) -> None:
    path.symlink_to("/dev/null")


def own_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize(
    ("make", "kind"),
    [(Path.mkdir, "folder"), (pipe, "pipe"), (plug, "socket"), (device, "device"), (own_device, "device")],
)
def test_what_is_no_regular_file_stays_as_it_is(make: Callable[[Path], None], kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    make(path)
    before = state(path)
    for attempt in (lambda: write_atomically(path, b"x", "time line"), lambda: check_target(path, "time line")):
        with pytest.raises(InputError, match=f"^cannot write time line .*/a: this is a {kind}; a file is allowed$"):
            attempt()
    assert state(path) == before
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no/such/a", "there is no folder {0}/no/such"),
        ("file/a", "there is no folder {0}/file"),
        ("n" * 256, "its name is too long"),
        ("loop", "Too many levels of symbolic links"),
        ("into/a", "there is no folder {0}/into"),
        ("a\0b", "embedded null byte"),
    ],
)
def test_places_that_cannot_be(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    for attempt in (lambda: write_atomically(tmp_path / name, b"x"), lambda: check_target(tmp_path / name)):
        with pytest.raises(InputError) as caught:
            attempt()
        assert str(caught.value).endswith(f": {reason.format(tmp_path)}")
    assert names(tmp_path) == before
    with pytest.raises(InputError, match="cannot read"):
        read_bytes(tmp_path / name)


def test_a_name_of_255_characters_is_one(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("n" * 255), b"x")
    assert names(tmp_path) == ["n" * 255]


@pytest.fixture
def folder_of_a_user() -> Iterator[Path]:
    """A folder of somebody who is not root, as whom the test goes on: root may write everywhere."""
    nobody = 65534
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are root's
        if os.geteuid() != 0:
            yield Path(name)
            return
        os.chown(name, nobody, nobody)
        os.setresuid(nobody, nobody, 0)
        try:
            yield Path(name)
        finally:
            os.setresuid(0, 0, 0)


def test_a_folder_and_a_file_without_permission(folder_of_a_user: Path) -> None:
    folder = folder_of_a_user
    (folder / "a").touch(mode=0o444)
    with pytest.raises(InputError, match="it may not be changed"):
        write_atomically(folder / "a", b"x")
    folder.chmod(0o555)
    try:
        with pytest.raises(InputError, match=rf"the folder {folder} cannot be written to"):
            check_target(folder / "b")
    finally:
        folder.chmod(0o755)


def test_a_body_that_fails_leaves_the_old_content(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"old")

    def fail() -> None:
        with replaced(tmp_path / "a") as stream:
            stream.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_a_full_disk_leaves_the_old_content_and_one_error(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"old")
    code = """
import resource, sys
from pathlib import Path
from tradewind.base.errors import InputError
from tradewind.base.files import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    write_atomically(Path(sys.argv[1]), bytes(100_000), "report")
except InputError as error:
    print(type(error).__name__, error.exit_code, error)
"""
    done = python(code, tmp_path / "a")
    assert done.stdout == f"WriteError 1 cannot write report {tmp_path / 'a'}: File too large\n", done.stderr
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_what_the_disk_has_not_taken_does_not_take_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomically(tmp_path / "a", b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left on device"):
        write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_parts_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
from tradewind.base.files import replaced
with replaced(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert python(code, tmp_path / "a").returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 1, "else nothing was left, and this test says nothing"
    with replaced(tmp_path / "b") as stream:
        stream.write(b"whole")
        remove_parts(tmp_path)
        assert len(names(tmp_path)) == 1, "that of the process that was killed, and not this one"
    assert names(tmp_path) == ["b"]
    remove_parts(tmp_path / "nowhere")


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    check_folder(tmp_path / "new" / "one")
    assert names(tmp_path) == ["file"]
    make_folder(tmp_path / "new" / "one")
    make_folder(tmp_path / "new" / "one")
    for attempt in (check_folder, make_folder):
        with pytest.raises(InputError, match=r"^cannot write results in .*/file"):
            attempt(tmp_path / "file", "results in")
        with pytest.raises(InputError, match="its name is too long"):
            attempt(tmp_path / ("n" * 256))
    with pytest.raises(InputError, match="this is a file; a folder is allowed"):
        check_folder(tmp_path / "file")
    with pytest.raises(InputError, match=r"/file is a file; a folder is allowed"):
        check_folder(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    ("make", "kind"), [(Path.mkdir, "folder"), (pipe, "pipe"), (plug, "socket"), (device, "device")]
)
def test_what_is_no_regular_file_is_not_read(make: Callable[[Path], None], kind: str, tmp_path: Path) -> None:
    make(tmp_path / "a")
    with pytest.raises(InputError, match=f"cannot read messages .*/a: this is a {kind}; a file is allowed"):
        read_bytes(tmp_path / "a", "messages")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    os.truncate(tmp_path / "a", 2**40)
    with pytest.raises(InputError, match=r"1099511627776 bytes; at most 536870912 are allowed"):
        read_bytes(tmp_path / "a")


def test_text(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("\ufeffé\r\nb\rc".encode())
    assert read_text(path) == "é\nb\nc"
    path.write_bytes(b"a\nb\xff")
    with pytest.raises(InputError, match=r"no text in UTF-8: byte 0xff in line 2"):
        read_text(path)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "1" * 10_000, "\0", '"' + "x" * 10_000, "[NaN]"])
def test_what_is_no_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(text)
    with pytest.raises(InputError, match=r"cannot read .*/a: no JSON"):
        read_json(tmp_path / "a")
