"""A form of files is one class and a row: a toy one is added from outside, and plans, writers and checks take it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from output_plans import Q, T, record

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.manifest import Manifest, read_manifest
from tradewind.fieldserver.files.output_folder import remove_run
from tradewind.fieldserver.plan import forms
from tradewind.fieldserver.plan.plan_file import OutputPlan, load_plan
from tradewind.fieldserver.plan.space import check_space, run_bytes
from tradewind.fieldserver.server.writer import Block, Job, Writer

TOY = '''
from tradewind.fieldserver.files.sinks.form import Form, PartFile, Written


class Text(Form):
    """Values as text."""

    title, package = "Text", "numpy"
    keys = frozenset({"compression"})
    whole_seconds = grows_in_memory = True

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lines = []

    def prepare(self, record, request):
        return [f"{record.field.name} {value:.3f}" for value in record.values.ravel()]

    def append(self, record, request, prepared):
        self.lines += prepared

    def finish(self):
        part = PartFile(self.folder, self.path, durable=self.durable)
        part.write("\\n".join(self.lines).encode())
        part.finish()
        return [Written(self.path, part.bytes, part.whole_sum())]

    def abort(self):
        self.lines.clear()
'''
ROW = "toy_sink:Text"
PLAN = """
folder = "{folder}"
step = "360s"
durable = false
[[sink]]
name = "a"
format = "text"
path = "{{step}}.txt"
[[rule]]
sink = "a"
"""


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_sink.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "toy_sink", raising=False)
    monkeypatch.setitem(forms.FORMS, "text", ROW)
    forms.form_named.cache_clear()


def toy_plan(folder: Path, *changes: str) -> OutputPlan:
    return load_plan("plan.toml", PLAN.replace(*changes or ("", "")).format(folder=folder))


def test_its_files_are_written_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    plan = toy_plan(folder)
    check_space(plan, [T, Q], 1)
    writer = Writer(plan, asynchronous=False)
    for field in (T, Q):
        writer.submit(Block([Job(record(field, 0), plan.requests(field.name, 0))]))
    writer.end_step(0)
    writer.close()
    assert list(writer.errors) == []
    lines = (folder / "0.txt").read_text().splitlines()
    assert lines[0] == f"t {record(T, 0).values[0, 0]:.3f}"
    assert len(lines) == record(T, 0).values.size + record(Q, 0).values.size
    assert [each["path"] for each in read_manifest(folder, 0)["files"]] == ["0.txt"]
    remove_run(folder, Manifest(folder, durable=False))
    assert not (folder / "0.txt").exists()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{{step}}.txt", "all.txt", "a text file is of one step: {step} is needed in its path"),
        ('"text"', '"text"\nbits = 8', "bits belongs to grib2, and not to text"),
        ('"360s"', '"0.5s"', "step 1 is at 0.5 s, and Text counts whole seconds"),
        ('"text"', '"grib2"\ncompression = 3', "compression belongs to netcdf and zarr and text; GRIB has packing"),
        ('"text"', '"test"', "unknown format 'test'; did you mean 'text'? (known: grib2, netcdf, zarr, text)"),
    ],
)
def test_a_plan_may_say_what_the_form_says(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        toy_plan(tmp_path, old, new)
    assert problem in str(refused.value)


def test_its_space_is_estimated(tmp_path: Path) -> None:
    plan, packed = (toy_plan(tmp_path, '"text"', f'"text"\ncompression = {level}') for level in (0, 3))
    values = record(T, 0).values
    assert run_bytes(plan, [T], 0) - run_bytes(packed, [T], 0) == values.nbytes / 2
    assert (plan.queue_parts, plan.slot_bytes) == (2, plan.table.queue // 2)


def test_the_checkup_writes_one() -> None:
    from tradewind.launch.checkup import _check_form

    found = _check_form("text")
    assert (found["ok"], found["value"].startswith("numpy ")) == (True, True)
    assert found["value"].endswith(f"; wrote {len('t 0.000') * 12 + 11 + 2} bytes")
