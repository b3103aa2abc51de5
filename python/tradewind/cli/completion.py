"""`tradewind completion`: scripts that complete commands, options and names in a shell."""

from __future__ import annotations

from typing import Annotated

from tradewind.cli.completion_scripts import SCRIPTS
from tradewind.cli.parameters import Argument

WORDS = "words"
"""In place of a shell: print what the last of the words behind ``--`` can become, which the scripts ask for."""


def command(
    shell: Annotated[str, Argument(help=f"{', '.join(SCRIPTS)}.", show_default=False)],
    words: Annotated[list[str] | None, Argument(help="Of `words`: a command line.", show_default=False)] = None,
) -> None:
    """Print the script of a shell. Raises InputError for another one."""
    from tradewind.base.errors import InputError
    from tradewind.base.names import unknown

    if shell == WORDS:
        print("".join(f"{each}\n" for each in _completed(words or [""])), end="")
    elif shell not in SCRIPTS:
        raise InputError(unknown("shell", shell, SCRIPTS))
    else:
        print(SCRIPTS[shell], end="")


def _completed(words: list[str]) -> list[str]:
    from tradewind.base.errors import TradewindError
    from tradewind.cli.candidates import candidates

    try:
        return candidates(words)
    except TradewindError:  # a line that is wrong already: nothing completes it
        return []
