"""Packets so coarse that the simulated time misleads.

Larger packets are quicker to simulate. `studies/packets.toml` shows what they cost: most times stay within a few per
cent of those with the machine's own packets, but three things move them by a tenth and more.
"""

from __future__ import annotations

from tradewind.base.units import format_bytes

SPREADING = {"dragonfly": ("valiant", "valiant-router", "ugal", "par"), "fattree": ("adaptive",)}
"""Routings, by topology, that choose a path for each packet and give other times with coarse ones: of few packets some
links get too many. Those of a torus do so, too, but gave the same times to a tenth; others were not studied."""
PACKETS_PER_BUFFER = 4
"""With fewer in a channel's buffer, packets often wait for room that finer ones would find: times on the fat-tree and
the dragonfly were up to 1.4 times as long."""
PACKETS_PER_MESSAGE = 8
"""A message of this many of the machine's own packets must not be sent as one: whole messages pass one another then,
and one time in four was too short by a tenth or more. Messages of this many packets of another size gave times within
4 %."""

LARGEST_PACKET = 128 * 1024
"""The largest packets of which the study says what they cost."""


def coarse_packets(
    packet_bytes: int, own_bytes: int, message_bytes: float, buffer_bytes: int | None, topology: str, routing: str
) -> str | None:
    """Return why packets are too coarse for the time to be trusted, and what to use instead; None if they are not.

    `packet_bytes`: the largest packet, 0 for one packet per message; `own_bytes`: that of the machine file;
    `message_bytes`: mean size of the messages; `buffer_bytes`: of a channel, None for unbounded buffers; `topology`:
    of which kind.
    """
    limit = message_bytes if buffer_bytes is None else buffer_bytes
    size = int(min(packet_bytes or message_bytes, message_bytes, limit))
    if size < 2 * own_bytes:
        return None
    packets = f"packets of {format_bytes(size)}"
    if buffer_bytes is not None and PACKETS_PER_BUFFER * size > buffer_bytes:
        maximum = max(own_bytes, buffer_bytes // PACKETS_PER_BUFFER)
        return (
            f"{packets} can mislead where buffers of {format_bytes(buffer_bytes)} hold fewer than "
            f"{PACKETS_PER_BUFFER}: use --packet {_argument(maximum)}"
        )
    if routing in SPREADING.get(topology, ()):
        return f"{packets} can mislead where {routing} chooses a path for each: use --packet {_argument(own_bytes)}"
    if size >= int(message_bytes) >= PACKETS_PER_MESSAGE * own_bytes:
        maximum = min(LARGEST_PACKET, int(message_bytes) // PACKETS_PER_MESSAGE)
        return (
            f"one packet per message can mislead where messages have {format_bytes(message_bytes)}: "
            f"use --packet {_argument(max(own_bytes, maximum - maximum % own_bytes))}"
        )
    return None


def _argument(size: int) -> str:
    """A size as an option takes it."""
    return f"{size}B" if size % 1024 else f"{size // 1024}KiB"
