"""Tables of the study `hours`: an hour of forecast by three models, by node, by ranks, by part and by choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kept_results import STUDIES, load
from study_tables import table

from tradewind.machine import load_machine
from tradewind.model import load_plain_model
from tradewind.model.tables import Number
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import parts_of, quantity_of

STUDY = "hours"
MODELS = ("spectral", "semi-implicit", "split-explicit")
HUNDREDTH = "-hundredth"
"""Ends the names of the models on a hundredth of the grid."""
NETWORKS = {"torus-L": "torus", "fattree-L": "fat-tree", "dragonfly-ML": "dragonfly"}
BASE = "base"
"""The node of the machine files."""
SMALLEST_SHARE = 0.01
"""Parts that take less are left out."""
Step = dict[str, Record]
"""The cases of the three models that are alike in all else, by model."""


def _steps() -> dict[tuple[Any, ...], Step]:
    """Return the steps with the numbers of their files: by whether on the whole grid, network, ranks and node."""
    found: dict[tuple[Any, ...], Step] = {}
    for record in load(STUDY).records:
        if record["numbers"] is None:
            name = record["weather_model"].removesuffix(HUNDREDTH)
            key = (name == record["weather_model"], record["machine"], record["ranks"], record["base"])
            found.setdefault(key, {})[name] = record
    return {key: step for key, step in found.items() if len(step) == len(MODELS)}


def _hour_s(record: Record) -> float:
    found = quantity_of(record, "hour-time")
    assert found is not None
    return found


def _over(step: Step, model: str) -> float:
    return _hour_s(step[model]) / _hour_s(step["semi-implicit"])


def _ratio(step: Step | None, model: str) -> str:
    return f"{_over(step, model):.2f}" if step else ""


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def _thousands(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def balance() -> str:
    """Times on 1000 ranks over those of the semi-implicit model, and what transpositions are of
    the spectral one, by node: bytes per second of its memory, read and written, of its link, and their ratio."""
    steps = _steps()
    rows = []
    for base in load(STUDY).study.base:
        machine = load_machine("fattree-L", base.set).machine
        memory, link = 2 * (machine.node.memory_bandwidth or 0.0), machine.link.bandwidth
        whole, few, fly = (
            steps.get((grid, network, 1000, base.name))
            for grid, network in ((True, "fattree-L"), (False, "fattree-L"), (False, "dragonfly-ML"))
        )
        share = parts_of(whole["spectral"])["transpositions"] / whole["spectral"]["time_s"] if whole else None
        cells = [_ratio(step, model) for step in (whole, few, fly) for model in ("spectral", "split-explicit")]
        nominal = (_thousands(memory / 1e9), f"{link / 1e9:g}", f"{memory / link:.0f}")
        rows.append((base.name, *nominal, *cells, "" if share is None else f"{share:.0%}"))
    where = ("whole grid", "a hundredth", "a hundredth, dragonfly")
    names = [f"{model}, {place}" for place in where for model in ("spectral", "split-explicit")]
    return table(("node", "memory, GB/s", "link, GB/s", "balance", *names, "transpositions, whole grid"), rows)


def seconds() -> str:
    """Seconds of an hour of forecast on the node of the machine files, by grid, network and ranks."""
    rows = []
    for place, step in _places(BASE):
        times = {model: _hour_s(step[model]) for model in MODELS}
        best = min(times.values())
        rows.append((*place, *(f"**{_seconds(t)}**" if t == best else _seconds(t) for t in times.values())))
    return table(("grid", "network", "ranks", *MODELS), rows)


def parts() -> str:
    """Where the time of a step goes: parts of a hundredth of it and more, on the node of the machine files."""
    rows = []
    for place, step in _places(BASE):
        for model in MODELS:
            whole = step[model]["time_s"]
            shares = sorted(((s / whole, part) for part, s in parts_of(step[model]).items()), reverse=True)
            text = ", ".join(f"{part} {share:.0%}" for share, part in shares if share >= SMALLEST_SHARE)
            rows.append((*place, model, _seconds(_hour_s(step[model])), text))
    return table(("grid", "network", "ranks", "model", "s", "of which"), rows)


def _places(base: str) -> Iterator[tuple[tuple[str, str, str], Step]]:
    for (whole, network, ranks, name), step in sorted(_steps().items(), key=_order):
        if name == base:
            yield ("whole grid" if whole else "a hundredth", NETWORKS[network], _thousands(ranks)), step


def _order(item: tuple[tuple[Any, ...], Step]) -> tuple[Any, ...]:
    (whole, network, ranks, _), _ = item
    return not whole, list(NETWORKS).index(network), ranks


def changes() -> str:
    """One choice at a time, on a hundredth of the grid and 1000 ranks of the fat-tree: seconds of an hour of forecast
    of the semi-implicit model, and how many times as long the others take."""
    steps = _steps()
    if (base := steps.get((False, "fattree-L", 1000, BASE))) is None:
        return "*No results of this study are kept yet.*"
    changed: dict[tuple[str, str], Step] = {}
    for record in load(STUDY).records:
        if record["numbers"] is not None:
            name = record["weather_model"].removesuffix(HUNDREDTH)
            changed.setdefault((record["sweep"], record["numbers"]), {})[name] = record
    rows = [("base", "", *_row(base, {}))]
    rows += [(sweep.partition(":")[0], numbers, *_row(base, step)) for (sweep, numbers), step in changed.items()]
    return table(("changed", "to", *MODELS), rows)


def _row(base: Step, step: Mapping[str, Record]) -> Sequence[str]:
    both = {**base, **step}
    times = {model: _hour_s(both[model]) for model in MODELS}
    first = min(times, key=lambda model: times[model])
    return [
        f"**{_seconds(time)} s**" if model == first else f"{time / times[first]:.2f}" for model, time in times.items()
    ]


def numbers() -> str:
    """The numbers of the model files: value, others that are published or assumed, unit, models, and source."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in MODELS:
        model = load_plain_model(STUDIES / "spectral_or_grid_point" / "models" / f"{name}.toml")
        step = ("step", f"{model.step_s:g}", "", "s", "assumed" if "step" in model.assumed else "")
        rows = [step, *((key, *_cells(number)) for key, number in model.table.numbers.items())]
        for row in rows:
            found.setdefault(row, []).append(name)
    rows = [(*row[:4], ", ".join(models), row[4]) for row, models in found.items()]
    return table(("number", "value", "others", "unit", "model", "source"), rows)


def _cells(number: Number) -> tuple[str, str, str, str]:
    value = number.value if isinstance(number.value, str) else f"{number.value:g}"
    others = ", ".join(f"{other:g}" for other in number.varied)
    return f"`{value}`" if value.startswith("=") else value, others, number.unit, number.source


HOURS: dict[str, Callable[[], str]] = {
    "hours-balance": balance,
    "hours-seconds": seconds,
    "hours-parts": parts,
    "hours-changes": changes,
    "hours-numbers": numbers,
}
"""The sections of pages about this study."""
