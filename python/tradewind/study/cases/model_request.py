"""The time step of a whole model as a study asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text
from tradewind.model import COMPONENTS, AnyModel
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.workload import Step, Workload

WEATHER_MODEL = "model"
"""Value of the label `pattern` for these workloads, and the name of their requests."""
_PROSE = ("title", "description", "source", "left_out", "assumed", "numbers")
"""Tables of a model file that no result depends on, but for the values of its numbers."""


@dataclass(frozen=True)
class ModelRequest(Workload):
    """A time step of a model, in the mean over steps that do more now and then and those that do not."""

    model: AnyModel
    ranks: int
    split: tuple[int, int]
    causes: bool = False
    threads_per_rank: int | None = None
    """None: those that fill the cores of a node, if they count."""

    family: ClassVar[str] = WEATHER_MODEL

    def program(self) -> ProgramWorkload:
        """Return the program of all that a step ever does, by which it is proved, and its cost estimated.

        Raises InputError where a layout does not fit, without the folders of this computer.
        """
        try:
            return self.model.program(self.ranks, self.split, every=None).program.with_threads(self.threads)
        except InputError as error:
            raise InputError(*map(self.model.without_folders, error.problems)) from error

    @property
    def threads(self) -> int:
        """Threads per rank that compute, as far as they are known without the machine."""
        return self.threads_per_rank or 1

    def steps(self) -> list[Step]:
        """Return the exchanges of its program. Raises InputError where a layout does not fit."""
        return self.program().steps()

    def simulated(self, simulate: Callable[..., dict[str, Any]], machine: Any, **options: Any) -> dict[str, Any]:
        """Return what a forecast says of the step, its parts as steps: of each kind of step a program is simulated."""
        asked = {"split": self.split, "causes": self.causes, "threads_per_rank": self.threads_per_rank}
        found = self.model.simulate(machine, self.ranks, simulate=simulate, **asked, **options)
        return {**found, "step_time_s": found["part_s"], "compute_s": found["computing_s"]}

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point of one field; of components with several types the most."""
        return max(DTYPES[dtype] for dtype in self.model.dtypes)

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return self.bytes_per_point

    @property
    def name(self) -> str:
        """The model, and what is changed of it."""
        changed = [f"{name}={value:g}" for name, value in self.model.changed.items()]
        changed += [f"{kind} by {name}" for kind, name in self.model.algorithms.items()]
        return ", ".join([self.model.name, *changed])

    def traits(self) -> list[str]:
        """Return its ranks, as a text."""
        return [f"ranks {extents_text(self.split)}"]

    def as_dict(self) -> dict[str, Any]:
        """Return all that its results depend on, as plain values."""
        return {
            "weather_model": self.model.name,
            "file": _without_prose(self.model.data),
            "numbers": self.model.numbers(self.ranks),
            "algorithms": dict(self.model.algorithms),
            "ranks": self.ranks,
            "split": self.split,
            # Keys of cases without these stay what they are.
            **({"causes": True} if self.causes else {}),
            **({} if self.threads_per_rank is None else {"threads": self.threads_per_rank}),
        }

    def labels(self) -> dict[str, Any]:
        """Return the labels by which studies select it."""
        changed = ", ".join(f"{name}={value:g}" for name, value in self.model.changed.items())
        return {
            "pattern": WEATHER_MODEL,
            "weather_model": self.model.name,
            "numbers": changed or None,
            "algorithm": ", ".join(f"{kind}={name}" for kind, name in self.model.algorithms.items()) or None,
            "ranks": self.ranks,
            "split": extents_text(self.split),
            "threads": self.threads_per_rank,
            "grid": self.model.grid_text,
            "dtype": ", ".join(self.model.dtypes),
        }

    def imbalance(self) -> float:
        """Return the load imbalance of the columns: the maximum points of a rank over the mean, of any component."""
        return self.model.imbalance(self.ranks, self.split)

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: a forecast has it all."""
        return {}


def _without_prose(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what results depend on, of a model and of its components."""
    found = {key: value for key, value in data.items() if key not in _PROSE}
    if COMPONENTS in found:
        found[COMPONENTS] = {name: _without_prose(each) for name, each in found[COMPONENTS].items()}
    return found
