"""The data files that come with Tradewind, machines and studies, and the names of those in folders of results."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
"""The folder of the Python package."""
MODELS, TRACES, MANIFEST = "models", "traces", "manifest.json"
"""In a folder of results: the folders of all model files and traces of its study, and the file that names its cases."""


def data_folder(name: str) -> Path:
    """The folder ``machines``, ``models`` or ``studies``: in an installed package, beside the package in a checkout."""
    installed = PACKAGE / name
    return installed if installed.is_dir() else PACKAGE.parents[1] / name
