"""What a run of a study has in store, and what it still has to compute."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tradewind.base.reading import is_there
from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.store import CorruptCaseError, Store
from tradewind.study.plan.planned import Planned


@dataclass
class Stock:
    """The cases of a study, each once."""

    at_hand: list[Planned] = field(default_factory=list)
    """Stored already, or known."""
    missing: list[Planned] = field(default_factory=list)
    """To be computed."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Key -> what is wrong with a stored one, which is missing therefore."""


def take_stock(
    cases: Iterable[Planned], store: Store, *, known: Collection[str] = (), remeasure: bool = False
) -> Stock:
    """Sorts cases by whether they need to be computed.

    `known`: keys of answers that take the place of cases that were never stored. `remeasure`: what was measured is
    measured again.
    """
    stock = Stock()
    for key, planned in {planned.key: planned for planned in cases}.items():
        again = remeasure and planned.case.kind in HERE_ONLY
        is_whole = _is_whole(key, store, known, stock.damaged)
        (stock.at_hand if is_whole and not again else stock.missing).append(planned)
    return stock


def _is_whole(key: str, store: Store, known: Collection[str], damaged: dict[str, str]) -> bool:
    if key in known and not is_there(store.path(key)):
        return True
    try:
        return store.load(key) is not None
    except CorruptCaseError as error:
        damaged[key] = f"{error}; it is computed again"
        return False
