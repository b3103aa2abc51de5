"""Machine files: what is read, what is refused, and that all problems are reported at once with their lines."""

import re

import pytest

from tradewind.base.errors import InputError
from tradewind.base.toml_lines import TomlFile
from tradewind.machine import load_machine, machine_folder, machine_names
from tradewind.machine.evidence import evidence_of

GOOD = """\
title = "mine"
routing = "minimal"

[topology]
kind = "dragonfly"
rows = 2
columns = 3
groups = 4
nodes_per_switch = 2
global_links = 2

[link]
bandwidth = "10GB/s"
latency = "100ns"

[nic]
injection_bandwidth = "10GB/s"
ejection_bandwidth = "10GB/s"
latency = "100ns"
send_overhead = "0ns"
receive_overhead = "0ns"

[node]
memory_bandwidth = "100GB/s"

[packet]
size = "4KiB"

[source]
topology = "chosen"
link = "chosen"
nic = "chosen"
node = "chosen"
packet = "chosen"
"""


@pytest.fixture
def written(tmp_path):
    """Writes the good file with some of its lines replaced, and returns its path."""

    def write(*replacements):
        text = GOOD
        for old, new in replacements:
            assert text.count(old) >= 1, old
            text = text.replace(old, new, 1)
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


def problems(path, settings=None):
    with pytest.raises(InputError) as error:
        load_machine(path, settings)
    return list(error.value.problems)


def line_of(path, text):
    return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def test_a_file_is_read(written):
    file = load_machine(written())
    assert file.name == "mine"
    assert file.machine.link.bandwidth == 10e9
    assert file.machine.nic.latency == pytest.approx(100e-9)
    assert file.machine.packet.size == 4096
    assert file.machine.build().routing == "minimal"
    assert file.machine.build("valiant").routing == "valiant"


def values_of(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from values_of(value, f"{prefix}{key}.")
        elif key != "kind":
            yield prefix + key


@pytest.mark.parametrize("name", machine_names())
def test_every_number_of_a_shipped_machine_is_cited_estimated_or_assumed(name):
    file = load_machine(name)
    data = TomlFile(machine_folder() / f"{name}.toml").data
    tables = {key: table for key, table in data.items() if isinstance(table, dict) and key != "source"}
    evidence = file.machine.evidence()
    assert sorted(evidence) == sorted(values_of(tables))
    assert set(evidence.values()) <= {"cited", "estimated", "assumed"}, evidence
    assert "cited" in {evidence[key] for key in evidence if key.startswith("topology.")} or name in NOT_CABLED
    cited = [text for text in file.machine.source.values() if evidence_of(text) == "cited"]
    assert not [text for text in cited if re.search(r"not published|taken as|as for", text)]
    assert file.machine.build().topology.nodes >= 8


# Systems whose operators say how many nodes they have, but not how these are joined.
NOT_CABLED = (
    "barbora", "beaufix", "escape-edr", "alps", "athena", "cirrus", "eiger", "marenostrum5", "perlmutter",
    "peta4-skylake", "tesseract",
)  # fmt: skip


def test_what_is_published_and_what_is_not():
    """Overheads of MPI are published of no system; what a vendor says of its links is."""
    for name in ("piz-daint", "beskow", "frontier", "fugaku", "barbora", "dgx-2"):
        evidence = load_machine(name).machine.evidence()
        assert evidence["nic.injection_bandwidth"] == "cited", name
        assert evidence["nic.send_overhead"] == "assumed", name
    assert load_machine("torus-M").machine.evidence() == {
        "topology.shape": "cited",
        "topology.nodes_per_switch": "cited",
    } | dict.fromkeys(
        (
            "link.bandwidth",
            "link.latency",
            "nic.injection_bandwidth",
            "nic.ejection_bandwidth",
            "nic.latency",
            "nic.send_overhead",
            "nic.receive_overhead",
            "node.memory_bandwidth",
            "packet.size",
        ),
        "assumed",
    )


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("Ajima et al. 2018: 6 network interfaces per node", "cited"),
        ("Table 1 of Zheng & Marguinaud (2018)", "cited"),
        ("https://docs.it4i.cz/barbora/network/", "cited"),
        ("doi:10.1109/CLUSTER.2018.00090", "cited"),
        ("arXiv:1903.04611, Figure 3", "cited"),
        ("Mellanox, SX6036 data sheet", "cited"),
        ("estimated: 100 ns per switch (Faanes et al. 2012)", "estimated"),
        ("assumed: as Faanes et al. 2012 give for another system", "assumed"),
        ("data sheet of the switches", "other"),
        ("STREAM on one node", "other"),
        ("chosen", "other"),
        ("measured on Alpha, 2026-11-22", "other"),
        ("Xeon at 2000 MHz, 2048 B per line", "other"),
    ],
)
def test_a_source_says_what_it_is(written, text, evidence):
    assert evidence_of(text) == evidence
    machine = load_machine(written(('nic = "chosen"', f'nic = "chosen"\n"nic.latency" = "{text}"'))).machine
    assert machine.evidence()["nic.latency"] == evidence
    assert machine.evidence()["nic.send_overhead"] == "other"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('link = ""', "source.link: the text is empty"),
        ('link = "  "', "source.link: the text is empty"),
        ('link = "assumed"', "write 'assumed: ' and why"),
        ('link = "assumed: "', "write 'assumed: ' and why"),
        ('link = "Assumed: as others"', "write 'assumed: ' and why"),
        ('link = "assumed to be as others"', "write 'assumed: ' and why"),
        ('link = "estimated from 100 ns (Faanes et al. 2012)"', "write 'estimated: ' and from what"),
        ('link = "estimated: about 100 ns"', "estimated from what?"),
        ('link = "chosen"\n"link.latncy" = "chosen"', "source.link.latncy: the file has no such value"),
        ('link = "chosen"\nswitch = "chosen"', "source.switch: the file has no such value"),
    ],
)
def test_sources_that_are_refused(written, entry, words):
    path = written(('link = "chosen"', entry))
    (found,) = problems(path)
    assert found.startswith(f"{path}:{line_of(path, entry.splitlines()[-1])}: "), found
    assert words in found


def test_every_mistake_is_named_with_its_line(written):
    path = written(
        ('bandwidth = "10GB/s"', 'bandwidht = "10GB/s"'),
        ('latency = "100ns"', 'latency = "100GB"'),
        ("groups = 4", "groups = 0"),
        ('size = "4KiB"', "size = 4096"),
        ('send_overhead = "0ns"', ""),
        ('memory_bandwidth = "100GB/s"', 'memory_bandwidth = "0GB/s"'),
    )
    found = problems(path)
    problems_by_source = {
        "bandwidht": "did you mean 'bandwidth'",
        'latency = "100GB"': "not a unit of a time",
        "groups = 0": "greater than or equal to 1",
        "size = 4096": "has no unit",
        "[nic]": "nic.send_overhead is missing",
        "memory_bandwidth": "1MB/s to 1000TB/s are allowed",
    }
    for text, words in problems_by_source.items():
        start = f"{path}:{line_of(path, text)}: "
        assert any(problem.startswith(start) and words in problem for problem in found), (text, found)
    assert f"{path}:{line_of(path, '[link]')}: link.bandwidth is missing" in found
    assert len(found) == 7


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "dragonfly"', 'kind = "dragonfli"', "did you mean 'dragonfly'"),
        ('kind = "dragonfly"', "", "kind"),
        ('routing = "minimal"', 'routing = "minimum"', "did you mean 'minimal'"),
        ('routing = "minimal"', 'routing = "d-mod-k"', "known: minimal, valiant"),
        ("groups = 4", "groups = 40", "do not reach"),
        ("groups = 4", "groups = 4.0", "groups"),
        ("groups = 4", 'groups = "4"', "groups"),
        ("groups = 4", "groups = true", "groups"),
        ("groups = 4", "groups = 99999999999", "groups"),
        ("global_links = 2", "global_links = -1", "greater than or equal to 0"),
        ('link = "chosen"', "", "link.bandwidth has no source"),
        ('link = "chosen"', "link = 5", "source.link"),
        ('bandwidth = "10GB/s"', 'bandwidth = "-10GB/s"', "bandwidth"),
        ('bandwidth = "10GB/s"', 'bandwidth = "1e30GB/s"', "1MB/s to 1000TB/s"),
        ('latency = "100ns"', 'latency = "1e30s"', "0s to 1h"),
        ('latency = "100ns"', 'latency = "nan"', "latency"),
        ('size = "4KiB"', 'size = "0.5B"', "whole number"),
        ('size = "4KiB"', 'size = "0B"', "1B to 128MiB"),
        ('size = "4KiB"', 'size = "256MiB"', "128MiB"),
        ("[packet]", "[torus]\na = 1\n[packet]", "torus"),
        ("[packet]", "[link.locl]\na = 1\n[packet]", "unknown key 'locl'"),
        ('title = "mine"', "title = [", "not TOML"),
    ],
)
def test_what_is_refused(written, old, new, words):
    found = problems(written((old, new)))
    assert any(words in problem for problem in found), found
    assert all(re.match(r".*mine\.toml(:\d+)?: ", problem) for problem in found), found


@pytest.mark.parametrize(("text", "kind"), [("imaginary", "assumed"), ("a drawing on a blackboard", "other")])
def test_one_line_is_the_source_of_all_values(written, text, kind):
    head, _, table = GOOD.partition("[source]")
    path = written((f"[source]{table}", ""), ('title = "mine"', f'title = "mine"\nsource = "{text}"'))
    machine = load_machine(path, {"mpi.eager_limit": "8KiB"})
    assert set(machine.machine.evidence().values()) == {kind}
    assert len(machine.machine.evidence()) == head.count(" = ") - 2, "all but title, routing and kind, and the setting"
    (problem,) = problems(written((f"[source]{table}", ""), ('title = "mine"', 'title = "mine"\nsource = " "')))
    assert problem.startswith(f"{path}:2: source: the text is empty")
    (problem,) = problems(written((f"[source]{table}", "")))
    assert 'source is missing: a table, or for a machine that is made up source = "imaginary"' in problem


@pytest.mark.parametrize("topology", ["5", '"torus"', "[1, 2]", '{kind = ["torus"]}', "{kind = 7}"])
def test_a_topology_that_is_no_table(tmp_path, topology):
    head, _, rest = GOOD.partition("[topology]")
    rest = rest[rest.index("[link]") :]
    path = tmp_path / "odd.toml"
    path.write_text(f"{head}topology = {topology}\ncolour = 1\n{rest}")
    found = problems(path)
    assert any("topology" in problem for problem in found), found
    assert any("unknown key 'colour'" in problem for problem in found), found


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot read" in problems(tmp_path / "none.toml")[0]


def test_an_unknown_name_has_a_nearest_one():
    (text,) = problems("dragonfly-MN")
    assert "did you mean 'dragonfly-MM'" in text
    assert "torus-M" in text


def test_settings_change_any_value(written):
    file = load_machine(
        written(),
        {
            "link.bandwidth": "20GB/s",
            "topology.groups": "3",
            "routing": "ugal",
            "packet.size": '"1KiB"',
            "link.global.latency": "1us",
            "link.global.bandwidth": "5GB/s",
        },
    )
    assert file.machine.link.bandwidth == 20e9
    assert file.machine.build().topology.switches == 18
    assert file.machine.build().routing == "ugal"
    assert file.machine.packet.size == 1024
    assert file.machine.link.global_.latency == pytest.approx(1e-6)
    torus = load_machine("torus-M", {"topology.shape": "[5, 5]"})
    assert torus.machine.build().topology.nodes == 625


def test_a_file_is_parsed_once_until_it_changes(written):
    path = written()
    first = load_machine(path)
    assert load_machine(path) is first
    assert load_machine(path, {"link.latency": "1ns"}).machine.link.latency != first.machine.link.latency
    written(("100ns", "200ns"))
    assert load_machine(path).machine.link.latency == 2 * first.machine.link.latency


@pytest.mark.parametrize("machine", ["dragonfly-MM", "torus-M"])
def test_a_value_that_only_a_setting_names_needs_no_source(machine):
    file = load_machine(machine, {"link.global.bandwidth": "20GB/s"})
    assert file.machine.link.global_.bandwidth == 20e9


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("link.bandwidht", "1GB/s", "did you mean"),
        ("lnk.bandwidth", "1GB/s", "did you mean 'link.bandwidth'"),
        ("link", "1GB/s", "unknown machine value 'link'"),
        ("link.bandwidth", "1ns", "not a unit of a bandwidth"),
        ("link.bandwidth", "1", "has no unit"),
        ("link.bandwidth", "", "bandwidth"),
        ("topology.groups", "many", "groups"),
        ("topology.shape", "[5, 5]", "unknown key 'shape'"),
        ("link.bandwidth.x", "1", "unknown machine value"),
        ("", "1", "unknown"),
        ("title", "5", "title"),
    ],
)
def test_settings_that_are_refused(written, key, value, words):
    found = problems(written(), {key: value, "nic.latency": "5GB"})
    assert any(words in problem for problem in found), found
    assert any("nic.latency" in problem for problem in found), "all problems at once"


def test_identity_follows_values_and_not_words(written):
    base = load_machine(written()).identity
    assert load_machine(written(('title = "mine"', 'title = "yours"'))).identity == base
    assert load_machine(written(('link = "chosen"', 'link = "measured"'))).identity == base
    assert load_machine(written(("groups = 4", "groups = 3"))).identity != base
    assert load_machine(written(), {"link.latency": "101ns"}).identity != base


def test_equal_values_are_one_machine_however_they_are_written(written):
    base = load_machine(written()).identity
    assert load_machine(written(('latency = "100ns"', 'latency = "0.1us"'))).identity == base
    named = {"nic.count": "1", "mpi.header": "64B", "mpi.bypass": "0B"}
    assert load_machine(written(), named).identity == base


OPTIONAL = {
    "switch.bandwidth": "500GB/s",
    "switch.buffer": "128KiB",
    "nic.count": "2",
    "node.cores": "48",
    "node.flow_memory_bandwidth": "12GB/s",
    "node.flops": "1.2TFlop/s",
    "mpi.eager_limit": "8KiB",
    "mpi.header": "32B",
    "mpi.bypass": "256B",
}


def test_what_may_be_left_out_has_its_default(written):
    machine = load_machine(written()).machine
    assert (machine.switch.bandwidth, machine.nic.count, machine.node.cores, machine.node.flops) == (
        None,
        1,
        None,
        None,
    )
    assert (machine.mpi.eager_limit, machine.mpi.header, machine.mpi.bypass) == (None, 64, 0)
    assert machine.node.flow_memory_bandwidth is None
    assert machine.buffer_bytes == 64 * 1024
    assert load_machine(written(), {"packet.size": "1MiB"}).machine.buffer_bytes == 1024 * 1024


def test_what_may_be_left_out_is_read(written):
    machine = load_machine(written(), OPTIONAL).machine
    assert machine.switch.bandwidth == 500e9
    assert machine.buffer_bytes == 131072
    assert (machine.nic.count, machine.node.cores) == (2, 48)
    assert machine.node.flow_memory_bandwidth == 12e9
    assert machine.node.flops == 1.2e12
    assert (machine.mpi.eager_limit, machine.mpi.header, machine.mpi.bypass) == (8192, 32, 256)


@pytest.mark.parametrize("key", OPTIONAL)
def test_every_optional_value_is_a_part_of_the_identity_and_needs_a_source(written, key):
    assert load_machine(written(), {key: OPTIONAL[key]}).identity != load_machine(written()).identity
    table, _, name = key.rpartition(".")
    line = f"{name} = {OPTIONAL[key]}" if name in ("count", "cores") else f'{name} = "{OPTIONAL[key]}"'
    if table in ("nic", "node"):
        found = problems(written((f"[{table}]", f"[{table}]\n{line}"), (f'{table} = "chosen"\n', "")))
    else:
        found = problems(written(("[packet]", f"[{table}]\n{line}\n[packet]")))
    assert any(f"{key} has no source" in problem for problem in found), found


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("switch.bandwidth", "0GB/s", "1MB/s to 1000TB/s"),
        ("switch.bandwidth", "inf", "inf has no unit"),
        ("switch.bandwidth", "1e999GB/s", "the number is too large"),
        ("switch.buffer", "4095B", "switch.buffer = 4095 B is less than packet.size = 4096 B"),
        ("switch.buffer", "0B", "1B to 128MiB"),
        ("switch.bufer", "1KiB", "did you mean 'buffer'"),
        ("nic.count", "0", "greater than or equal to 1"),
        ("nic.count", "17", "less than or equal to 16"),
        ("nic.count", "1.5", "nic.count"),
        ("node.cores", "0", "greater than or equal to 1"),
        ("node.flow_memory_bandwidth", "101GB/s", "more than the 100 GB/s of node.memory_bandwidth"),
        ("node.flops", "0flop/s", "1Mflop/s to 1000Pflop/s"),
        ("node.flops", "1.2TB/s", "is not a unit of a rate of operations"),
        ("mpi.eager_limit", "-1B", "is not a size"),
        ("mpi.header", "0B", "1B to 128MiB"),
        ("mpi.bypass", "64", "has no unit"),
        ("mpi.eager_limits", "64B", "did you mean 'eager_limit'"),
    ],
)
def test_optional_values_that_are_refused(written, key, value, words):
    found = problems(written(), {key: value})
    assert any(words in problem for problem in found), found


def test_more_nics_than_can_be_counted_are_refused(written):
    found = problems(written(("nodes_per_switch = 2", "nodes_per_switch = 2147483647")), {"nic.count": "2"})
    assert any("nodes_per_switch = 2147483647 with nic.count = 2: at most 2147483647" in text for text in found), found


def test_values_that_cannot_be_together_are_all_named_with_their_lines(written):
    path = written(
        ("[packet]", '[switch]\nbuffer = "1KiB"\n[mpi]\neager_limit = "1KiB"\nbypass = "2KiB"\n[packet]'),
        ('packet = "chosen"', 'packet = "chosen"\nswitch = "chosen"\nmpi = "chosen"'),
        ('memory_bandwidth = "100GB/s"', 'memory_bandwidth = "100GB/s"\nflow_memory_bandwidth = "200GB/s"'),
    )
    starts = [f"{path}:{line_of(path, text)}: " for text in ("buffer = ", "flow_memory", "bypass = ")]
    found = problems(path)
    assert len(found) == 3
    assert all(problem.startswith(start) for problem, start in zip(found, starts, strict=True)), found


def test_all_shipped_files_are_loaded():
    assert {path.stem for path in machine_folder().glob("*.toml")} == set(machine_names())


TOPOLOGIES = {
    "slimfly": ({"q": 5, "nodes_per_switch": 4}, "minimal", 50),
    "hyperx": ({"shape": [4, 3], "links": [1, 2], "nodes_per_switch": 4}, "ugal", 12),
    "complete": ({"switches": 5, "nodes_per_switch": 4}, "minimal", 5),
    "hypercube": ({"dimensions": 4, "links": 2, "nodes_per_switch": 2}, "valiant", 16),
    "dragonflyplus": (
        {"leaves": 4, "spines": 4, "groups": 5, "nodes_per_switch": 4, "global_links": 2},
        "minimal",
        40,
    ),
    "fattree": ({"levels": 3, "down_ports": [4, 4, 2], "up_ports": 2}, "adaptive", 8 + 4 + 4),
    "cubemesh": ({"gpu": "V100", "boxes": 2}, "direct", 27),
    "graph": ({"file": "mine.links", "nodes_per_switch": 2, "node_switches": 2}, "minimal", 3),
}


def write_topology(folder, kind, keys, routing):
    head, _, rest = GOOD.partition("[topology]")
    table = "".join(f"{key} = {value!r}\n" for key, value in keys.items())
    path = folder / "mine.toml"
    path.write_text(
        f'{head.replace("minimal", routing)}[topology]\nkind = "{kind}"\n{table}\n{rest[rest.index("[link]") :]}'
    )
    return path


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_every_topology_can_be_written(tmp_path, kind):
    keys, routing, switches = TOPOLOGIES[kind]
    (tmp_path / "mine.links").write_text("0 1\n1 2\n")
    machine = load_machine(write_topology(tmp_path, kind, keys, routing)).machine.build()
    assert machine.topology.name == kind
    assert machine.topology.switches == switches
    assert machine.routing == routing


@pytest.mark.parametrize(
    ("kind", "key", "value", "words"),
    [
        ("slimfly", "q", 6, "q = 6: a power of a prime"),
        ("slimfly", "routing", "par", "known: minimal, valiant, ugal"),
        ("hyperx", "links", [1, 2, 3], "links = [1, 2, 3]: one number, or a list of 2"),
        ("hyperx", "links", 0, "greater than or equal to 1"),
        ("hyperx", "shape", [], "at least 1 item"),
        ("hypercube", "dimensions", 25, "less than or equal to 24"),
        ("complete", "switches", 70000, "1 to 65536"),
        ("dragonflyplus", "global_links", 0, "do not reach"),
        ("fattree", "down_ports", [4, 4], "down_ports = [4, 4]: one number, or a list of 3"),
        ("fattree", "up_ports", [1, 2, 3], "up_ports = [1, 2, 3]: one number, or a list of 2"),
        ("fattree", "levels", 17, "less than or equal to 16"),
        ("fattree", "down_ports", "four", "valid integer"),
        ("cubemesh", "gpu", "A100", "'P100' or 'V100'"),
        ("cubemesh", "boxes", 300, "1 to 256 boxes"),
        ("graph", "file", "none.links", "cannot read"),
        ("graph", "file", "a\0b", "cannot read"),
        ("graph", "file", "wrong.links", "wrong.links:2: a link from switch 1 to itself"),
        ("graph", "file", 5, "topology.file = 5"),
        ("graph", "node_switches", 4, "nodes on 4 switches, but it has only 3"),
    ],
)
def test_what_is_refused_of_a_topology(tmp_path, kind, key, value, words):
    keys, routing, _ = TOPOLOGIES[kind]
    (tmp_path / "mine.links").write_text("0 1\n1 2\n")
    (tmp_path / "wrong.links").write_text("0 1\n1 1\n")
    keys, routing = (keys, value) if key == "routing" else (keys | {key: value}, routing)
    found = problems(write_topology(tmp_path, kind, keys, routing))
    assert any(words in problem for problem in found), found
    assert all(re.match(r".*mine\.toml(:\d+)?: ", problem) for problem in found), found


LISTS = {("fattree", "down_ports"): 3, ("fattree", "up_ports"): 2, ("hyperx", "links"): 2}
"""Length of lists, by kind and key."""


@pytest.mark.parametrize(("kind", "key"), LISTS)
def test_a_list_has_one_number_for_each_level_or_dimension(tmp_path, kind, key):
    """A list of one number does not stand for all: the others may have been forgotten."""
    (keys, routing, _), wanted = TOPOLOGIES[kind], LISTS[kind, key]
    one = load_machine(write_topology(tmp_path, kind, keys | {key: 4}, routing)).machine.build().topology
    same = load_machine(write_topology(tmp_path, kind, keys | {key: [4] * wanted}, routing)).machine.build().topology
    assert (one.nodes, one.radix, one.describe()) == (same.nodes, same.radix, same.describe())
    for length in {0, 1, wanted - 1, wanted + 1} - {wanted}:
        path = write_topology(tmp_path, kind, keys | {key: [4] * length}, routing)
        (found,) = problems(path)
        assert found.startswith(f"{path}:{line_of(path, key + ' = ')}: topology.{key} = {[4] * length}: "), found
        assert f"one number, or a list of {wanted}, is allowed" in found


def test_a_fat_tree_of_one_level_has_no_upward_ports(tmp_path):
    keys = {"levels": 1, "down_ports": [8]}
    for more in ({}, {"up_ports": []}):
        assert load_machine(write_topology(tmp_path, "fattree", keys | more, "adaptive")).machine.build().nodes == 8
    (found,) = problems(write_topology(tmp_path, "fattree", keys | {"up_ports": [4]}, "adaptive"))
    assert "topology.up_ports = [4]: one number, or a list of 0, is allowed" in found


def test_a_graph_is_known_by_its_links_and_not_by_where_it_lies(tmp_path):
    identities = []
    for folder, text in (("a", "0 1\n1 2\n"), ("b", "0 1\n1 2\n"), ("c", "0 1\n0 2\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.links").write_text(text)
        identities.append(load_machine(write_topology(tmp_path / folder, "graph", *TOPOLOGIES["graph"][:2])).identity)
    assert identities[0] == identities[1] != identities[2]


POWER = '[power]\nidle = "100W"\nwaiting = "150W"\nbusy = "0.3kW"\nnetwork = "4pJ/bit"\n\n[packet]'


def test_power_is_read_in_watts_and_joules_per_byte(written):
    power = load_machine(written(("[packet]", POWER), ('packet = "chosen"', 'packet = "chosen"\npower = "chosen"')))
    table = power.machine.power
    assert (table.idle, table.waiting, table.busy, table.network) == (100, 150, 300, pytest.approx(3.2e-11))
    assert (table.memory, table.switch) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('idle = "100W"\n', "", r"mine\.toml:26: power\.idle is missing"),
        ('busy = "0.3kW"', 'busy = "120W"', r"mine\.toml:29: power\.busy = 120 W is less than power\.waiting = 150 W"),
        ('"150W"', '"90W"', r"mine\.toml:28: power\.waiting = 90 W is less than power\.idle = 100 W"),
        ('"100W"', '"100"', r"mine\.toml:27: power\.idle = '100' has no unit: write a power as \"230W\""),
        ('"0.3kW"', '"3MW"', r"power\.busy = '3MW': at most 1MW is allowed"),
        ("busy =", "bussy =", r"power\.bussy: unknown key 'bussy'; did you mean 'busy'"),
        ('"4pJ/bit"', '"4pJ"', r"power\.network = '4pJ': 'pJ' is not a unit of an energy per byte"),
    ],
)
def test_what_power_cannot_be(written, old, new, problem):
    path = written(("[packet]", POWER), (old, new), ('packet = "chosen"', 'packet = "chosen"\npower = "chosen"'))
    with pytest.raises(InputError, match=problem):
        load_machine(path)


def test_times_do_not_depend_on_power(written):
    more = (("[packet]", POWER), ('packet = "chosen"', 'packet = "chosen"\npower = "chosen"'))
    assert load_machine(written(*more)).identity == load_machine(written()).identity
