"""Tuning files: what is written is read back, and every error has its line."""

from __future__ import annotations

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
METHOD = Method("sweep", "shared", "direct")
STRAIGHT = Method("direct", "shared", "direct")
RING = Method("ring", "shared", "direct")


def entry(pattern=HALO, host=HERE, method=METHOD, memory="private", **figures):
    request = tuning.request_of(pattern, "f4", 3, memory)
    return tuning.entry_of(request, host, method, FIGURES | figures, oversubscribed=True)


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "t.toml"
    swap = _core.Transpose(BLOCKS, _core.Blocks(_core.Grid(60, 40, 5), (4, 1), "zy"))
    written = [entry(), entry(SUM, method=RING), entry(swap, method=Method("native"), default_s=3e-5)]
    tuning.merge(path, written)
    assert tuning.read(path) == written
    assert written[0].request == {
        "pattern": "halo",
        "ranks": 4,
        "grid": (60, 40, 5),
        "split": (2, 2),
        "width": 2,
        "periodic": "y",
        "fields": 3,
        "dtype": "f4",
        "memory": "private",
    }
    assert (written[2].from_split, written[2].to_split, written[2].to_axes) == ((2, 2), (4, 1), "zy")


def test_periods_of_a_halo():
    for x in (True, False):
        for y in (True, False):
            request = tuning.request_of(_core.Halo(BLOCKS, 2, [x, y]), "f8", 1)
            assert request["periodic"] == "x" * x + "y" * y


def test_a_new_run_replaces_its_own_entries(tmp_path):
    path = tmp_path / "t.toml"
    elsewhere = entry(host=replace(HERE, mpi="an MPI 2.0"))
    other = entry(SUM, method=RING)  # made once: an entry has the second in which it was made
    tuning.merge(path, [entry(), elsewhere, other])
    again = entry(host=replace(HERE, host="node2"), method=Method("direct", "shared", "buffer"))
    tuning.merge(path, [again])
    assert tuning.read(path) == [elsewhere, other, again]
    assert [file.name for file in tmp_path.iterdir()] == ["t.toml"]


def test_entries_about_shared_and_private_arrays(tmp_path):
    path = tmp_path / "t.toml"
    private, shared = entry(), entry(method=STRAIGHT, memory="shared")
    tuning.merge(path, [private, shared])
    assert tuning.read(path) == [private, shared]  # neither replaces the other
    assert tuning.find([private, shared], private.request, HERE) == (private, [])
    assert tuning.find([private, shared], shared.request, HERE) == (shared, [])
    assert tuning.find([private], shared.request, HERE) == (private, [])
    assert tuning.find([shared], private.request, HERE) is None


def test_files_without_memory_are_about_private_arrays(tmp_path):
    path = tmp_path / "t.toml"
    tuning.merge(path, [entry()])
    text = path.read_text(encoding="utf-8")
    assert 'memory = "private"\n' in text
    path.write_text(text.replace('memory = "private"\n', ""), encoding="utf-8")
    assert tuning.read(path) == [entry()]


def test_a_failed_write_leaves_the_file(tmp_path, monkeypatch):
    path = tmp_path / "t.toml"
    tuning.merge(path, [entry()])
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*t\.toml: No space left on device"):
        tuning.merge(path, [entry(SUM, method=RING)])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["t.toml"]


def lines_of(text: str) -> str:
    head = "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("#"))
    return head.lstrip("\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("width = 2", "width = -1", "t.toml:5: entry 1: width = -1: input should be greater than or equal to 0"),
        ("width = 2", "", "t.toml:1: entry 1: key 'width' is missing"),
        ("width = 2", "count = 2\nwidth = 2", "t.toml:5: entry 1: unknown key 'count'; did you mean"),
        ('pattern = "halo"', "", "t.toml:1: entry 1: key 'pattern' is missing"),
        ('"halo"', '"hallo"', "t.toml:2: entry 1: unknown pattern 'hallo'; did you mean 'halo'"),
        ('"sweep"', '"swep"', "t.toml:1: entry 1: unknown halo algorithm 'swep'; did you mean 'sweep'"),
        ('"shared"', '"shard"', "t.toml:1: entry 1: unknown transport 'shard'; did you mean 'shared'"),
        ('"sweep"', '"native"', "t.toml:1: entry 1: transport and packing belong to every algorithm but native"),
        ('transport = "shared"', "", "t.toml:1: entry 1: transport and packing belong to every algorithm but"),
        ('"private"', '"window"', "t.toml:.*: entry 1: memory = 'window': input should be 'private' or 'shared'"),
        ("median_s = 2.5e-05", "median_s = nan", "t.toml:19: entry 1: median_s = nan: input should be"),
        ("median_s = 2.5e-05", 'median_s = "1us"', "t.toml:19: entry 1: median_s = '1us': input should be"),
        ("oversubscribed = true", 'date = "then"', "not TOML: Cannot overwrite a value"),
        ("[[entry]]", "[entry]", "t.toml:1: entry = .*: input should be a valid list"),
        ("[[entry]]", "more = 1\n[[entry]]", "t.toml:1: unknown key 'more'"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    path = tmp_path / "t.toml"
    tuning.merge(path, [entry()])
    text = lines_of(path.read_text(encoding="utf-8"))
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        tuning.read(path)
    with pytest.raises(InputError, match=message):
        tuning.merge(path, [entry(SUM, method=RING)])


def test_ways_of_a_halo():
    found, refused = methods(HALO)
    assert found[0] == Method("sweep", "isend-irecv", "buffer")
    pairs = sum(len(each.packings) for each in _core.transports())
    one_stage = sum(len(each.packings) for each in _core.transports() if each.one_stage)
    assert {method.algorithm for method in found} == {"sweep", "direct", "two-level-2", "leaders-2"}
    assert len(found) == 4 * pairs - 3 * one_stage  # direct alone has one stage
    assert len(set(found)) == len(found)
    assert dict(refused)[Method("native")].endswith("none for halo")
    assert "goes with buffer, direct" in dict(refused)[Method("sweep", "shared", "datatype")]
    assert len(found) + len(refused) == 4 * len(_core.transports()) * len(_core.packings()) + 1


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
