"""Says in a sentence what came out of a plot: which curve is the fastest, and by what factor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from tradewind.base.ranking import Contender, Race, factor, listed, middle_half, ranking
from tradewind.figure.curves import label_text, valued
from tradewind.figure.figure import chosen
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import QUANTITIES
from tradewind.study.model.study import Plot

NOTHING = "No plot of this study compares the times of two curves, so this page does not name the fastest."


def outcome(plot: Plot, records: Sequence[Record]) -> str:
    """Return the outcome of a plot of times in a sentence; empty where it compares no two times.

    Of each panel it compares the curves at the place where most curves have a case; of several such places, at the
    largest, or the last in the order of the study.
    """
    if plot.over or plot.kind not in ("time", "bars") or not QUANTITIES[plot.quantity].title.endswith("(s)"):
        return ""
    races = _races(plot, records)
    show = QUANTITIES[plot.quantity].show
    return f"{_same_winner(races) or _each(races, show)}." if races else ""


def _races(plot: Plot, records: Sequence[Record]) -> list[Race]:
    cases = valued(plot, chosen(plot, records))
    panels = dict.fromkeys(label_text(record, plot.panel) for record, _ in cases)
    found = (_race(plot, panel, [c for c in cases if label_text(c[0], plot.panel) == panel]) for panel in panels)
    return [race for race in found if race is not None]


def _race(plot: Plot, panel: str, cases: Sequence[tuple[Record, float]]) -> Race | None:
    places: dict[object, dict[str, list[tuple[Record, float]]]] = {}
    for record, value in cases:
        curves = places.setdefault(record[plot.along], {})
        curves.setdefault(label_text(record, plot.curve) or f"no {plot.curve}", []).append((record, value))
    if len({record["kind"] for record, _ in cases}) > 1:
        return None  # measured, simulated and published times do not compete
    maximum = max((len(curves) for curves in places.values()), default=0)
    if maximum < 2:
        return None
    full = [place for place, curves in places.items() if len(curves) == maximum]
    numbers = [place for place in full if isinstance(place, int)]
    place = max(numbers) if len(numbers) == len(full) else full[-1]
    contenders = [_contender(name, each) for name, each in places[place].items()]
    text = "" if plot.along == plot.panel else _place(plot.along, place)
    return Race(panel, text, sorted(contenders, key=lambda each: each.value))


def _place(label: str, value: object) -> str:
    if label == "ranks":
        return f"on {value:,} ranks".replace(",", "\u202f")
    words = label_text({label: value}, label)
    return f"with {label.replace('_', ' ')} {words}" if words == str(value) else f"with {words}"


def _contender(name: str, cases: Sequence[tuple[Record, float]]) -> Contender:
    values = [value for _, value in cases]
    spans = [_span(record, value) for record, value in cases]
    oversubscribed = any(record["result"].get("oversubscribed") for record, _ in cases)
    return Contender(name, median(values), min(low for low, _ in spans), max(high for _, high in spans), oversubscribed)


def _span(record: Record, value: float) -> tuple[float, float]:
    """Return the range of a measured case: the middle half of its samples, around its own median."""
    result = record["result"]
    samples = result["results"][0].get("samples_s", []) if record["kind"] == "measure" else result.get("samples_s", [])
    if not samples or record["kind"] not in ("measure", "run"):
        return value, value
    low, high = middle_half(samples)
    middle = median(samples)
    return value * low / middle, value * high / middle


def _same_winner(races: Sequence[Race]) -> str:
    """One sentence for several panels with the same winner at the same place; an empty text where there is none."""
    names, places = {race.contenders[0].name for race in races}, {race.place for race in races}
    alone = all(len(race.leaders) == 1 and not race.contenders[0].oversubscribed for race in races)
    if len(races) < 2 or len(names) > 1 or len(places) > 1 or not alone:
        return ""
    text = f"{names.pop()} is the fastest for {listed([race.panel for race in races])}, "
    text += f"{_factors([race.to_next for race in races])} as fast as the next"
    if all(len(race.contenders) > 2 for race in races):
        text += f" and {_factors([race.to_slowest for race in races])} as fast as the slowest"
    return ", ".join(filter(None, (races[0].place, text)))


def _each(races: Sequence[Race], show: Callable[[float], str]) -> str:
    """A ranking for each panel; the place once where it is the same."""
    places = {race.place for race in races}
    shared = places.pop() if len(places) == 1 else ""
    texts = []
    for race in races:
        where = ", ".join(filter(None, (race.panel, "" if shared else race.place)))
        texts.append(f"{where}: {ranking(race, show)}" if where else ranking(race, show))
    return ", ".join(filter(None, (shared, "; ".join(texts))))


def _factors(values: Sequence[float]) -> str:
    low, high = factor(min(values)), factor(max(values))
    return f"{low} times" if low == high else f"{low} to {high} times"
