"""`tradewind serve` with a server that fails: KIND[:NUMBER[:ORDER[:TIMES]]], then the arguments.

KIND: ``raise``, ``kill``, or ``stop``, which ends when there is a file `go`. NUMBER: that of the server, all unless
it is there. It fails before it carries out an ORDER (``end`` of a step) for the so-manieth time (1); or within
what it does together with the model: as they make the plan of a block (``bound``), or as it sends a field (``give``).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

from tradewind.cli import main
from tradewind.fieldserver.server.ordered_server import OrderedServer

_SAID = sys.argv.pop(1).split(":")
KIND, NUMBER, ORDER, TIMES = [*_SAID, *("", "", "end", "1")[len(_SAID) :]]
_WAKE = "while kill -0 $0 && [ ! -e go ]; do sleep 0.05; done; kill -CONT $0"
_carry_out = OrderedServer._carry_out
_number, _seen = "", 0


def _fail(**_: Any) -> None:
    raise RuntimeError("the disk is on fire")


def _stop() -> None:
    with open(os.devnull, "w") as nowhere:
        subprocess.Popen(["sh", "-c", _WAKE, str(os.getpid())], stdout=nowhere, stderr=nowhere)
    os.kill(os.getpid(), signal.SIGSTOP)


def _carry_out_or_fail(server: OrderedServer, order: dict[str, Any]) -> None:
    global _number, _seen
    _number = str(server.number)
    if order["op"] == ORDER and NUMBER in ("", str(server.number)):
        _seen += 1
        if _seen == int(TIMES) and KIND == "raise":
            setattr(server, f"_do_{ORDER}", _fail)
        elif _seen == int(TIMES) and KIND == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif _seen == int(TIMES):
            _stop()
    _carry_out(server, order)


def _stop_within(owner: type, name: str) -> None:
    """Let a server stop in a method of one of its parts. It knows its number when it carries out orders."""
    inner = getattr(owner, name)

    def stops(*arguments: Any) -> Any:
        global _seen
        _seen += 1
        if _seen == int(TIMES) and NUMBER in ("", _number):
            _stop()
        return inner(*arguments)

    setattr(owner, name, stops)


if ORDER == "bound":
    from tradewind.fieldserver.server.slots import Slot

    _stop_within(Slot, "bound")
elif ORDER == "give":
    from tradewind.fieldserver.server.delivery import Delivery

    _stop_within(Delivery, "give")
OrderedServer._carry_out = _carry_out_or_fail  # type: ignore[method-assign]
main()
