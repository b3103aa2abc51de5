"""`tradewind report`: writes the report of a study again, from its stored cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tradewind.cli.options import Json
from tradewind.cli.parameters import Argument, Option


def command(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder with the results of a study.", show_default=False)],
    open_page: Annotated[bool, Option("--open", help="Open the report in the browser.")] = False,
    json: Json = False,
) -> int:
    """Write the report of a study again, from its stored cases."""
    import webbrowser

    from tradewind.cli.output import print_result
    from tradewind.report.build import build_report
    from tradewind.study.cases.environment import here

    report = build_report(folder, here())
    print_result(report.as_dict(), json, lambda: print(f"report: {report.page}"))
    if open_page:
        webbrowser.open(report.page.resolve().as_uri())
    return 1 if report.records.failed or report.records.missing else 0
