"""The planted faults fit today's files: a list that does not is of no use when it is needed."""

from __future__ import annotations

from pathlib import Path

from fault_list import ROOT, problem_of, read_faults


def test_faults_fit_their_files() -> None:
    faults = read_faults()
    assert len({fault.id for fault in faults}) == len(faults)
    assert [problem for fault in faults if (problem := problem_of(fault))] == []


def test_each_folder_has_faults() -> None:
    folders = {Path(fault.file).parent.as_posix() for fault in read_faults()}
    code = {path.parent for top, end in (("src", "cpp"), ("python", "py")) for path in (ROOT / top).rglob(f"*.{end}")}
    without = {f"python/tradewind/{name}" for name in ("fieldserver", "study")}  # they hold only folders
    wanted = {path.relative_to(ROOT).as_posix() for path in code} - without
    assert wanted - folders == set()
