"""Options that the simulations of exchanges and of programs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tradewind.cli.parameters import Option

_LIST = "One, a comma list, or `all`."


Machines = Annotated[str, Option("--machine", help=f"Name or file. {_LIST}", show_default=False)]
Routings = Annotated[str | None, Option("--routing", help=_LIST, show_default="the machine's own")]
Algorithms = Annotated[str | None, Option("--algorithm", help=_LIST, show_default="the pattern's own")]
Model = Annotated[str, Option("--model", help="packet, or loggp (no congestion).")]
Buffers = Annotated[str, Option("--buffers", help="Switch buffers: credits (finite) or unbounded (faster).")]
Protocol = Annotated[str, Option("--protocol", help="send, or put (one-sided).")]
Transport = Annotated[
    str | None,
    Option(
        "--transport",
        help="Transport within a node; needs a machine file from `tradewind calibrate`.",
        show_default="memory bandwidth only",
    ),
]
Packing = Annotated[str | None, Option("--packing", help="Packing of that transport.", show_default="buffer")]
Posting = Annotated[
    str,
    Option(
        "--posting",
        help="When messages of a stage are posted: together; sendrecv, one exchange after another; or transport, as "
        "that of each exchange of a program does.",
    ),
]
Packet = Annotated[
    str | None,
    Option("--packet", help="Packet size, or `message` for one packet per message.", show_default="the machine's own"),
]
Processes = Annotated[
    int | None,
    Option(
        "-n",
        "--processes",
        help="Number of MPI processes that share each simulation; under mpiexec or srun, the processes that run.",
        show_default="this one",
    ),
]
Links = Annotated[
    Path | None, Option("--links", help="Write the load of every link and NIC to a CSV file.", show_default=False)
]
Congestion = Annotated[
    Path | None,
    Option(
        "--congestion",
        help="Draw link loads and waiting packets in this FOLDER; for a list, in one subfolder each.",
        show_default=False,
    ),
]
Timeline = Annotated[
    Path | None,
    Option(
        "--timeline",
        help="Write a time line of the ranks: for Perfetto, or a picture (.svg, .png, .pdf, .html).",
        show_default=False,
    ),
]
TimelineRanks = Annotated[
    str | None,
    Option("--timeline-ranks", help="Ranks on the time line, like 0:64 or 0,7,100:110.", show_default="0:64"),
]
Force = Annotated[bool, Option("--force", help="Run even if the estimate exceeds memory.")]
