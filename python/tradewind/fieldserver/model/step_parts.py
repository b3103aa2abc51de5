"""Parts of steps that a channel has: those that have ended, those that are finished, and what another one must know."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from tradewind.fieldserver.server.step_files import Part


class StepParts:
    """The parts of steps of the shares of a channel. Steps of a share end in ascending order."""

    def __init__(self) -> None:
        self.ended: deque[Part] = deque()
        """Those that have ended and are not known to be finished, in the order of their ends."""
        self.finished = 0
        """So many are known to be finished."""
        self.reused: set[Part] = set()
        """Those whose memory was used again before they were finished: they could not be written again."""
        self.dropped: list[tuple[Part, str]] = []
        """Files that were given up, once for each of their fields that did not come."""
        self._last: dict[int, int] = {}
        """The last step of each share that has ended."""

    def end(self, part: Part) -> None:
        """Nothing more comes of a part."""
        share, step = part
        self.ended.append(part)
        self._last[share] = step

    def note_finished(self, count: int) -> None:
        """So many parts are finished: nothing of these has to be kept any more."""
        if count <= self.finished:
            return
        done = {self.ended.popleft() for _ in range(count - self.finished)}
        self.finished = count
        self.reused -= done
        self.dropped = [each for each in self.dropped if each[0] not in done]

    def note_reuse(self, parts: Iterable[Part]) -> None:
        """The memory of fields of these parts is used again."""
        self.reused |= {part for part in parts if not self.is_done(part)}

    def unfinished(self, kept: Iterable[Part]) -> list[Part]:
        """Return those that are not finished and have ended, are `kept`, or have given-up files; by step."""
        found = {*self.ended, *kept, *(part for part, _ in self.dropped)}
        return sorted(found, key=lambda part: (part[1], part[0]))

    def is_done(self, part: Part) -> bool:
        """Whether a part is finished."""
        share, step = part
        return step <= self._last.get(share, -1) and part not in self.ended
