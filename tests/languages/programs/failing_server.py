"""`tradewind serve` with a server that raises or stops when the first step ends: raise|stop, then the arguments."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from tradewind.cli import main
from tradewind.fieldserver.serving import Server


def _fail(server: Server, **order: Any) -> None:
    if kind == "raise":
        raise RuntimeError("the disk is on fire")
    os.kill(os.getpid(), signal.SIGSTOP)


kind = sys.argv.pop(1)
Server._do_end = _fail  # type: ignore[method-assign]
main()
