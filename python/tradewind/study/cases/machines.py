"""The machines that a study names: where their files are, and what they are with changed values."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tradewind.base.errors import InputError
from tradewind.base.reading import is_file
from tradewind.machine import Machine, load_machine
from tradewind.study.cases.bases import OwnMachine
from tradewind.study.model.study_file import StudyFile


def located(machine: str, folder: Path) -> Path:
    """The file of a machine that a study in `folder` names; a name of a known one as it is."""
    path = folder / machine
    return path if path.suffix == ".toml" and is_file(path) else Path(machine)


def own_machines(study_file: StudyFile) -> OwnMachine:
    """Return a function that finds a machine of the study, its changed values included.

    Beside a study that was kept with its results lie its machines.
    """
    folder = study_file.path.parent

    @cache
    def read(machine: str, settings: tuple[tuple[str, str], ...]) -> Machine | None:
        path, kept = located(machine, folder), folder / "machines" / f"{Path(machine).stem}.toml"
        if path.suffix == ".toml" and not is_file(path) and is_file(kept):
            path = kept
        try:
            return load_machine(path, dict(settings)).machine
        except InputError:
            return None  # which is a problem of the sweep or of its base, and reported there

    return lambda machine, settings: read(machine, tuple(settings.items()))
