"""Counters of energy in a tree of files like /sys, counters that wrap around, and why nothing is measured."""

import re
import sys
from pathlib import Path

import pytest

from tradewind.launch.energy import (
    NO_COUNTERS,
    TOO_SHORT,
    Counter,
    EnergyMeter,
    UnreadableError,
    find_counters,
    measured,
)


def write(folder, **files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")


def rapl(root, place, name, joules):
    write(
        root / "class/powercap" / place, name=name, energy_uj=round(joules * 1e6), max_energy_range_uj=262_143_000_000
    )


def named(root):
    return {counter.name: counter.read_j() for counter in find_counters(root, with_gpus=False)}


def test_sockets_and_memories_of_powercap_are_counted_once(tmp_path):
    """Cores are a part of their socket, and psys holds all of it; hwmon counts the same sockets again."""
    rapl(tmp_path, "intel-rapl:0", "package-0", 10)
    rapl(tmp_path, "intel-rapl:0:0", "core", 4)
    rapl(tmp_path, "intel-rapl:0:1", "dram", 2)
    rapl(tmp_path, "intel-rapl:1", "package-1", 20)
    rapl(tmp_path, "intel-rapl:2", "psys", 50)
    write(tmp_path / "class/hwmon/hwmon3", energy1_label="Esocket0", energy1_input=7_000_000)
    assert named(tmp_path) == {"package-0 (powercap)": 10, "dram 0 (powercap)": 2, "package-1 (powercap)": 20}


def test_sockets_of_hwmon_without_its_cores(tmp_path):
    write(tmp_path / "class/hwmon/hwmon3", energy1_label="Ecore000", energy1_input=1, energy2_label="Esocket0",
          energy2_input=7_000_000)  # fmt: skip
    assert named(tmp_path) == {"Esocket0 (hwmon)": 7}


def test_a_whole_node_of_a_cray_stands_alone(tmp_path):
    rapl(tmp_path, "intel-rapl:0", "package-0", 10)
    write(tmp_path / "cray/pm_counters", energy="1234 J 1700000000000000 us", cpu_energy="900 J 1 us")
    assert named(tmp_path) == {"node (pm_counters)": 1234}


def test_counters_that_wrap_around():
    values = iter([250.0, 10.0, 15.0, 5.0])
    counter = Counter("c", lambda: next(values), range_j=262.0)
    counter.start()
    for counted in (22.0, 27.0, 279.0):
        counter.update()
        assert counter.counted_j == pytest.approx(counted)


def test_no_counters_and_none_that_may_be_read(tmp_path):
    assert find_counters(tmp_path, with_gpus=False) == []
    rapl(tmp_path, "intel-rapl:0", "package-0", 10)
    path = tmp_path / "class/powercap/intel-rapl:0/energy_uj"
    path.unlink()
    with pytest.raises(UnreadableError, match=r"energy_uj: No such file"):
        find_counters(tmp_path)


def test_a_counter_without_permission(tmp_path, monkeypatch):
    rapl(tmp_path, "intel-rapl:0", "package-0", 10)
    read = Path.read_text

    def refused(path, **options):
        if path.name == "energy_uj":
            raise PermissionError
        return read(path, **options)

    monkeypatch.setattr(Path, "read_text", refused)
    with pytest.raises(UnreadableError, match=r"no permission to read .*energy_uj"):
        find_counters(tmp_path)
    with EnergyMeter(OneRank(), tmp_path) as meter:
        pass
    assert meter.result()["energy_j"] is None
    assert "not measured here: no permission to read" in meter.result()["no_energy"]


class OneRank:
    """A communicator of one rank on one node, or of that and one beside it."""

    def __init__(self, ranks=1):
        self.ranks = ranks

    def Split_type(self, kind):  # noqa: N802
        return self

    def Get_rank(self):  # noqa: N802
        return 0

    def Free(self):  # noqa: N802
        pass

    def allgather(self, value):
        return [value] + [None] * (self.ranks - 1)


def test_a_meter_counts_what_is_drawn_while_it_is_entered(tmp_path):
    pytest.importorskip("mpi4py.MPI")
    rapl(tmp_path, "intel-rapl:0", "package-0", 262_100)
    with EnergyMeter(OneRank(2), tmp_path) as meter:
        (tmp_path / "class/powercap/intel-rapl:0/energy_uj").write_text("7000000\n")
    result = meter.result()
    assert 0 < result.pop("energy_s") < 60
    assert result == {"energy_j": pytest.approx(50), "energy_counters": "package-0 (powercap)", "no_energy": None}
    with EnergyMeter(OneRank(), tmp_path / "none") as meter:
        pass
    assert meter.result()["no_energy"] == f"not measured here: {NO_COUNTERS}"


def test_results_of_meters_add_up_from_a_second_on():
    def counted(joules, seconds):
        return {"energy_j": joules, "energy_s": seconds, "energy_counters": "c", "no_energy": None}

    assert measured([counted(30, 0.6), counted(20, 0.4)]) == counted(50, 1.0)
    short = measured([counted(30, 0.9)])
    assert short == dict.fromkeys(counted(0, 0), None) | {"no_energy": f"not measured here: {TOO_SHORT}"}
    assert measured([counted(30, 2.0), short]) == short


@pytest.mark.parametrize("text", ["", "none J", "\u2082"])
def test_files_that_hold_no_number(tmp_path, text):
    """On all ranks there is a reason, and on none an error, for which the others would wait."""
    write(tmp_path / "cray/pm_counters", energy=text)
    with EnergyMeter(OneRank(), tmp_path) as meter:
        pass
    assert re.search("pm_counters/energy: ", meter.result()["no_energy"])


class Gpus:
    """NVML with one GPU, of which a function fails."""

    class NVMLError(Exception):
        pass

    class NVMLError_NotSupported(NVMLError):  # noqa: N801, N818
        pass

    def __init__(self, fails, error):
        def fail(*_):
            raise error("GPU is lost")

        self.nvmlInit = self.nvmlDeviceGetHandleByIndex = lambda *_: None
        self.nvmlDeviceGetCount = lambda: 1
        self.nvmlDeviceGetTotalEnergyConsumption = lambda _: 5000
        if fails:
            setattr(self, fails, fail)
        self.fail = fail


def test_gpus_that_cannot_be_read(tmp_path, monkeypatch):
    def found(fails, error=Gpus.NVMLError):
        monkeypatch.setitem(sys.modules, "pynvml", Gpus(fails, error))
        return find_counters(tmp_path)

    for function in ("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetTotalEnergyConsumption"):
        with pytest.raises(UnreadableError, match="GPU 0: GPU is lost"):
            found(function)
    assert found("nvmlDeviceGetTotalEnergyConsumption", Gpus.NVMLError_NotSupported) == []
    (counter,) = found(None)
    assert counter.read_j() == 5
    gpus = sys.modules["pynvml"]
    monkeypatch.setattr(gpus, "nvmlDeviceGetTotalEnergyConsumption", gpus.fail)
    with pytest.raises(UnreadableError, match="GPU 0: GPU is lost"):
        counter.read_j()
