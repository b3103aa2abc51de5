"""The studies that come with Tradewind, by name: `quickstart`, and of a folder `zheng2018/figure-5a`."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from tradewind.base.data import data_folder
from tradewind.base.errors import InputError


def natural_key(path: Path) -> list[tuple[int, str]]:
    """Sorts figure-9 before figure-10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.stem)]


_BESIDE = ("machines", "models")
"""Folders beside a study with machines and models of its own."""


def study_files() -> dict[str, Path]:
    """The files of all studies by name, those of no folder first."""
    root = data_folder("studies")
    files = [path for path in root.glob("**/*.toml") if path.parent.name not in _BESIDE]
    files.sort(key=lambda path: (path.parent.relative_to(root).parts, natural_key(path)))
    return {path.relative_to(root).with_suffix("").as_posix(): path for path in files}


def study_folders() -> dict[str, Path]:
    """The folders of studies by name."""
    return {name.rpartition("/")[0]: path.parent for name, path in study_files().items() if "/" in name}


def find_study(given: Path) -> Path:
    """Return the file or folder that is meant: what exists under that path, else the study of that name.

    Raises InputError, with the nearest name, where there is neither. What ends in .toml is always a path.
    """
    try:
        if given.exists() or given.suffix == ".toml":
            return given
    except OSError as error:  # a name that no file can have
        raise InputError(f"cannot read {given}: {error.strerror}") from None
    known = named_studies()
    if (name := given.as_posix()) in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(
        f"{name!r} is neither a file or folder nor a study that comes with Tradewind{hint} "
        "(`tradewind list studies` prints their names)"
    )


def named_studies() -> dict[str, Path]:
    """Everything that `find_study` knows by name: studies, and folders of them."""
    return study_files() | study_folders()


def shadowed_by(given: Path) -> Path | None:
    """The study of this name that a file or folder of the same path hides; None where they are the same."""
    other = named_studies().get(given.as_posix())
    return other if other is not None and given.exists() and not given.samefile(other) else None
