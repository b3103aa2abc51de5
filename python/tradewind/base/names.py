"""Names that a user may misspell."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that nobody knows, with the nearest one that somebody does."""
    known = list(dict.fromkeys(known))
    if not known:
        return f"unknown {what} {name!r}; there is none"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {name!r}{hint} (known: {', '.join(known)})"
