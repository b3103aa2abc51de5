"""Cases of a study that its store holds already, and cases that are still to be computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.store import CorruptCaseError, Store, counted_by_reason, outdated
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
    outdated: dict[str, str] = field(default_factory=dict)
    """Key -> why a stored case is not that of today, and computed again."""

    def recomputed(self, others: Collection[str] = ()) -> list[str]:
        """Return a line for each damaged case, and one for each reason for others; without the keys of `others`."""
        damaged = [text for key, text in self.damaged.items() if key not in others]
        return damaged + counted_by_reason(
            "stored cases are", (why for key, why in self.outdated.items() if key not in others)
        )


def scan_cache(
    cases: Iterable[Planned],
    store: Store,
    *,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    remeasure: bool = False,
) -> CachedCases:
    """Sort cases by whether they have to be computed.

    A stored simulation counts only where its program is that of today. `known`: results by key that stand for cases
    without a stored one that counts, unless it is damaged. `remeasure`: measure again what was measured.
    """
    cached = CachedCases()
    for planned in {planned.key: planned for planned in cases}.values():
        again = remeasure and planned.case.kind in HERE_ONLY
        is_whole = _is_whole(planned, store, known or {}, cached)
        (cached.present if is_whole and not again else cached.missing).append(planned)
    return cached


def _is_whole(planned: Planned, store: Store, known: Mapping[str, Mapping[str, Any]], cached: CachedCases) -> bool:
    key, program = planned.key, planned.program
    try:
        body = store.load(key)
    except CorruptCaseError as error:
        cached.damaged[key] = f"{error}; it is computed again"
        return False
    why = None if body is None else outdated(body, program)
    if body is not None and why is None:
        return True
    if key in known and outdated(known[key], program) is None:
        return True
    if why is not None:
        cached.outdated[key] = why
    return False


def yields_to_known(planned: Planned, store: Store) -> bool:
    """Return whether a known result may be stored as that of a case: nothing is yet, or what another program gave."""
    try:
        body = store.load(planned.key)
    except CorruptCaseError:  # which is computed again, with a note
        return False
    return body is None or outdated(body, planned.program) is not None
