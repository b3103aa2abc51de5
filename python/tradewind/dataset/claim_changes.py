"""The claims that two results of studies have tested: which have another verdict now, and which only one result has."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tradewind.base.ranking import listed
from tradewind.dataset.open_table import datasets_of
from tradewind.study.claims.finding import Verdict


@dataclass(frozen=True)
class ClaimChange:
    """A claim with its verdict in the old and in the new result."""

    study: str
    """Name of the study, where a result has several."""
    old: Verdict
    new: Verdict


@dataclass(frozen=True)
class ClaimChanges:
    """The claims of two results."""

    same: int
    """Number of claims with one verdict in both."""
    changed: list[ClaimChange]
    only_old: int
    only_new: int

    @property
    def common(self) -> int:
        """Number of claims that both results have tested."""
        return self.same + len(self.changed)


def claim_changes(old: Path, new: Path) -> ClaimChanges:
    """Compare the verdicts that two results keep; results of commands keep none. Raises InputError."""
    first, second = _verdicts(old), _verdicts(new)
    pairs = [(key[0], verdict, second[key]) for key, verdict in first.items() if key in second]
    changed = [ClaimChange(*pair) for pair in pairs if pair[1].verdict != pair[2].verdict]
    return ClaimChanges(len(pairs) - len(changed), changed, len(first) - len(pairs), len(second) - len(pairs))


def _verdicts(path: Path) -> dict[tuple[str, str, str, str | None], Verdict]:
    """Return the verdicts of a result by study, figure, claim and base."""
    return {
        (study, verdict.figure, verdict.claim, verdict.base): verdict
        for study, file in datasets_of(path).items()
        for verdict in _kept(file)
    }


def _kept(file: Path) -> list[Verdict]:
    import h5py

    with h5py.File(file, "r") as store:
        return list(map(Verdict.from_dict, json.loads(store.attrs.get("findings", "[]"))))


def claim_sentences(claims: ClaimChanges, old: str, new: str) -> list[str]:
    """Return the claims in a sentence; none where no result has tested any."""
    kinds = Counter(f"{each.old.verdict} → {each.new.verdict}" for each in claims.changed)
    parts = []
    if kinds:
        changes = listed([f"{count} {kind}" for kind, count in kinds.items()])
        parts.append(f"verdicts that changed, of {claims.common} in both results: {changes}")
    elif claims.common:
        parts.append(f"all {claims.common} in both results have the same verdict")
    parts += [f"{count} in {name} only" for count, name in ((claims.only_old, old), (claims.only_new, new)) if count]
    return [f"claims: {'; '.join(parts)}"] if parts else []
