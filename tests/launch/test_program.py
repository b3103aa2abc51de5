"""Programs on real ranks: expected results, the counts that are proved and simulated, and the exchange that hangs."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from slow_tests import slow

import tradewind as tw

pytest.importorskip("mpi4py.MPI")

from tradewind.dwarfs.frame.recorder import Recorder
from tradewind.launch.job import find_launcher
from tradewind.launch.program import ProgramRun, bench_program, replay
from tradewind.workload.program import Compute, Poke, Start, Wait, WholeExchange

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("name", "ranks"), [("step.toml", 2), *slow(("servers.toml", 8), ("coupled.toml", 6))])
def test_what_runs_is_what_is_proved_and_simulated(name, ranks):
    path = EXAMPLES / name
    result = bench_program(path, ranks, repeat=2, warmup=1, timeout_s=240)
    program = tw.load_program(path)
    proved, simulated = tw.verify(program), tw.simulate(program, "dragonfly-MM")
    for key in ("stages", "messages", "bytes"):
        assert result[key] == proved[key] == simulated[key]
    assert list(result["steps"]) == list(simulated["step_end_s"])
    assert {row["name"]: row["messages"] for row in result["exchanges"]} == {
        row["name"]: row["messages"] * row["times"] for row in proved["exchanges"]
    }
    assert result["checked"]
    assert len(result["samples_s"]) == 2
    assert result["median_s"] >= result["min_s"] > (3 * 520e-6 if name == "step.toml" else 600e-6)


@pytest.mark.parametrize("transport", ["put-notify", *slow("persistent", "even-odd", "put-fence", "shared")])
def test_every_transport_runs_programs(transport, tmp_path):
    file = tmp_path / "p.toml"
    text = (EXAMPLES / "step.toml").read_text()
    file.write_text(text.replace("halo = 2\n", f'halo = 2\ntransport = "{transport}"\n'))
    result = bench_program(file, 2, repeat=1, warmup=0, watchdog_s=60, timeout_s=240)
    rows = {row["name"]: row for row in result["exchanges"]}
    assert rows["winds"]["transport"] == transport
    assert rows["winds"]["goes_on_at_pokes"] == (transport in ("persistent", "put-notify"))


def test_operations_of_a_program_are_those_of_a_strategy():
    """A recorder that is given them writes the same program down."""
    both = tw.Exchanged("both", tw.AllReduce(ranks=2, count=8).schedule("ring"))
    physics = Compute("physics", flops=3.0)
    steps = [
        both.start(),
        physics,
        Poke(),
        both.wait(),
        WholeExchange(both, repeat=2),
        WholeExchange(both, compute=physics),
    ]
    request = SimpleNamespace(kind="a file", strategy="replayed", precision="f8", numbered=False)
    request.exchange_name = lambda name, of: name
    request.exchanged, request.computation = lambda name: both, lambda label, calls: calls[0].arguments[0]
    recorder = Recorder(request)
    for step in steps[:-1]:
        replay(step, recorder)
    found = recorder.program().groups[0].steps
    assert [type(step) for step in found] == [Start, Compute, Poke, Wait, WholeExchange, WholeExchange]
    assert found[1] is physics
    again = Recorder(request)
    replay(steps[-1], again)
    assert [each.kind for each in again._operations] == ["start", "compute", "wait"]


CROSSED = """
grid = "8x6x4"
[[exchange]]
name = "first"
allreduce = 10
[[exchange]]
name = "second"
allreduce = 10
[[group]]
name = "a"
ranks = 1
[[group.step]]
exchange = "first"
[[group.step]]
exchange = "second"
[[group]]
name = "b"
ranks = 1
[[group.step]]
exchange = "second"
[[group.step]]
exchange = "first"
"""


def test_the_watchdog_names_the_exchange_that_hangs(tmp_path):
    file = tmp_path / "crossed.toml"
    file.write_text(CROSSED)
    with pytest.raises(tw.VerificationError, match="deadlock across exchanges"):
        tw.verify(tw.load_program(file))
    with pytest.raises(tw.PlanError, match=r"exchange '(first|second)': rank .*receiving from rank"):
        bench_program(file, 2, repeat=1, watchdog_s=1, timeout_s=240)


@pytest.mark.slow
def test_a_command_under_the_launcher_says_what_hangs(tmp_path):
    """All ranks wait in vain: there is no rank with an error that the others follow from."""
    file = tmp_path / "crossed.toml"
    file.write_text(CROSSED)
    command = [*find_launcher().arguments(2), sys.executable, "-m", "tradewind", "bench", "program", str(file)]
    done = subprocess.run(
        [*command, "--watchdog", "4"], env=dict(os.environ), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode != 0
    assert re.search(r"error: exchange '\w+': rank .*: after 4 s still waiting for", " ".join(done.stderr.split()))


def test_other_ranks_than_the_file_has_are_refused():
    with pytest.raises(tw.InputError, match="the program has 2 ranks, and 3 are asked for"):
        bench_program(EXAMPLES / "step.toml", 3)


@pytest.mark.parametrize("operation", ["sum", "min", "max", "prod"])
def test_a_wrong_number_is_found(operation):
    from mpi4py import MPI

    text = f'''ranks = 1
grid = "8x6x4"
[[step]]
allreduce = 5
dtype = "i4"
operation = "{operation}"
[[step]]
halo = 1
periodic = "xy"
'''
    running = ProgramRun(tw.load_program("p.toml", text), MPI.COMM_SELF)
    running.check()
    for name, bound in running.bound.items():
        bound.refill()
        bound.call()
        assert bound.wrong() == ""
        bound.sources[0].flat[3] += 1
        assert f"exchange {name!r}, field 0: 1 of {bound.sources[0].size} elements differ" in bound.wrong()
