"""Opens the results of a study so that cases are found by their labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tradewind.dataset.read import load_dataset
from tradewind.study.model.labels import INTEGER_LABELS, LABELS

if TYPE_CHECKING:
    import xarray as xr


def open_results(path: str | Path) -> xr.Dataset:
    """The Dataset of a results.nc, in which ``sel`` takes any labels of cases: one value, a list or a slice of each.

    ``results.sel(algorithm="ring-4", ranks=1000)`` are the cases with both. `case` is a multi-index of all labels
    that the cases have, but for `exchange`, which repeats others; `key` is what they are stored under.
    Files that were written before labels were coordinates are read as well. Raises InputError for other files.
    """
    return indexed(load_dataset(Path(path)))


def indexed(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset of a file with the index of its cases."""
    from tradewind.dataset.case_index import CaseIndex

    labels = [label for label in LABELS if label in dataset]
    empty = [label for label in labels if dataset.sizes["case"] and _is_empty(dataset[label])]
    whole = {label: dataset[label].astype("int64") for label in labels if _is_whole(dataset[label])}
    keyed = dataset.assign({label: values.assign_attrs(dataset[label].attrs) for label, values in whole.items()})
    keyed = keyed.set_coords(labels).drop_vars(empty).drop_indexes("case").rename_vars(case="key")
    return keyed.set_xindex([label for label in labels if label not in (*empty, "exchange")], CaseIndex)


def _is_empty(values: xr.DataArray) -> bool:
    return bool((values == "").all() if values.dtype.kind in "OUS" else values.isnull().all())


def _is_whole(values: xr.DataArray) -> bool:
    return values.name in INTEGER_LABELS and values.dtype.kind in "fiu" and bool(values.notnull().all())
