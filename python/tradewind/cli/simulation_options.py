"""Options of the commands that simulate, beside those of every simulation (see `options.of_simulations`)."""

from __future__ import annotations

from typing import Annotated

from tradewind.cli.parameters import ONE_OR_MORE, Option

_LIST = "One, a comma list, or `all`."

Machine = Annotated[str, Option("--machine", help="Name or file.", show_default=False)]
Machines = Annotated[str, Option("--machine", help=f"Name or file. {_LIST}", show_default=False)]
Routings = Annotated[str | None, Option("--routing", help=_LIST, show_default="the machine's own")]
Algorithms = Annotated[str | None, Option("--algorithm", help=_LIST, show_default="the pattern's own")]
Processes = Annotated[
    int | None,
    Option(
        "--processes",
        help="Number of MPI processes that share each simulation; under mpiexec or srun, the processes that run.",
        show_default="this one",
        allowed=ONE_OR_MORE,
    ),
]
