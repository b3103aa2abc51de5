"""Tuning files as Python writes them: the core, which reads and checks them, is tested in tests/algorithm."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.method import tuning
from tradewind.method.host import Host
from tradewind.method.method import Method, algorithm_names, methods

BLOCKS = _core.Blocks(_core.Grid(60, 40, 5), (2, 2))
HALO = _core.Halo(BLOCKS, 2, [False, True])
SUM = _core.AllReduce(4, 7)
HERE = Host("node1", 'a "fast" processor, 3 µm', "an MPI 1.0", 4)
FIGURES = {"median_s": 2.5e-05, "min_s": 1e-05, "default_s": None, "trials": 20}


def entry(pattern=HALO, host=HERE, method="sweep,shared,direct", memory="private"):
    request = tuning.request_of(pattern, "f4", 3, memory)
    return tuning.entry_text(request, host, Method.parse(method), FIGURES, oversubscribed=True)


def entries(path):
    """The entries as another program reads them."""
    return tomllib.loads(path.read_text(encoding="utf-8"))["entry"]


def test_what_is_written_is_toml_and_the_core_reads_it(tmp_path):
    path = tmp_path / "t.toml"
    swap = _core.Transpose(BLOCKS, _core.Blocks(_core.Grid(60, 40, 5), (4, 1), "zy"))
    tuning.merge(path, [entry(), entry(SUM, method="ring,shared,direct"), entry(swap, method="native")])
    halo, total, native = entries(path)
    assert {key: value for key, value in halo.items() if key not in ("date", "tradewind")} == {
        "pattern": "halo",
        "grid": [60, 40, 5],
        "split": [2, 2],
        "width": 2,
        "periodic": "y",
        "ranks": 4,
        "fields": 3,
        "dtype": "f4",
        "memory": "private",
        "host": "node1",
        "cpu": 'a "fast" processor, 3 µm',
        "mpi": "an MPI 1.0",
        "ranks_per_node": 4,
        "oversubscribed": True,
        "algorithm": "sweep",
        "transport": "shared",
        "packing": "direct",
        "median_s": 2.5e-05,
        "min_s": 1e-05,
        "trials": 20,
    }
    assert (total["algorithm"], total["count"]) == ("ring", 7)
    assert native["algorithm"] == "native"
    assert "transport" not in native
    tuning.check(path)


def test_a_new_run_replaces_its_own_entries(tmp_path):
    path = tmp_path / "t.toml"
    elsewhere = entry(host=replace(HERE, mpi="an MPI 2.0"))
    shared = entry(memory="shared")
    tuning.merge(path, [entry(), elsewhere, shared])
    before = entries(path)
    tuning.merge(path, [entry(host=replace(HERE, host="node2"), method="direct,shared,buffer")])
    first, second, third = entries(path)
    assert [first, second] == before[1:]
    assert (third["host"], third["algorithm"]) == ("node2", "direct")
    assert [file.name for file in tmp_path.iterdir()] == ["t.toml"]


def test_a_failed_write_leaves_the_file(tmp_path, monkeypatch):
    path = tmp_path / "t.toml"
    tuning.merge(path, [entry()])
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*t\.toml: No space left on device"):
        tuning.merge(path, [entry(SUM, method="ring,shared,direct")])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["t.toml"]


def test_the_refusal_of_the_core_is_passed_on(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(entry().replace("width = 2", "width = -1"))
    for act in (lambda: tuning.check(path), lambda: tuning.merge(path, [entry()])):
        with pytest.raises(InputError, match=r"t\.toml:6: entry 1: width = -1: a whole number of 0 or more is allowed"):
            act()


def test_methods_of_a_halo():
    found, refused = methods(HALO)
    assert found[0] == Method("sweep", "isend-irecv", "buffer")
    carriers = [each for each in _core.transports() if not each.on_devices]
    pairs = sum(len(each.packings) for each in carriers)
    one_stage = sum(len(each.packings) for each in carriers if each.one_stage)
    assert {method.algorithm for method in found} == {"sweep", "direct", "two-level-2", "leaders-2"}
    assert len(found) == 4 * pairs - 3 * one_stage  # direct alone has one stage
    assert len(set(found)) == len(found)
    assert dict(refused)[Method("native")].endswith("none for halo")
    assert "goes with buffer, direct" in dict(refused)[Method("sweep", "shared", "datatype")]
    assert len(found) + len(refused) == 4 * len(carriers) * len(_core.packings()) + 1


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (
            ["shared"],
            [],
            {f"{a},shared,{p}" for a in ("sweep", "direct", "two-level-2", "leaders-2") for p in ("buffer", "direct")},
        ),
        (["sweep,put-*,buffer"], [], {"sweep,put-fence,buffer", "sweep,put-notify,buffer"}),
        (
            ["sweep,,buffer"],
            ["*-fence", ",*send*,", "even-odd"],
            {f"sweep,{t},buffer" for t in ("persistent", "put-notify", "shared")},
        ),
        (["sweep,isend-irecv"], [",,d*"], {"sweep,isend-irecv,buffer"}),
    ],
)
def test_include_and_exclude(include, exclude, expected):
    found, _ = methods(HALO, include, exclude)
    assert {str(method) for method in found} == expected


def test_a_radix_that_is_named_is_tried():
    many = _core.AllReduce(12, 7)
    assert "recursive-5" not in set(algorithm_names([many]))
    found, _ = methods(many, ["recursive-5,persistent", "native"])
    assert {str(method) for method in found} == {
        "recursive-5,persistent," + p for p in ("buffer", "datatype", "direct")
    } | {"native,,"}


@pytest.mark.parametrize(
    ("include", "exclude", "message"),
    [
        (["shard"], [], "include 'shard' matches no method: unknown name 'shard'; did you mean 'shared'"),
        ([], ["sweep,isend-irecv,bufer"], "exclude .* matches no method: unknown name 'bufer'; did you mean 'buffer'"),
        (["a,b,c,d"], [], "include 'a,b,c,d': ALGORITHM,TRANSPORT,PACKING are allowed"),
        ([], ["*"], "no method for this halo is left"),
        (
            ["native"],
            [],
            "no method .* left\nalgorithm 'native': MPI has one for transpose and allreduce, none for halo",
        ),
        (["sweep,alltoallw"], [], "carries a schedule of one stage, and sweep has 2"),
    ],
)
def test_nothing_to_try(include, exclude, message):
    with pytest.raises(InputError, match=message):
        methods(HALO, include, exclude)
