"""A study and the file that it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tradewind.base.toml_lines import TomlFile
from tradewind.study.model.study import Study


@dataclass(frozen=True)
class StudyFile:
    """A study and the file that it was read from."""

    study: Study
    file: TomlFile

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.file.path

    @property
    def name(self) -> str:
        """Name of the file without its ending."""
        return self.path.stem
