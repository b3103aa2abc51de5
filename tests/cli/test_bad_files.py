"""Whatever a file is that a command reads or is to write: one error, exit code 2, and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tradewind.cli import make_app
from tradewind.cli.output import run

DEEP = 100_000
STUDY = 'title = "t"\n[[sweep]]\nname = "a"\nkind = "verify"\npattern = "allreduce"\nranks = 2\n'


def write(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content) and None


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**30)


READ: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "folder": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "pipe": lambda path: os.mkfifo(path),
    "loop": lambda path: path.symlink_to(path.name),
    "dangling": lambda path: path.symlink_to("nowhere"),
    "empty": write(b""),
    "binary": write(bytes(range(256)) * 100),
    "sparse": sparse,
    "no utf-8": write(b'title = "\xff"\n'),
    "utf-16": write('title = "t"\n'.encode("utf-16")),
    "bom": write(b"\xef\xbb\xbf"),
    "crlf": write(b"\r\n\r\n"),
    "deep list": write(b"a = " + b"[" * DEEP + b"]" * DEEP),
    "deep json": write(b"[" * DEEP + b"]" * DEEP),
    "deep table": write(b"[" + b"a." * DEEP + b"a]"),
    "numbers": write(b'{"ranks": 1e999, "stages": [[[0, NaN, -Infinity]]]}'),
    "digits": write(b"1" * DEEP),
    "toml numbers": write(b"title = nan\nseed = 1e999\nsweep = [{ ranks = inf }]\n"),
    "toml digits": write(b"seed = " + b"1" * DEEP),
    "long value": write(b'title = 1\nx = "' + b"y" * DEEP + b'"\n'),
}
READERS = {
    "study": ".toml",
    "study small.toml --dry-run --known": ".nc",
    "study small.toml --dry-run --cluster": ".toml",
    "verify fetch --ranks 2 --messages": ".json",
    "simulate fetch --ranks 2 --machine torus-M --messages": ".json",
    "simulate allreduce --ranks 2 --machine": ".toml",
    "list machines --machine": ".toml",
    "run diffusion -n 2 --grid 16x16x4 --simulate": ".toml",
    "bench allreduce -n 2 --predict": ".toml",
    "tune allreduce -n 2 -o": ".toml",
    "report": "",
}


def pairs(
    commands: Iterable[str], kinds: Iterable[str], allowed: Callable[[str, str], bool] = lambda _command, _kind: False
) -> list[object]:
    """All of them but what is `allowed`; those that say nothing new of a command or of a kind are slow."""
    first = next(iter(commands))
    return [
        pytest.param(command, kind, marks=() if command == first or kind == "device" else pytest.mark.slow)
        for command in commands
        for kind in kinds
        if not allowed(command, kind)
    ]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error of a command that refuses."""
    code = run(make_app(), arguments)
    text = capsys.readouterr()
    assert code == 2, (arguments, text)
    assert text.out == ""
    assert text.err.startswith("error: ")
    assert "Traceback" not in text.err
    assert len(text.err) < 4000
    return text.err


def may_be_read(command: str, kind: str) -> bool:
    """A tuning file is there after the command."""
    return command.startswith("tune") and kind in ("missing", "dangling", "empty", "bom", "crlf")


@pytest.mark.parametrize(("command", "kind"), pairs(READERS, READ, may_be_read))
def test_files_that_cannot_be_read(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(STUDY)
    name = f"bad{READERS[command]}"
    READ[kind](Path(name))
    before = sorted(tmp_path.iterdir())
    text = printed([*command.split(), name], capsys)
    assert "bad" in text
    assert sorted(tmp_path.iterdir()) == before


MANIFESTS = {
    "no object": "[]",
    "empty": "{}",
    "no cases": '{"cases": 3, "skipped": [], "failed": {}, "notes": []}',
    "no labels": '{"cases": [{"key": "k", "layout_imbalance": 1.0}], "skipped": [], "failed": {}, "notes": []}',
    "other labels": '{"cases": [{"key": "k", "labels": {"sweep": 1}, "layout_imbalance": 1.0}], "skipped": [], '
    '"failed": {}, "notes": []}',
    "notes": '{"cases": [], "skipped": [], "failed": {}, "notes": [{}]}',
    "pool": '{"cases": [], "skipped": [], "failed": {}, "notes": [], "pool": [1]}',
    "deep": "[" * DEEP,
    "cut": '{"cases": [',
    "numbers": '{"cases": [], "skipped": [], "failed": {}, "notes": NaN}',
}


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study and its results."""
    folder = tmp_path_factory.mktemp("computed")
    (folder / "s.toml").write_text(STUDY)
    assert run(make_app(), ["study", str(folder / "s.toml"), "--out", str(folder / "results")]) == 0
    return folder


@pytest.mark.parametrize("kind", MANIFESTS)
@pytest.mark.slow
def test_a_damaged_manifest_is_one_error_and_a_run_mends_it(
    kind: str, computed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(computed, tmp_path, dirs_exist_ok=True)
    study, results = tmp_path / "s.toml", tmp_path / "results"
    (results / "manifest.json").write_text(MANIFESTS[kind])
    assert run(make_app(), ["report", str(results)]) == 1
    text = capsys.readouterr()
    assert text.err.count("error: ") == 1
    assert f"{results / 'manifest.json'}" in text.err
    assert text.err.endswith("run the study again\n")
    assert run(make_app(), ["study", str(study), "--out", str(results), "--json"]) == 0
    assert '"computed": 0, "reused": 1' in capsys.readouterr().out


PARTS = ("study.toml", "manifest.json", "cases", "machines", "report.html", ".lock", "figures")


def belongs_there(part: str, kind: str) -> bool:
    """Or is written again."""
    if kind == "folder":
        return part in ("cases", "machines", "figures")
    return kind == "binary" and part in ("manifest.json", "report.html", ".lock")


@pytest.mark.parametrize(("part", "kind"), pairs(PARTS, ["folder", "device", "pipe", "loop", "binary"], belongs_there))
@pytest.mark.slow
def test_something_else_in_a_folder_of_results(
    part: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, results = tmp_path / "s.toml", tmp_path / "results"
    study.write_text(STUDY)
    results.mkdir()
    (results / "study.toml").write_text(STUDY)
    (results / part).unlink(missing_ok=True)
    READ[kind](results / part)
    code = run(make_app(), ["study", str(study), "--out", str(results)])
    text = capsys.readouterr().err
    assert code == 2, text
    assert text.count("error: ") == 1
    assert part in text


def plug(path: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(os.path.relpath(path))


WRITTEN: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/null"),
    "full": lambda path: path.symlink_to("/dev/full"),
    "pipe": lambda path: os.mkfifo(path),
    "socket": plug,
    "loop": lambda path: path.symlink_to(path.name),
    "lost": lambda path: path.symlink_to("no/where"),
}
SIMULATE = "simulate allreduce --ranks 2 --machine torus-M"
WRITERS = {
    f"{SIMULATE} --links": ".csv",
    f"{SIMULATE} --timeline": "",
    f"{SIMULATE} --timeline ": ".svg",
    f"{SIMULATE} --congestion": "",
    "show halo --ranks 4 --grid 16x16x4 --picture": ".svg",
    "list machines --machine torus-M --picture": ".svg",
    "bench allreduce -n 2 --chart": ".svg",
    "bench allreduce -n 2 --timeline": "",
    "tune allreduce -n 2 -o": ".toml",
    "tune allreduce -n 2 -o a.toml --report": ".html",
    "calibrate -n 2 -o": ".toml",
    "run diffusion -n 2 --grid 16x16x4 --picture": ".svg",
    "run diffusion -n 2 --grid 16x16x4 --timeline": "",
    "study small.toml --out": "",
    "study small.toml --pool": "",
}
FOLDERS = ("--congestion", "--out", "--pool")


def there(folder: Path) -> dict[str, tuple[int, ...]]:
    """Return the content of a folder, as far as writing would change it."""
    found = {path.name: path.lstat() for path in folder.iterdir()}
    return {name: (each.st_ino, each.st_mode, each.st_size, each.st_mtime_ns) for name, each in found.items()}


def may_be_written(command: str, kind: str) -> bool:
    return command.split()[-1] in FOLDERS and kind in ("folder", "no folder")


@pytest.mark.parametrize(
    ("command", "kind"), pairs(WRITERS, [*WRITTEN, "long name", "no folder", "in a file"], may_be_written)
)
def test_files_that_cannot_be_written(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(STUDY)
    name = {"long name": "n" * 250, "no folder": "no/bad", "in a file": "small.toml/bad"}.get(kind, "bad")
    name += WRITERS[command] + ("x" * 10 if kind == "long name" and not WRITERS[command] else "")
    if kind == "long name":
        name = "n" * 10 + name
    if kind in WRITTEN:
        WRITTEN[kind](Path(name))
    before = there(tmp_path)
    text = printed([*command.split(), name], capsys)
    assert text.count("error: ") == 1
    assert name[:20] in text
    assert there(tmp_path) == before
