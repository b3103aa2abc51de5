"""The reference pages say what the program says."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from command_line import run_tradewind
from document_blocks import ROOT

import tradewind as tw
from tradewind.study.claims import wording
from tradewind.study.claims.quantity import QUANTITIES

REFERENCE = ROOT / "docs" / "reference"
REQUEST = {
    *("pattern", "ranks", "algorithm", "times", "fields", "dtype"),
    *("grid", "split", "slab", "mesh", "width", "periodic", "count", "stored"),
}
STUDY = """
title = "keys"
[[sweep]]
name = "a"
kind = "verify"
pattern = "allreduce"
ranks = [2, 4]
[[finding]]
figure = "1"
claim = "c"
falls = { sweep = "a" }
"""


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    """The text below a heading of the second level."""
    return re.split(r"^## ", text.split(f"\n## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_column(text: str) -> set[str]:
    """All code words in the first column of the tables."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row.split("|")[1])}


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    sys.path.insert(0, str(ROOT / "docs"))  # a program, and no package, beside what it imports
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name",
    ["command-line.md", "registry.md", "study-file.md", "python.md", "python-docstrings.md", "c-header.md", "table.md"],
)
def test_generated_tables_are_up_to_date(name: str, generate: ModuleType) -> None:
    assert page(name) == generate.filled(name), "run  python docs/generate.py"


def test_a_stale_table_is_seen(generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "registry.md").write_text(page("registry.md").replace("| `ring-k` |", "| `rong-k` |"), encoding="utf-8")
    monkeypatch.setattr(generate, "REFERENCE", tmp_path)
    assert generate.filled("registry.md") == page("registry.md")


def keys(value: Any, prefix: str = "") -> Iterator[str]:
    """The names of all values of a result: ``a``, ``b.c``, ``list[].d``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            nested = inner if isinstance(inner, dict) or (isinstance(inner, list) and inner[:1] and inner[0]) else None
            if isinstance(nested, dict):
                yield from keys(nested, f"{prefix}{key}.")
            elif isinstance(nested, list) and isinstance(nested[0], dict):
                for item in nested:
                    yield from keys(item, f"{prefix}{key}[].")
            else:
                yield prefix + key


def printed(arguments: str, folder: Path) -> Any:
    done = run_tradewind(*arguments.split(), "--json", folder=folder)
    assert done.code == 0, done.out + done.err
    return done.json


def check_keys(title: str, found: set[str]) -> None:
    documented = first_column(section(page("json.md"), title))
    assert {key for key in found if key not in REQUEST or key in documented} == documented


GRID = "--grid 24x20x4"


def test_keys_of_compare(tmp_path: Path) -> None:
    for name, machine in (("old", "torus-M"), ("new", "fattree-M")):
        result = printed(f"simulate halo --ranks 4 {GRID} --machine {machine}", tmp_path)
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
    found = set(keys(printed("compare new.json old.json --threshold 9900%", tmp_path)))
    found = {"differences" if key.startswith("differences.") else key for key in found}
    machines = printed("compare torus-M fattree-M --threshold 9900%", tmp_path)
    assert {"machine", "routing"} <= printed("compare new.json old.json", tmp_path)["differences"].keys()
    check_keys("compare", {*found, "cases[].labels", *keys(machines)})  # of a single case there is no label


def test_keys_of_verify(tmp_path: Path) -> None:
    check_keys("verify", set(keys(printed(f"verify transpose --ranks 4 {GRID}", tmp_path))))


def test_keys_of_requests(tmp_path: Path) -> None:
    intro = page("json.md").partition("## verify")[0]
    assert set(re.findall(r"`(\w+)`", intro.partition("begins with the request:")[2])) == REQUEST
    (tmp_path / "stored.json").write_text('{"ranks": 4, "stages": [[[0, 1, 8]]]}')
    for request in (f"fetch {GRID}", "fetch --messages stored.json"):
        check_keys("verify", set(keys(printed(f"verify {request} --ranks 4", tmp_path))))


def test_keys_of_lists(tmp_path: Path) -> None:
    from tradewind.cli.list import TABLES

    found = {key for name in TABLES for key in keys(printed(f"list {name}", tmp_path)[0])}
    text = section(page("json.md"), "list").partition(" rest on")[0]
    named = set(re.findall(r"`(\w+)`", text)) - {"cited", "estimated", "assumed", "other"}
    assert named == {key.partition(".")[0] for key in found}


def test_keys_of_show(tmp_path: Path) -> None:
    check_keys("show", set(keys(printed(f"show halo --ranks 4 {GRID}", tmp_path))))


COPIES = "--set mpi.unexpected_bandwidth=5GB/s"


def test_keys_of_simulate(tmp_path: Path) -> None:
    result = printed(f"simulate halo --ranks 4 {GRID} --times 8 --machine torus-M --timeline line {COPIES}", tmp_path)
    step_times = result.pop("step_time_s")
    assert list(step_times) == ["halo"]
    assert set(result.pop("settings")) == {"mpi.unexpected_bandwidth"}
    check_keys("simulate", {*keys(result), "step_time_s", "settings"})
    loggp = printed(f"simulate halo --ranks 4 {GRID} --machine torus-M --model loggp", tmp_path)
    starred = first_column(
        "\n".join(r for r in section(page("json.md"), "simulate").splitlines() if "| * " in r or "| * |" in r)
    )
    assert starred == set(keys(result)) - set(keys(loggp))


def test_keys_of_simulate_with_power(tmp_path: Path) -> None:
    result = printed(f"simulate halo --ranks 4 {GRID} --machine dgx-2", tmp_path)
    assert "no_energy" not in result
    check_keys("simulate, energy", {key for key in keys(result) if "energy" in key or "power" in key})


def test_keys_of_simulate_with_congestion(tmp_path: Path) -> None:
    settings = "--set topology.shape=[20,30,2] --set topology.nodes_per_switch=1 --machine torus-M --placement random"
    request = f"simulate halo --ranks 16 {GRID} {settings}"
    plain, more = (set(keys(printed(request + option, tmp_path))) for option in ("", " --congestion pictures"))
    assert plain < more
    assert first_column(section(page("json.md"), "simulate, with congestion")) - {"groups"} == more - plain


def test_keys_of_advise(tmp_path: Path) -> None:
    check_keys("advise", set(keys(printed("advise allreduce --ranks 30 --machine torus-M", tmp_path))))


RANKED = ("ratio", "ratio_range", "spread_s")
"""Keys that a comparison adds to the advice for each machine."""


def test_keys_of_advise_with_several_machines(tmp_path: Path) -> None:
    result = printed("advise allreduce --ranks 30 --machine torus-M,fattree-M,dgx-2", tmp_path)
    machines = result.pop("machines")
    check_keys("advise", {key for each in machines for key in keys(each)} - set(RANKED))
    check_keys("advise, with several machines", {*keys(result), "machines[]", *(f"machines[].{key}" for key in RANKED)})


@pytest.mark.slow
def test_keys_of_bench(tmp_path: Path) -> None:
    result = printed(f"bench transpose -n 2 {GRID} --repeat 1 --warmup 0", tmp_path)
    assert set(result.pop("exchange")) <= REQUEST
    check_keys("bench", {*keys(result), "exchange"})


@pytest.mark.slow
def test_keys_of_bench_over_sizes(tmp_path: Path) -> None:
    result = printed("bench allreduce -n 2 --sizes 8 --repeat 1 --warmup 0", tmp_path)
    (one,) = result.pop("sizes")
    text = section(page("json.md"), "bench, over sizes")
    shared = first_column(section(page("json.md"), "bench"))
    assert {key.partition(".")[0].removesuffix("[]") for key in shared} >= {*result, *one} - {
        "pattern",
        "message_bytes",
    }
    assert all(f"`{key}`" in text for key in {*result, *one} - {"message_bytes"})


@pytest.mark.slow
def test_keys_of_tune(tmp_path: Path) -> None:
    methods = "--include sweep,isend-irecv --include native --trials 1 --warmup 0"
    result = printed(f"tune halo -n 2 {GRID} {methods}", tmp_path)
    for table in result["tuned"]:
        assert table.pop("request")["pattern"] == "halo"
    check_keys("tune", {*keys(result), "tuned[].request"})


@pytest.mark.slow
def test_keys_of_calibrate(tmp_path: Path) -> None:
    methods = "--transport shared --packing buffer --largest 8KiB --repeat 1 --warmup 0 --no-kernels --force"
    found = set(keys(printed(f"calibrate -n 2 {methods}", tmp_path))) - {"kernels"}
    kernels = {f"kernels[].{key}" for key in ("name", "flops_per_s", "busy_flops_per_s")}
    check_keys("calibrate", found | kernels)
    result = printed(f"bench halo -n 2 {GRID} --transport shared --repeat 1 --warmup 0 --predict here.toml", tmp_path)
    found = {key for key in keys(result) if "predict" in key}
    assert found == first_column(section(page("json.md"), "bench, with predictions"))


@pytest.mark.slow
def test_keys_of_run(tmp_path: Path) -> None:
    result = printed(f"run diffusion -n 2 {GRID} --steps 2 --picture field.svg --chart parts.svg", tmp_path)
    on_device = printed(f"run diffusion -n 2 {GRID} --steps 2 --device simulated", tmp_path)
    documented = first_column(section(page("json.md"), "run"))
    assert {*keys(result), *keys(on_device)} == documented


@pytest.mark.slow
def test_keys_of_run_with_output(tmp_path: Path) -> None:
    sink = 'name = "a"\nformat = "netcdf"\npath = "{step}.nc"\n'
    (tmp_path / "plan.toml").write_text(f'durable = false\n[[sink]]\n{sink}[[rule]]\nsink = "a"\n')
    result = printed(f"run diffusion -n 1 {GRID} --steps 2 --output plan.toml --servers 1", tmp_path)["output"]
    for writer in result["writers"]:
        assert writer.pop("sinks")["a"].keys() == {"bytes", "files", "seconds"}
    found = {f"output.{key}" for key in keys(result) if key != "taken_over"} | {"output.writers[].sinks"}
    lost = {f"output.taken_over[].{key}" for key in ("server", "reason", "by")}
    assert first_column(section(page("json.md"), "run, with output")) == found | lost


@pytest.mark.slow
def test_keys_of_study_and_report(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text(STUDY)
    check_keys("study", set(keys(printed("study keys.toml", tmp_path))))
    check_keys("report", set(keys(printed("report results/keys", tmp_path))))


def test_keys_of_config(tmp_path: Path) -> None:
    check_keys("config", set(keys(printed("config", tmp_path))))


def test_keys_of_doctor(tmp_path: Path) -> None:
    check_keys("doctor", set(keys(printed("doctor", tmp_path))))


def test_keys_of_machine_files() -> None:
    from tradewind.machine import machine

    def fields(table: Any, prefix: str) -> Iterator[str]:
        for name, field in table.model_fields.items():
            inner = field.annotation
            if isinstance(inner, type) and issubclass(inner, machine.Table):
                yield from fields(inner, f"{prefix}{field.alias or name}.")
            elif name != "topology":
                yield prefix + (field.alias or name)

    parameters = {
        (kind, f"topology.{name}") for kind, table in machine.TOPOLOGIES.items() for name in table.model_fields
    }
    text = page("machine-file.md")
    assert first_column(section(text, "Keys")) == {*fields(machine.Machine, ""), "topology.kind"}
    rows = [
        tuple(cell.strip().strip("`") for cell in row.split("|")[1:3])
        for row in section(text, "Parameters of the topologies").splitlines()
        if row.startswith("| ")
    ]
    assert set(rows[2:]) == parameters - {(kind, "topology.kind") for kind in machine.TOPOLOGIES}


def test_keys_of_study_files() -> None:
    from tradewind.study.model import study
    from tradewind.study.model.output_model import OutputSweep
    from tradewind.study.model.program_model import ProgramStep, ProgramSweep
    from tradewind.study.model.trace_sweep import TraceSweep
    from tradewind.study.model.weather_model_sweep import WeatherModelSweep

    text = page("study-file.md")
    kinds = (study.VerifySweep, study.MeasureSweep, study.SimulateSweep, study.RunSweep, study.PublishedSweep)
    others = (ProgramSweep, ProgramStep, WeatherModelSweep, OutputSweep, TraceSweep)
    sweeps = {key for kind in (*kinds, *others) for key in kind.model_fields}
    assert first_column(section(text, "The study")) == set(study.Study.model_fields)
    assert first_column(section(text, "Sweeps")) == sweeps | {"like"}
    assert first_column(section(text, "Plots")) == set(study.Plot.model_fields)
    assert first_column(section(text, "Findings")) == set(study.Finding.model_fields)
    assert first_column(section(text, "Fitted")) == set(study.Fitted.model_fields)
    assert first_column(section(text, "Limits")) == {"wording", *get_args(study.Wording)}
    assert first_column(section(text, "Quantities")) == set(QUANTITIES) == set(get_args(study.QuantityName))


def test_words_of_sources_have_the_limits_of_the_reference() -> None:
    text = section(page("study-file.md"), "Limits")
    rows = re.findall(r"^\| `([a-z ]+)` \| ([\d.]+) \| ([\d.]*) ?\|", text, re.MULTILINE)
    limits = {word: (float(low), float(high or "inf")) for word, low, high in rows}
    assert limits.pop("about") == pytest.approx((1 - wording.ABOUT, 1 + wording.ABOUT))
    assert set(limits) == set(wording.WORDINGS)
    for word, (low, high) in wording.WORDINGS.items():
        assert limits[word] == pytest.approx((low, high), rel=1e-2), word


def signatures() -> dict[str, ast.Call]:
    """Yield the functions that the blocks of the Python page call, by name."""
    calls = re.findall(r"^```py\n(.*?)^```$", page("python.md"), re.DOTALL | re.MULTILINE)
    found = {}
    for text in calls:
        name, _, parameters = text.strip().partition("(")
        found[name] = ast.parse(f"def f({parameters}: ...").body[0]
    return found  # type: ignore[return-value]


def documented_parameters(function: Any) -> list[str]:
    arguments = function.args
    several = [arguments.vararg] if arguments.vararg else []
    named = [*arguments.posonlyargs, *arguments.args, *several, *arguments.kwonlyargs]
    return [a.arg for a in named] + ([arguments.kwarg.arg] if arguments.kwarg else [])


def actual_parameters(name: str) -> list[str]:
    import tradewind.dataset.comparison
    import tradewind.dwarfs.diffusion
    import tradewind.method.choice
    import tradewind.mpi
    import tradewind.timeline
    from tradewind import pattern

    places: dict[str, Any] = {"tw": tw, "tradewind": tradewind, "Pattern": pattern._Scheduled}
    first, *rest = name.split(".")
    thing = places[first]
    for part in rest:
        thing = getattr(thing, part)
    if isinstance(thing, type) and not inspect.isfunction(thing.__init__) and thing.__init__ is not object.__init__:
        return compiled_parameters(thing.__name__)
    found = inspect.signature(thing.__init__ if isinstance(thing, type) else thing).parameters
    return [parameter for parameter in found if parameter != "self"]


def compiled_parameters(name: str) -> list[str]:
    """Return the members of a class of the compiled core, by its stubs."""
    stubs = ast.parse((ROOT / "python" / "tradewind" / "_core.pyi").read_text(encoding="utf-8"))
    made = next(node for node in stubs.body if isinstance(node, ast.ClassDef) and node.name == name)
    init = next(node for node in made.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    return [argument.arg for argument in init.args.args if argument.arg != "self"]


@pytest.mark.parametrize("name", signatures())
def test_signature_is_as_documented(name: str) -> None:
    assert documented_parameters(signatures()[name]) == actual_parameters(name)


def test_everything_public_is_documented() -> None:
    text = page("python.md")
    missing = [name for name in tw.__all__ if f"tw.{name}" not in text]
    assert not missing


def test_every_study_that_comes_along_can_be_read() -> None:
    from tradewind.study.plan.load import load_study

    studies = sorted(
        path for path in (ROOT / "studies").rglob("*.toml") if path.parent.name not in ("machines", "models")
    )
    assert studies
    for path in studies:
        assert load_study(path).study.sweep


def test_the_map_names_every_folder_in_one_page() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1200
    core, package = text.split("```")[3].split("python/tradewind/ ")
    for part, folder in ((core, ROOT / "src"), (package, ROOT / "python" / "tradewind")):
        there = {path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
        assert set(re.findall(r"^  ([a-z_]+)/", part, re.MULTILINE)) == there


def test_links_of_the_map_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []
