"""`tradewind report`: writes the report of a study again, from its stored cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tradewind.cli.options import Json
from tradewind.cli.parameters import Argument, Option


def command(
    folder: Annotated[
        Path,
        Argument(
            metavar="DIR",
            help="Folder with the results of a study; with --compare also a file of results.",
            show_default=False,
        ),
    ],
    compare: Annotated[
        Path | None,
        Option(
            "--compare",
            metavar="OLD",
            help="Show an older result beside this one, in one page: comparison.html in the folder DIR, or, where DIR "
            "is a file NAME.json, NAME.comparison.html beside it.",
            show_default=False,
        ),
    ] = None,
    open_page: Annotated[bool, Option("--open", help="Open the report in the browser.")] = False,
    json: Json = False,
) -> int:
    """Write the report of a study again, from its stored cases; or one page about two results: --compare OLD NEW."""
    import webbrowser

    from tradewind.cli.output import print_result
    from tradewind.report.build import build_report
    from tradewind.study.cases.environment import here

    if compare is not None:
        return _compare(compare, folder, open_page=open_page, as_json=json)
    report = build_report(folder, here())
    print_result(report.as_dict(), json, lambda: print(f"report: {report.page}"))
    if open_page:
        webbrowser.open(report.page.resolve().as_uri())
    return 1 if report.records.failed or report.records.missing else 0


def _compare(old: Path, new: Path, *, open_page: bool, as_json: bool) -> int:
    import webbrowser

    from tradewind.cli.output import print_result
    from tradewind.cli.screen import show_text
    from tradewind.report.comparison import write_comparison

    page, words = write_comparison(old, new)

    def show() -> None:
        for each in words:
            show_text(each)
        print(f"report: {page}")

    print_result({"report": str(page), "old": str(old), "new": str(new), "summary": words}, as_json, show)
    if open_page:
        webbrowser.open(page.resolve().as_uri())
    return 0
