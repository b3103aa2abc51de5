"""CPU time of a packet-hop and of a message of a model's step, on one thread; a minute on an idle core."""

from __future__ import annotations

import time
from typing import Any

from tradewind.machine import load_machine
from tradewind.model.model import load_plain_model
from tradewind.simulation import simulate
from tradewind.simulation.causes import simulate_unloaded

MODEL, MACHINE = "arome-1300m", "fugaku"
GRID = (384, 360, 90)
"""As many points per rank of 4096 as the whole grid has per rank of 65,536."""


def models() -> None:
    """Packet-hops with finite and unbounded buffers, and messages on an unloaded network."""
    model, file = load_plain_model(MODEL), load_machine(MACHINE)
    small = model.on_grid(GRID).program(4096).program
    for buffers in ("credits", "unbounded"):
        cpu_s, result = _timed(simulate, small, file, buffers=buffers)
        each = f"{cpu_s / result['packet_hops'] * 1e9:.0f} ns of CPU per packet-hop"
        print(f"{MODEL}, 4096 ranks of {MACHINE}, buffers {buffers}: {each}, {result['time_s'] * 1e3:.2f} ms simulated")
    cpu_s, result = _timed(simulate_unloaded, model.program(2048).program, file)
    each = f"{cpu_s / result['messages'] * 1e9:.0f} ns of CPU per message"
    print(f"{MODEL}, 2048 ranks of {MACHINE}, unloaded: {each}")


def _timed(run: Any, *arguments: Any, **options: Any) -> tuple[float, dict[str, Any]]:
    begin = time.process_time()
    result = run(*arguments, threads=1, **options)
    return time.process_time() - begin, result


if __name__ == "__main__":
    models()
