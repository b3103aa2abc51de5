"""Where packets are so coarse that the time misleads: what is warned of, and what is named instead."""

from __future__ import annotations

import warnings

import pytest

from tradewind import _core
from tradewind.base import units
from tradewind.base.errors import PacketWarning
from tradewind.machine import load_machine, machine_names
from tradewind.simulation import prepare, simulate
from tradewind.simulation.coarseness import PACKETS_PER_BUFFER, SPREADING, coarse_packets
from tradewind.workload.exchange import Exchange

OWN = 4096
KIB = 1024


def coarse(
    packet: int,
    message: float = 1e6,
    buffer: int | None = 64 * KIB,
    routing: str = "minimal",
    topology: str = "dragonfly",
) -> str | None:
    return coarse_packets(packet, OWN, message, buffer, topology, routing)


@pytest.mark.parametrize(
    ("packet", "buffer", "maximum"),
    [(32, 64, "16KiB"), (64, 64, "16KiB"), (16, 32, "8KiB"), (8, 8, "4KiB"), (64, 255, "65280B")],
)
def test_buffers_of_few_packets(packet: int, buffer: int, maximum: str) -> None:
    text = coarse(packet * KIB, buffer=buffer * KIB)
    assert text is not None
    assert f"packets of {packet} KiB" in text
    assert f"buffers of {buffer} KiB" in text
    assert text.endswith(f"--packet {maximum}")


@pytest.mark.parametrize(("packet", "buffer"), [(16, 64), (64, 256), (128, 1024), (64, None)])
def test_buffers_of_enough_packets(packet: int, buffer: int | None) -> None:
    assert coarse(packet * KIB, buffer=None if buffer is None else buffer * KIB) is None


def test_short_messages_make_small_packets() -> None:
    assert coarse(64 * KIB, message=16 * KIB) is None
    assert coarse(64 * KIB, message=17 * KIB) is not None
    assert coarse(0, message=16 * KIB) is None


def test_one_packet_a_message_is_cut_to_a_finite_buffer() -> None:
    text = coarse(0)
    assert text is not None
    assert "packets of 64 KiB" in text


@pytest.mark.parametrize(
    ("message", "maximum"), [(8 * OWN, 4), (100 * KIB, 12), (340_000, 40), (1 << 20, 128), (8_500_000, 128)]
)
def test_one_packet_a_message_with_unbounded_buffers(message: float, maximum: int) -> None:
    for packet in (0, 1 << 27):
        text = coarse(packet, message, None)
        assert text is not None
        assert "one packet per message" in text
        assert text.endswith(f"--packet {maximum}KiB")
        assert coarse(maximum * KIB, message, None) is None, "what is named instead is not warned of"


def test_short_messages_may_be_one_packet() -> None:
    assert coarse(0, 8 * OWN - 1, None) is None


def test_what_is_named_instead_is_not_warned_of() -> None:
    for routing in ("minimal", "ugal"):
        for buffer in (None, 16 * KIB, 20_000, 64 * KIB, 1 << 20):
            for packet in (0, 8 * KIB, 16 * KIB, 100_000):
                for message in (10_000, 123_456, 5_000_000):
                    text = coarse(packet, message, buffer, routing)
                    if text is not None:
                        instead = units.byte_count(text.split()[-1])
                        again = coarse(instead, message, buffer, routing)
                        assert again is None or "chooses a path" in again


def test_routings_that_choose_a_path_for_each_packet() -> None:
    known = {(entry.topology, entry.name) for entry in _core.routings()}
    for topology, routing in known:
        for buffer in (None, 64 * KIB):
            text = coarse(16 * KIB, 1e6, buffer, routing, topology)
            if topology in ("dragonfly", "fattree") and routing in (
                "adaptive",
                "par",
                "ugal",
                "valiant",
                "valiant-router",
            ):
                assert (
                    text == f"packets of 16 KiB can mislead where {routing} chooses a path for each: use --packet 4KiB"
                )
            else:
                assert text is None
    assert {(topology, routing) for topology, names in SPREADING.items() for routing in names} < known


@pytest.mark.parametrize("machine", machine_names())
def test_no_machine_is_warned_of_as_it_is(machine: str) -> None:
    file = load_machine(machine).machine
    assert file.packet.size * PACKETS_PER_BUFFER <= file.buffer_bytes
    routings = [entry.name for entry in _core.routings() if entry.topology == file.topology.kind]
    exchange = Exchange("transpose", 4, grid=(256, 256, 64))
    for routing in routings:
        for buffers in ("credits", "unbounded"):
            assert prepare(exchange, machine, routing=routing, buffers=buffers).coarseness() is None


def test_a_simulation_knows_its_buffers_and_messages() -> None:
    exchange = Exchange("transpose", 16, grid=(256, 256, 64))
    small = {"topology.shape": "[4, 4, 4]", "topology.nodes_per_switch": "1"}

    def warning_of(**options: object) -> str | None:
        settings = {**small, **options.pop("settings", {})}  # type: ignore[dict-item]
        return prepare(exchange, "torus-M", settings=settings, **options).coarseness()  # type: ignore[arg-type]

    assert warning_of(packet="16KiB") is None
    assert "64 KiB hold fewer than 4" in str(warning_of(packet="32KiB"))
    assert warning_of(packet="32KiB", settings={"switch.buffer": "128KiB"}) is None
    ported = {"switch.port_buffer": "256KiB", "switch.channels": "8"}
    assert "32 KiB hold fewer than 4" in str(warning_of(packet="16KiB", settings=ported))
    behind = {"switch.output_buffer": "64KiB", "switch.channels": "2", "switch.buffer": "64KiB"}
    assert "32 KiB hold fewer than 4" in str(warning_of(packet="16KiB", settings=behind))
    assert warning_of(packet="32KiB", buffers="unbounded") is None
    assert "one packet per message" in str(warning_of(packet="message", buffers="unbounded"))
    assert warning_of(packet="16KiB", routing="valiant") is None, "of a torus"
    dragonfly = prepare(exchange, "dragonfly-MM", packet="16KiB", routing="valiant")
    assert "valiant chooses a path" in str(dragonfly.coarseness())
    assert warning_of(packet="message", model="loggp") is None


def test_who_simulates_coarse_packets_is_warned() -> None:
    exchange = Exchange("transpose", 16, grid=(64, 64, 64))
    with pytest.warns(PacketWarning, match="packets of 32 KiB can mislead"):
        simulate(exchange, "torus-M", packet="message")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(exchange, "torus-M", packet="message", warn=False)
        simulate(exchange, "torus-M")


def test_no_messages_are_no_coarse_ones() -> None:
    assert prepare(Exchange("allreduce", 1, count=1 << 20), "torus-M", packet="message").coarseness() is None
