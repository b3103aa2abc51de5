"""Builds the site.

    python docs/website [--studies NAME,...]   pages, and reports of the kept studies, into build/site
    python docs/website serve                   pages alone, and again whenever a file changes
    python docs/website notebooks               the notebooks alone, into build/notebooks

It needs no network, nor do the pages: what they load lies beside them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))
from website.notebooks import write_notebooks  # noqa: E402
from website.reports import kept_studies, write_reports  # noqa: E402 (found by the line above)

SITE = ROOT / "build" / "site"
NOTEBOOKS = ROOT / "build" / "notebooks"


def zensical(*arguments: str) -> None:
    """Run Zensical with the extension of the pages. Exits where it fails."""
    paths = os.pathsep.join(filter(None, (str(DOCS), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "zensical", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def build(studies: list[str]) -> None:
    """Build all of the site, and print how long its parts take and how large they are."""
    began = time.monotonic()
    zensical("build", "--strict", "--clean")
    _print("pages", SITE, began)
    began = time.monotonic()
    write_notebooks(SITE / "notebook")
    _print("notebooks", SITE / "notebook", began)
    began = time.monotonic()
    write_reports(SITE / "reports", studies)
    shutil.copyfile(SITE / "assets" / "images" / "favicon.png", SITE / "favicon.ico")  # for reports, which name none
    _print(f"reports of {len(studies)} studies", SITE / "reports", began)
    print(f"site: {SITE.relative_to(ROOT)}/index.html")


def _print(what: str, folder: Path, began: float) -> None:
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{what}: {size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s", flush=True)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python docs/website", description="Build the site, serve its pages, or write the notebooks."
    )
    parser.add_argument("what", nargs="?", choices=("build", "serve", "notebooks"), default="build")
    parser.add_argument("--studies", metavar="NAME,...", help="studies whose reports are written; all unless given")
    options = parser.parse_args(arguments)
    if options.what == "serve":
        zensical("serve")
        return
    if options.what == "notebooks":
        for file in write_notebooks(NOTEBOOKS):
            print(file.relative_to(ROOT))
        return
    known = kept_studies()
    names = known if options.studies is None else [name for name in options.studies.split(",") if name]
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no results are kept of {', '.join(unknown)}")
    build(names)


if __name__ == "__main__":
    main(sys.argv[1:])
