from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from tradewind.base.errors import InputError, TradewindError
from tradewind.base.files import write_atomically
from tradewind.study.cases.store import CorruptCaseError, Store, locked

STUDY = 'title = "A study"\n'


def make_store(folder: Path) -> Store:
    store = Store.create(folder, STUDY)
    write_atomically(store.study_file, STUDY.encode())
    return store


def test_a_case_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r")
    body = {"key": "k", "result": {"time_s": 0.1 + 0.2, "name": "größer"}}
    store.save("k", body)
    assert store.load("k") == body
    assert store.load("other") is None
    assert [path.name for path in store.cases.iterdir()] == ["k.json"]


def test_keys_of_an_earlier_version_have_their_current_names(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.save("k", {"key": "k", "result": {"time_s": 1.5, "reckoned_change": 0.25, "least_bytes": 8}})
    found = store.load("k")
    assert found is not None
    assert found["result"] == {"time_s": 1.5, "extrapolated_change": 0.25, "minimum_bytes": 8}


def test_a_damaged_case_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r")
    store.save("k", {"key": "k", "result": {"time_s": 1.5}})
    text = store.path("k").read_text()
    for damaged in (text[:-20], "", text.replace("1.5", "1.6"), text.replace('"k"', '"j"'), "[]", "\0" * 40):
        store.path("k").write_text(damaged)
        with pytest.raises(CorruptCaseError):
            store.load("k")
    document = json.loads(text)
    store.path("other").write_text(json.dumps(document))
    with pytest.raises(CorruptCaseError, match="another case"):
        store.load("other")


@pytest.mark.parametrize("name", ["cases", "machines", "figures", "manifest.json", ".lock", "cases/k.json"])
def test_nothing_is_written_through_a_link_that_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    store = make_store(tmp_path / "r")
    store.save_manifest({})
    outside = tmp_path / "outside"
    if name in ("cases", "machines", "figures"):
        outside.mkdir()
    else:
        outside.write_text("theirs")
    path = store.folder / name
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.symlink_to(outside)
    with pytest.raises(InputError, match=f"{name}: a symbolic link leads out of .*, to {outside}"):  # noqa: PT012
        again = Store.create(store.folder, STUDY)
        with locked([again]):
            again.save("k", {"key": "k"})
            again.save_manifest({})
    assert outside.is_dir() or outside.read_text() == "theirs"
    assert not outside.is_dir() or not list(outside.iterdir())


def test_a_run_that_ended_before_it_wrote_its_study_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    folder = Store.create(tmp_path / "r", STUDY).folder
    with locked([Store(folder)]):
        (folder / ".study.toml.x.part").touch()
    Store.create(folder, STUDY)
    (folder / "machines" / "own.toml").touch()
    with pytest.raises(InputError, match="not empty"):
        Store.create(folder, STUDY)


def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    make_store(tmp_path / "r")
    Store.create(tmp_path / "r", STUDY + "seed = 2\n")
    with pytest.raises(InputError, match="another study, 'A study' and not 'Another'"):
        Store.create(tmp_path / "r", 'title = "Another"\n')
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").touch()
    with pytest.raises(InputError, match="not empty"):
        Store.create(tmp_path / "full", STUDY)
    with pytest.raises(InputError, match="this is a file; a folder is allowed"):
        Store.create(tmp_path / "full" / "letter.txt", STUDY)
    with pytest.raises(InputError, match="not a results folder"):
        Store.existing(tmp_path / "full")


def test_two_runs_cannot_write_one_folder(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r")
    with locked([store]):
        other = Store.create(tmp_path / "r", STUDY)
        with pytest.raises(TradewindError, match="another run writes here"), locked([other]):
            raise AssertionError("locked twice")
    with locked([other]):
        assert store.folder.joinpath(".lock").exists()


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    store = make_store(tmp_path / "r")
    monkeypatch.setattr("tradewind.study.cases.store.fcntl.flock", refuse)
    printed = r"cannot lock .*\.lock: No locks available: .* with locks"
    with pytest.raises(TradewindError, match=printed), locked([store]):
        raise AssertionError("locked")


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r")
    (store.folder / "figures").mkdir()
    for folder in (store.folder, store.cases, store.machines, store.folder / "figures"):
        (folder / ".k.json.99.part").write_text("{")
    store.save("k", {"key": "k"})
    store.remove_parts()
    assert [path.name for path in store.cases.iterdir()] == ["k.json"]
    assert not list(store.folder.rglob("*.part"))
