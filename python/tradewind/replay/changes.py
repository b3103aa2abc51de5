"""Changes that the author of a program may make, applied to its recorded calls."""

from __future__ import annotations

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.names import unknown

OVERLAPS = ("none", "receives", "waits", "both")
"""Parts of a program that overlap with its computations.

- receives: each receive is posted behind the wait before it, ahead of computations and sends. Assumed: its buffer is
  free then.
- waits: waits for messages come behind the computation that follows them at once. Assumed: it needs nothing that is
  received, and changes nothing that is sent, so this is the most that overlap can bring.
- both: both.

Messages of collective calls stay where they are.
"""


def changed(calls: _core.Calls, merge_bytes: int = 0, overlap: str = "none") -> _core.Calls:
    """Return the calls with these changes.

    `merge_bytes`: messages of one rank to another become one, as long as they have at most this number of bytes in all
    and their sender waits between them for nothing but sends that are as short. The message leaves with the last of
    them; its receive is posted with the first one, and is waited for where the first of them was. Putting them together
    takes no time. 0: none. `overlap`: one of `OVERLAPS`. Raises InputError.
    """
    if merge_bytes < 0:
        raise InputError(f"messages merged up to {merge_bytes} bytes: 0 or more is allowed")
    if overlap not in OVERLAPS:
        raise InputError(unknown("overlap", overlap, OVERLAPS))
    if merge_bytes > 0:
        calls = calls.merged(merge_bytes)
    if overlap in ("receives", "both"):
        calls = calls.with_early_receives()
    if overlap in ("waits", "both"):
        calls = calls.with_late_waits()
    return calls
