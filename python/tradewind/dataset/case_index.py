"""The index of cases by their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from xarray.core.indexing import IndexSelResult
from xarray.indexes import PandasMultiIndex

_MACHINE = "machine"
_FOLLOWING = frozenset(
    {
        *("routing", "model", "buffers", "packet", "placement", "ranks_per_node", "nodes"),
        *("settings", "base", "mpi_progress", "sweep"),
    }
)
"""Labels that a machine may determine, and the name of its sweep. Others, such as ranks, belong to the problem."""


class CaseIndex(PandasMultiIndex):
    """A multi-index of which a selection may name lists and slices of values beside single ones.

    xarray's own takes one value a level. What is selected by single values alone is what it would give, but for labels
    that follow from the machine, such as its routing: with one machine they are no labels of its cases any more, so
    that ``time.sel(machine="a") / time.sel(machine="b")`` meets cases that agree in all others.
    """

    def sel(self, labels: dict[Any, Any], method: Any = None, tolerance: Any = None) -> IndexSelResult:
        """The places of the cases that have all labels. Raises KeyError for a value that no case has."""
        several = {label: wanted for label, wanted in labels.items() if _is_several(wanted)}
        single = {label: wanted for label, wanted in labels.items() if label not in several}
        for label, wanted in labels.items():
            self._check(label, wanted)
        if not several:
            return super().sel(labels | self._following(labels), method=method, tolerance=tolerance)
        found = np.ones(len(self.index), dtype=bool)
        for label, wanted in single.items():
            found &= self._values(label) == wanted
        for label, wanted in several.items():
            found &= self._among(label, wanted)
        return IndexSelResult({self.dim: np.flatnonzero(found)})

    def _following(self, labels: dict[Any, Any]) -> dict[Any, Any]:
        """Those of `_FOLLOWING` that every machine has one value of, where they differ, and that of the one machine
        selected."""
        if _MACHINE not in labels or _MACHINE not in self.index.names:
            return {}
        machines, following = self._values(_MACHINE), dict[Any, Any]()
        for label in sorted(_FOLLOWING & {*self.index.names} - {*labels}):
            values = self._values(label)
            of_machine = dict[Any, Any]()
            for machine, value in zip(machines, values, strict=True):
                of_machine.setdefault(machine, value)
            follows = all(of_machine[machine] == value for machine, value in zip(machines, values, strict=True))
            if follows and len(set(of_machine.values())) > 1:
                following[label] = of_machine[labels[_MACHINE]]
        return following

    def _values(self, label: str) -> Any:
        return self.index.get_level_values(label).to_numpy()

    def _among(self, label: str, wanted: Any) -> Any:
        values = self._values(label)
        if not isinstance(wanted, slice):
            return np.isin(values, np.asarray(wanted))
        first = values >= wanted.start if wanted.start is not None else True
        return first & (values <= wanted.stop if wanted.stop is not None else True)

    def _check(self, label: str, wanted: Any) -> None:
        """Raises KeyError for a value that no case has; a slice may hold none."""
        if isinstance(wanted, slice):
            if wanted.step is not None:
                raise KeyError(f"{label} {wanted!r}: a slice of labels has no step")
            return
        known = self.index.get_level_values(label).unique().sort_values()  # levels keep what a selection has left out
        for value in np.asarray(wanted).ravel():
            if value not in known:
                named = value.item() if hasattr(value, "item") else value  # of NumPy, or of an array of objects
                shown = ", ".join(str(each) for each in known[:20])
                raise KeyError(f"no case has {label} {named!r} (known: {shown}{', ...' * (len(known) > 20)})")


def _is_several(wanted: Any) -> bool:
    return isinstance(wanted, slice) or np.ndim(wanted) > 0
