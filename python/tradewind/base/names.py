"""Names that a user may misspell."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from tradewind.base.errors import MAX_QUOTED, InputError, quoted


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Return the error text for an unknown name, with the closest known one."""
    known = list(dict.fromkeys(known))
    if not known:
        return f"unknown {what} {quoted(name)}; there is none"
    return f"unknown {what} {quoted(name)}{nearest(name, known)} (known: {', '.join(known)})"


def nearest(name: object, known: Sequence[str]) -> str:
    """Return the question whether the closest of the known names was meant, for the end of a text; "": none is."""
    is_short = isinstance(name, str) and len(name) <= MAX_QUOTED  # to compare long ones takes minutes
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.4) if is_short else []
    return f"; did you mean {near[0]!r}?" if near else ""


def known_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return a name if it is a known one. Raises InputError."""
    known = list(known)
    if not isinstance(name, str) or name not in known:
        raise InputError(unknown(what, name, known))
    return name
