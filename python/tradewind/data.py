"""The data files that come with Tradewind: machines and studies."""

from __future__ import annotations

from pathlib import Path


def data_folder(name: str) -> Path:
    """The folder ``machines`` or ``studies``: in the package where it is installed, beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / name
    return installed if installed.is_dir() else package.parents[1] / name
