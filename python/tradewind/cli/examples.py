"""The example that the help of each command shows."""

from __future__ import annotations

_COMMANDS = {
    "study": "study figure-5a --quick --dry-run",
    "simulate": "simulate {kind} -n 512 --machine frontier",
    "simulate program": "simulate program step.toml --machine frontier",
    "simulate trace": "simulate trace run.trace --machine fugaku --ranks-per-node 4",
    "simulate model": "simulate model gcr-1300m --machine fugaku -n 1000,10000",
    "advise": "advise {kind} -n 64 --machine alps,lumi-c",
    "advise output": "advise output --plan plan.toml -n 8 --interval 3s",
    "verify": "verify {kind} -n 64",
    "verify program": "verify program step.toml",
    "advise trace": "advise trace run.trace --machine fugaku",
    "show trace": "show trace run.trace -o step.toml",
    "export trace": "export trace run.trace -o run.goal",
    "verify trace": "verify trace run.trace",
    "verify model": "verify model gcr-1300m -n 100",
    "show": "show {kind} -n 16 --rank 3",
    "bench": "bench {kind} -n 4 --transport all",
    "bench program": "bench program step.toml -n 4",
    "calibrate": "calibrate -n 4 -o here.toml",
    "tune": "tune {kind} -n 4 -o tuning.toml",
    "run": "run {kind} -n 4 --strategy all",
    "record": "record -o run.trace -- mpiexec -n 4 ./model",
    "serve": "serve plan.toml",
    "compare": "compare old.json new.json --threshold 5%",
    "export": "export results/quickstart -o rows.csv",
    "report": "report results/figure-5a --open",
    "list": "list machines",
    "config": "config --cflags --libs",
    "doctor": "doctor",
    "completion": "completion bash",
}
_KINDS = {
    "transpose": "--grid 64x64x64",
    "halo": "--grid 64x64x64",
    "fetch": "--grid 64x64x64",
    "allreduce": "--count 2",
    "recorded": "--messages m.json",
}
"""Options that the example of a command about a kind has, where the defaults of the kind do not do."""
_USUAL = {"pattern": "halo", "dwarf": "diffusion"}
"""The kind of the example where none is named."""


def example_of(command: str, kind: str | None = None, what: str | None = None) -> str:
    """Return the example of a command, about a kind if it is about one; `what`: pattern or dwarf."""
    text = _COMMANDS.get(command)
    if text is None:
        return ""
    named = kind or _USUAL.get(what or "", "")
    return " ".join(["tradewind", text.format(kind=named), _KINDS.get(named, "")]).rstrip()
