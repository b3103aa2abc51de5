"""`tradewind calibrate --files`: rates of encoding and of a disk become a machine's table `files`, and are used."""

from __future__ import annotations

import pytest
from command_line import run_tradewind

from tradewind.base.errors import InputError
from tradewind.launch.probe_files import measure_files
from tradewind.machine import load_machine
from tradewind.simulation import simulate
from tradewind.workload.program_file import load_program

pytest.importorskip("mpi4py.MPI")

KEYS = ("encode_rate", "compress_rate", "decode_rate", "disk_bandwidth", "file_bandwidth")
STEP = """
grid = "8x8x4"
ranks = 2

[[step]]
compute = "rank"
encode = "50MB"
write = "15MB"
"""


@pytest.mark.ranks
@pytest.mark.slow
def test_a_machine_file_has_the_measured_rates(tmp_path):
    pytest.importorskip("eccodes")
    quick = "--transport shared --packing buffer --largest 8KiB --repeat 1 --no-kernels --force"
    out, disk = tmp_path / "here.toml", tmp_path / "disk"
    found = run_tradewind(*f"calibrate -n 2 {quick} -o {out} --files {disk} --json".split()).json["files"]
    file = load_machine(out)
    assert set(found) == set(KEYS)
    assert all(getattr(file.machine.files, key) == pytest.approx(found[key], rel=1e-3) for key in KEYS)
    assert all(file.machine.source[f"files.{key}"].rpartition("; ")[2].startswith("measured by") for key in KEYS)
    assert list(disk.iterdir()) == []
    seconds = 50e6 / found["encode_rate"] + 15e6 / min(found["disk_bandwidth"] / 2, found["file_bandwidth"])
    (tmp_path / "step.toml").write_text(STEP)
    assert simulate(load_program(tmp_path / "step.toml"), out, ranks_per_node=2)["time_s"] == pytest.approx(
        seconds, rel=1e-2
    )


def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file"):
        measure_files(1, tmp_path / "file")
