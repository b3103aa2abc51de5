"""`tradewind export`: results as one tidy table, for pandas, R or a spreadsheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tradewind.cli.parameters import Argument, Option


def command(
    results: Annotated[
        list[Path] | None,
        Argument(
            metavar="RESULT",
            help="As of compare; several are joined.",
        ),
    ] = None,
    output: Annotated[
        Path | None, Option("-o", "--output", help="Table: FILE.csv.", show_default="standard output")
    ] = None,
) -> None:
    """Write results as one tidy table: a row per value, in the columns of docs/reference/table.md."""
    from tradewind.base.errors import InputError
    from tradewind.base.files import check_target, write_atomically
    from tradewind.cli.screen import show_text
    from tradewind.dataset.open_table import open_table

    if output is not None:
        if output.suffix != ".csv":
            raise InputError(f"--output {output}: a name that ends in .csv is allowed")
        check_target(output, "table")
    table = open_table(*(results or ()))
    text = table.to_csv(index=False)
    if output is None:
        print(text, end="")
        return
    write_atomically(output, text.encode(), "table")
    show_text(f"table: {output}, {len(table)} rows of {table['case'].nunique()} cases")
