"""`tradewind simulate`: exit codes, JSON, and bad input."""

import json

import pytest
from slow_tests import slow

from tradewind.cli import make_app, output
from tradewind.machine import machine_names

SMALL = ["--set", "topology.shape=[4, 4, 4]", "--set", "topology.nodes_per_switch=1"]


@pytest.fixture
def tradewind(capsys):
    """Runs a command line in this process: (exit code, standard output, standard error)."""

    def run(*arguments):
        code = output.run(make_app(), list(arguments))
        return code, *capsys.readouterr()

    return run


def simulate(tradewind, *arguments):
    code, out, err = tradewind("simulate", *arguments, "--json")
    assert code == 0, (out, err)
    return json.loads(out)


ALLREDUCE = ["allreduce", "--ranks", "8", "--machine", "torus-M", *SMALL]


def test_one_simulation_is_one_object(tradewind):
    result = simulate(tradewind, *ALLREDUCE, "--count", "4", "--times", "5", "--algorithm", "recursive-2")
    assert result["time_s"] > 0
    assert result["messages"] == 5 * 3 * 8
    assert result["bytes"] == 5 * 3 * 8 * 32
    assert result["algorithm"] == "recursive-2"
    assert result["machine"] == "torus-M"
    assert result["ranks"] == 8
    keys = {"packet_hops", "bound_s", "imbalance", "packet_bytes", "buffers", "routing", "seed", "wall_s"}
    assert keys | {"peak_rss_bytes", "step_time_s", "delay"} <= result.keys()


def test_equal_repetitions_are_skipped_unless_all_are_wanted(tradewind):
    request = [*ALLREDUCE, "--count", "4", "--times", "50", "--algorithm", "recursive-2"]
    some, full = simulate(tradewind, *request), simulate(tradewind, *request, "--full")
    assert some["steps_skipped"] > 0
    assert some["steps_simulated"] + some["steps_skipped"] == full["steps_simulated"] == 50
    assert full["no_skip"] == "all steps were asked for"
    same = ("time_s", "step_time_s", "messages", "bytes", "packet_hops", "bound_s", "imbalance", "delay")
    assert [some[key] for key in same] == [full[key] for key in same]
    assert f"{some['steps_skipped']} skipped" in tradewind("simulate", *request)[1]


def test_lists_are_computed_by_a_list(tradewind):
    results = simulate(tradewind, *ALLREDUCE, "--algorithm", "recursive-2,ring")
    assert [result["algorithm"] for result in results] == ["recursive-2", "ring"]
    results = simulate(tradewind, *ALLREDUCE[:-4], "--routing", "all", *SMALL)
    assert [result["routing"] for result in results] == ["dimension-order", "valiant", "ugal"]
    dragonfly = ["--machine", "dragonfly-MM", "--set", "topology.rows=2", "--set", "topology.columns=2"]
    results = simulate(tradewind, "allreduce", "--ranks", "30", *dragonfly, "--routing", "all")
    every = ["minimal", "valiant", "valiant-router", "ugal", "ugal-sst71", "par"]
    assert [result["routing"] for result in results] == every


@pytest.mark.slow  # there are large ones
def test_all_machines(tradewind):
    results = simulate(tradewind, "allreduce", "--ranks", "4", "--machine", "all")
    assert [result["machine"] for result in results] == machine_names()


@pytest.mark.parametrize("pattern", ["transpose", "halo", "allreduce"])
def test_all_algorithms(tradewind, pattern):
    grid = [] if pattern == "allreduce" else ["--grid", "16x16x16", "--split", "8x1"]
    slab = ["--slab", "xz"] if pattern == "transpose" else []
    results = simulate(
        tradewind, pattern, "--ranks", "8", "--machine", "torus-M", *SMALL, *grid, *slab, "--algorithm", "all"
    )
    assert len({result["algorithm"] for result in results}) == len(results) >= 2


def test_loggp_and_pattern_options(tradewind):
    halo = ["halo", "--ranks", "8", "--machine", "torus-M", *SMALL, "--grid", "32x16x4", "--split", "4x2"]
    packet = simulate(tradewind, *halo, "--width", "2", "--periodic", "xy")
    loggp = simulate(tradewind, *halo, "--width", "2", "--periodic", "xy", "--model", "loggp")
    assert loggp["model"] == "loggp"
    assert loggp["messages"] == packet["messages"]
    assert "packet_hops" not in loggp
    wide = simulate(tradewind, *halo, "--width", "4", "--fields", "3", "--dtype", "f4")
    assert wide["bytes"] > packet["bytes"]


def test_settings_and_placement_change_the_result(tradewind):
    base = simulate(tradewind, *ALLREDUCE)
    slow = simulate(tradewind, *ALLREDUCE, "--set", "link.latency=1us")
    far = simulate(tradewind, *ALLREDUCE, "--placement", "random", "--seed", "3")
    near = simulate(tradewind, *ALLREDUCE, "--ranks-per-node", "8")
    assert near["time_s"] < base["time_s"] < far["time_s"] < slow["time_s"]
    again = simulate(tradewind, *ALLREDUCE, "--placement", "random", "--seed", "3", "--threads", "2")
    assert again["time_s"] == far["time_s"]


def test_pictures_of_congestion(tradewind, tmp_path):
    folder = tmp_path / "new" / "pictures"
    result = simulate(tradewind, *ALLREDUCE, "--congestion", str(folder))
    assert result["pictures"] == [str(folder / name) for name in ("links.svg", "ranks.svg", "time.svg", "links.html")]
    assert sorted(path.name for path in folder.iterdir()) == ["links.html", "links.svg", "ranks.svg", "time.svg"]
    assert sum(result["delay_over_time"]["packets"]) == 8 * 3
    code, out, _ = tradewind("simulate", *ALLREDUCE, "--congestion", str(folder))
    assert code == 0
    assert f"picture: {folder / 'time.svg'}" in out.splitlines()


@pytest.mark.slow
def test_pictures_of_several_simulations_have_folders(tradewind, tmp_path):
    listed = simulate(tradewind, *ALLREDUCE, "--algorithm", "ring,recursive-2", "--congestion", str(tmp_path))
    for one, name in zip(listed, ("ring", "recursive-2"), strict=True):
        assert one["pictures"][0] == str(tmp_path / f"torus-M-dimension-order-{name}" / "links.svg")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--congestion", "FILE"], "this is a file"),
        (["--model", "loggp", "--congestion", "new"], "only the packet model"),
    ],
)
def test_pictures_that_cannot_be_are_refused(tradewind, tmp_path, options, words):
    (tmp_path / "file").write_text("")
    code, out, err = tradewind("simulate", *ALLREDUCE, *(o.replace("FILE", str(tmp_path / "file")) for o in options))
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("more", [["--threads", "2"], *slow(["--processes", "2"])])
def test_time_lines(tradewind, tmp_path, more):
    if more[0] == "--processes":
        pytest.importorskip("mpi4py.MPI")
    for name, options in (("one", []), ("other", more)):
        result = simulate(
            tradewind, *ALLREDUCE, "--timeline", str(tmp_path / name), "--timeline-ranks", "0:3,7", *options
        )
        assert result["timeline"] == str(tmp_path / name)
    one, other = (path.read_bytes() for path in tmp_path.iterdir())
    assert b"rank 7" in one
    assert one.count(b"\x03CPU") == 4
    assert other == one
    code, out, _ = tradewind("simulate", *ALLREDUCE, "--timeline", str(tmp_path / "line.svg"))
    assert code == 0
    assert f"time line: {tmp_path / 'line.svg'}" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--timeline", "{}"], "this is a folder"),
        (["--timeline", "{}/no/line"], "there is no folder"),
        (["--timeline", "{}/line", "--timeline-ranks", "0:9"], "0:8 are there"),
        (["--timeline-ranks", "0:8"], "ranks '0:8' of a time line: name its file, too"),
        (["--timeline", "{}/line", "--model", "loggp"], "only the packet model knows what ranks do when"),
        (["--timeline", "{}/line", "--algorithm", "ring,recursive-2"], "one simulation is allowed, not a list of 2"),
    ],
)
def test_time_lines_that_cannot_be_are_refused(tradewind, tmp_path, options, words):
    code, out, err = tradewind("simulate", *ALLREDUCE, *(option.format(tmp_path) for option in options))
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_whole_on_a_narrow_terminal(tradewind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = tradewind("simulate", "allreduce", "--ranks", "300", "--machine", "dragonfly-MM,torus-M")
    assert code == 0
    assert "…" not in out


def test_for_a_reader(tradewind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = tradewind("simulate", *ALLREDUCE)
    assert code == 0
    for word in ("allreduce on 8 ranks", "torus-M", "dimension-order", "bottleneck: ", "by step"):
        assert word in out
    assert "messages" in err, "the forecast"


def test_coarse_packets_are_warned_of(tradewind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    long = [*ALLREDUCE, "--count", "131072", "--algorithm", "rabenseifner"]
    for more in ([], ["--packet", "16KiB"], ["--packet", "64KiB", "--buffers", "unbounded"]):
        code, _, err = tradewind("simulate", *long, *more)
        assert code == 0
        assert "warning" not in err
    code, out, err = tradewind("simulate", *long, "--packet", "64KiB")
    assert code == 0
    text = "warning: packets of 64 KiB can mislead where buffers of 64 KiB hold fewer than 4: use --packet 16KiB"
    assert err.splitlines()[1:] == [text]
    assert "packets of 64 KiB; finite buffers" in out
    code, out, err = tradewind("simulate", *long, "--packet", "64KiB", "--json")
    assert json.loads(out)["packet_bytes"] == 65536
    assert err.splitlines() == [text], "nothing but the warning, and not in the result"


BAD = {
    "unknown pattern": (["alltoall", "--ranks", "4", "--machine", "torus-M"], "unknown pattern 'alltoall'"),
    "no machine": (["allreduce", "--ranks", "4"], "--machine"),
    "no ranks": (["allreduce", "--machine", "torus-M"], "--ranks"),
    "ranks that are no number": (["allreduce", "--ranks", "x", "--machine", "torus-M"], "--ranks"),
    "unknown option": ([*ALLREDUCE, "--algoritm", "ring"], "--algoritm"),
    "unknown machine": (["allreduce", "--ranks", "4", "--machine", "torus-N"], "did you mean 'torus-M'"),
    "no such file": (["allreduce", "--ranks", "4", "--machine", "none.toml"], "cannot read none.toml"),
    "unknown routing": ([*ALLREDUCE, "--routing", "d-mod-k"], "dimension-order"),
    "unknown algorithm": ([*ALLREDUCE, "--algorithm", "rnig"], "did you mean 'ring'"),
    "a radix too large": ([*ALLREDUCE, "--algorithm", "recursive-99"], "recursive"),
    "an empty place in a list": ([*ALLREDUCE, "--algorithm", "ring,"], "unknown allreduce algorithm ''"),
    "too many ranks": (["allreduce", "--ranks", "65", "--machine", "torus-M", *SMALL], "the machine has 64"),
    "more ranks than can be counted": (["allreduce", "--ranks", "9999999999", "--machine", "torus-M"], "2147483647"),
    "no ranks at all": (["allreduce", "--ranks", "0", "--machine", "torus-M"], "ranks 0"),
    "a packet without unit": ([*ALLREDUCE, "--packet", "4096"], "has no unit"),
    "no latency": ([*ALLREDUCE, "--set", "link.latency=0s"], "'loggp'"),
    "a setting without value": ([*ALLREDUCE, "--set", "link.latency"], "KEY=VALUE"),
    "an unknown setting": ([*ALLREDUCE, "--set", "link.latncy=1ns"], "did you mean 'latency'"),
    "a wrong unit": ([*ALLREDUCE, "--set", "link.latency=1GB"], "not a unit of a time"),
    "no grid": (["halo", "--ranks", "4", "--machine", "torus-M"], "needs a grid"),
    "an invalid grid": (["halo", "--ranks", "4", "--machine", "torus-M", "--grid", "8x8"], "3 whole numbers"),
    "a split of others": (
        ["halo", "--ranks", "4", "--machine", "torus-M", "--grid", "8x8x8", "--split", "3x2"],
        "6 is not 4",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_words(tradewind, case):
    arguments, words = BAD[case]
    code, out, err = tradewind("simulate", *arguments, "--json")
    assert code == 2
    assert json.loads(out).keys() == {"error"}
    assert words in json.loads(out)["error"]
    code, out, err = tradewind("simulate", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert "Traceback" not in err


def test_several_bad_options_are_named_at_once(tradewind):
    code, out, _ = tradewind(
        "simulate", *ALLREDUCE, "--model", "paket", "--placement", "x", "--packet", "7", "--threads", "0", "--json"
    )
    assert code == 2
    error = json.loads(out)["error"]
    for words in ("paket", "placement", "'7' has no unit", "threads 0"):
        assert words in error
    code, out, _ = tradewind("simulate", "halo", "--ranks", "0", "--machine", "torus-M", "--width", "-1", "--json")
    error = json.loads(out)["error"]
    assert code == 2
    for words in ("ranks 0", "width -1", "needs a grid"):
        assert words in error


def test_nothing_is_simulated_where_one_of_a_list_is_bad(tradewind):
    code, out, _ = tradewind("simulate", *ALLREDUCE, "--algorithm", "ring,recursive-99", "--json")
    assert code == 2
    assert list(json.loads(out)) == ["error"]


def test_memory_is_refused_unless_forced(tradewind, monkeypatch):
    class Memory:
        available = total = 10.0

    monkeypatch.setattr("psutil.virtual_memory", Memory)
    code, out, _ = tradewind("simulate", *ALLREDUCE, "--json")
    assert code == 2
    assert "of memory" in json.loads(out)["error"]
    code, _, _ = tradewind("simulate", *ALLREDUCE, "--json", "--force")
    assert code == 0


def test_a_machine_file_of_ones_own(tradewind, tmp_path):
    from tradewind.machine import machine_folder

    text = (machine_folder() / "torus-M.toml").read_text()
    good, bad = tmp_path / "mine.toml", tmp_path / "bad.toml"
    good.write_text(text.replace("shape = [25, 25, 25]", "shape = [3, 3]"))
    bad.write_text(text.replace("shape = [25, 25, 25]", "shape = [3, 0]").replace('"100ns"', '"100"', 1))
    result = simulate(tradewind, "allreduce", "--ranks", "9", "--machine", f"{good},torus-M")
    assert [r["machine"] for r in result] == ["mine", "torus-M"]
    code, out, _ = tradewind("simulate", "allreduce", "--ranks", "9", "--machine", str(bad), "--json")
    error = json.loads(out)["error"]
    assert code == 2
    assert f"{bad}:9: topology.shape.1" in error
    assert "'100' has no unit" in error
