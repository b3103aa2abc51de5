"""Cases of a study that its store holds already, and cases that are still to be computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tradewind.base.reading import is_there
from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.store import CorruptCaseError, Store
from tradewind.study.plan.planned import Planned


@dataclass
class CachedCases:
    """The cases of a study, each once."""

    present: list[Planned] = field(default_factory=list)
    """Stored or known."""
    missing: list[Planned] = field(default_factory=list)
    """To be computed."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Key -> problem of a damaged stored case, which is computed again."""


def scan_cache(
    cases: Iterable[Planned], store: Store, *, known: Collection[str] = (), remeasure: bool = False
) -> CachedCases:
    """Sort cases by whether they have to be computed.

    `known`: keys of results that stand for cases without a stored one. `remeasure`: measure again what was measured.
    """
    cached = CachedCases()
    for key, planned in {planned.key: planned for planned in cases}.items():
        again = remeasure and planned.case.kind in HERE_ONLY
        is_whole = _is_whole(key, store, known, cached.damaged)
        (cached.present if is_whole and not again else cached.missing).append(planned)
    return cached


def _is_whole(key: str, store: Store, known: Collection[str], damaged: dict[str, str]) -> bool:
    if key in known and not is_there(store.path(key)):
        return True
    try:
        return store.load(key) is not None
    except CorruptCaseError as error:
        damaged[key] = f"{error}; it is computed again"
        return False
