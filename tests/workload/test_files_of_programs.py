"""Work on files: computed by hand from the rates of a machine."""

import pytest

from tradewind.base.errors import InputError
from tradewind.base.file_work import FileWork
from tradewind.launch.program import bench_program
from tradewind.machine import load_machine
from tradewind.simulation import simulate
from tradewind.workload.program_file import load_program

RATES = {"files.encode_rate": "100MB/s", "files.disk_bandwidth": "60MB/s", "files.file_bandwidth": "25MB/s"}
TEXT = """
grid = "8x8x4"
ranks = 4

[[step]]
compute = "rank"
encode = "50MB"
write = "15MB"
%s
"""


def _time(more: str = "", rates: dict[str, str] = RATES) -> float:
    result = simulate(load_program("step.toml", TEXT % more), "torus-M", settings=rates)
    return float(result["time_s"])


def test_ranks_share_the_disk() -> None:
    assert _time() == pytest.approx(0.5 + 4 * 15 / 60)


def test_a_rank_alone_has_its_own_limit() -> None:
    assert _time("points = [1, 0, 0, 0]") == pytest.approx(0.5 + 15 / 25)


def test_flops_without_a_rate_name_the_step_and_the_machine() -> None:
    with pytest.raises(InputError) as error:
        _time('flops = 7\nlabel = "physics"')
    (problem,) = error.value.problems
    assert problem.startswith(
        "physics: a computation has flops, and the machine 'torus-M of Zheng & Marguinaud (2018)' "
    )


def test_every_missing_rate_is_named() -> None:
    with pytest.raises(InputError) as error:
        _time('compress = "1MB"', {"files.encode_rate": "1GB/s"})
    assert [text.split()[4] for text in error.value.problems] == ["files.compress_rate,", "files.disk_bandwidth,"]


def test_bench_refuses_what_is_simulated_only(tmp_path) -> None:
    path = tmp_path / "step.toml"
    path.write_text(TEXT % "")
    with pytest.raises(InputError, match="simulated, and not run"):
        bench_program(path)


def test_rates_of_files_are_part_of_the_identity_of_programs_with_files_alone() -> None:
    plain, rated = load_machine("torus-M"), load_machine("torus-M", RATES)
    assert plain.identity == rated.identity
    assert plain.files_identity == plain.identity != rated.files_identity


@pytest.mark.parametrize("size", [-1.0, float("inf"), float("nan")])
def test_bytes_of_files_are_numbers_from_0(size: float) -> None:
    with pytest.raises(InputError, match="0 bytes or more"):
        FileWork(write=size)


def test_a_layout_does_no_work_on_files() -> None:
    with pytest.raises(InputError, match="and not of a layout"):
        load_program("step.toml", (TEXT % "").replace('compute = "rank"', 'compute = "xy"'))
