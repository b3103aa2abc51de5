"""The options that every command about one exchange shares, and the `Exchange` that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tradewind.exchange import Exchange

_PATTERN = "Pattern options"

Pattern = Annotated[str, typer.Argument(help="transpose, halo or allreduce.", show_default=False)]
Ranks = Annotated[int, typer.Option("--ranks", help="Number of ranks.", show_default=False)]
Algorithm = Annotated[
    str | None,
    typer.Option("--algorithm", help="Like ring-4; see `tradewind list algorithms`.", show_default="the pattern's own"),
]
Grid = Annotated[
    str | None,
    typer.Option("--grid", help="Points NXxNYxNZ, like 28800x14400x256.", rich_help_panel=_PATTERN, show_default=False),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split", help="Ranks CXxCY over x and y.", rich_help_panel=_PATTERN, show_default="the most even that fits"
    ),
]
Slab = Annotated[
    str, typer.Option("--slab", help="transpose: xz, xy, yz, or all three in order.", rich_help_panel=_PATTERN)
]
Width = Annotated[int, typer.Option("--width", help="halo: points on every side.", rich_help_panel=_PATTERN)]
Periodic = Annotated[
    str,
    typer.Option(
        "--periodic", help="halo: periodic directions, x, y or xy.", rich_help_panel=_PATTERN, show_default="none"
    ),
]
Count = Annotated[int, typer.Option("--count", help="allreduce: elements.", rich_help_panel=_PATTERN)]
Times = Annotated[int, typer.Option("--times", help="Repeat the exchange so often in a row.", rich_help_panel=_PATTERN)]
Fields = Annotated[int, typer.Option("--fields", help="Fields together in each message.", rich_help_panel=_PATTERN)]
Dtype = Annotated[
    str, typer.Option("--dtype", help="Element type: f4, f8, i4, i8, c8 or c16.", rich_help_panel=_PATTERN)
]
Json = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


def make_exchange(
    pattern: str,
    ranks: int,
    algorithm: str | None = None,
    *,
    grid: str | None = None,
    split: str | None = None,
    slab: str = "all",
    width: int = 3,
    periodic: str = "",
    count: int = 3,
    times: int = 1,
    fields: int = 1,
    dtype: str = "f8",
) -> Exchange:
    """The exchange that the options ask for. Raises InputError: all that cannot be read, else all that cannot be."""
    from tradewind.errors import InputError
    from tradewind.exchange import Exchange, parse_extents

    problems: list[str] = []
    extents: dict[str, tuple[int, ...] | None] = {"grid": None, "split": None}
    for name, text, numbers in (("grid", grid, 3), ("split", split, 2)):
        try:
            extents[name] = None if text is None else parse_extents(text, numbers, name)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*problems)
    return Exchange(
        pattern=pattern,
        ranks=ranks,
        algorithm=algorithm,
        grid=extents["grid"],  # type: ignore[arg-type]
        split=extents["split"],  # type: ignore[arg-type]
        slab=slab,
        width=width,
        periodic=periodic,
        count=count,
        times=times,
        fields=fields,
        dtype=dtype,
    )
