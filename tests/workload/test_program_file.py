"""Program files: what they say, and what is wrong with them, with its line."""

from pathlib import Path

import pytest

import tradewind as tw
from tradewind.workload.program_file import points_of

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAD = 'ranks = 4\ngrid = "8x6x4"\nsplit = "2x2"\n'
MESSAGES = "[[exchange]]\nname = 'm'\nmessages = {}\n[[step]]\nexchange = 'm'\n"


def read(text, head=HEAD):
    return tw.load_program("p.toml", head + text)


@pytest.mark.parametrize("name", ["step.toml", "servers.toml", "coupled.toml", "hirlam_sequential.toml"])
def test_the_examples_are_proved_and_simulated_alike(name):
    program = tw.load_program(EXAMPLES / name)
    proved, simulated = tw.verify(program), tw.simulate(program, "dragonfly-MM")
    for key in ("stages", "messages", "bytes"):
        assert proved[key] == simulated[key] > 0


def test_servers_in_another_order_deadlock():
    text = (EXAMPLES / "servers.toml").read_text()
    head, servers = text.split('name = "servers"\nranks')
    output, status = '[[group.step]]\nexchange = "output"', '[[group.step]]\nexchange = "status"'
    assert output in servers
    servers = servers.replace(output, "@").replace(status, output).replace("@", status)
    with pytest.raises(tw.VerificationError, match=r"group 'servers' waits in stage \d of exchange 'status'"):
        tw.verify(tw.load_program("wrong.toml", f'{head}name = "servers"\nranks{servers}'))


def test_a_file_is_what_python_says():
    file = read(
        """
point_time = "10ns"
repeat = 2
[[exchange]]
name = "u"
halo = 2
periodic = "x"
fields = ["a", "b"]
dtype = "f4"
[[step]]
start = "u"
[[step]]
compute = "xy"
share = 0.5
[[step]]
poke = true
[[step]]
wait = "u"
[[step]]
compute = "rank"
points = "10 * rank"
bytes = 3
times = 2
[[step]]
path = "xy-zy-xy"
fields = 3
"""
    )
    blocks = tw.Blocks(tw.Grid(8, 6, 4), (2, 2))
    pencils = tw.Blocks(tw.Grid(8, 6, 4), (2, 2), "zy")
    u = tw.Exchanged("u", tw.Halo(blocks, 2, "x").schedule(), ["a", "b"], "f4")
    there, back = tw.Transpose(blocks, pencils).schedule(), tw.Transpose(pencils, blocks).schedule()
    program = tw.Program(
        u.start(),
        tw.Compute("c", layout=blocks, point_s=5e-9),
        tw.Poke(),
        u.wait(),
        tw.Compute("d", bytes=3, point_s=1e-8, points=lambda rank: 10 * rank, repeat=2),
        tw.Exchanged("there", there, 3),
        tw.Exchanged("back", back, 3),
        repeat=2,
    )
    one, other = (tw.simulate(each, "dragonfly-MM") for each in (file, program))
    for key in ("time_s", "messages", "bytes", "stages"):
        assert one[key] == other[key]
    assert list(one["step_end_s"].values()) == list(other["step_end_s"].values())


ELEMENTS = """
ranks = 8
[[exchange]]
name = "w"
gather_scatter = "3x2x1"
element_points = 4
brick = "4x1x2"
algorithm = "cartesian"
fields = 2
[[step]]
exchange = "w"
[[step]]
gather_scatter = "1x2x2"
operation = "max"
periodic = "z"
times = 3
"""


def test_gather_scatters_are_those_of_bricks():
    program = tw.load_program("p.toml", ELEMENTS)
    one = tw.BrickGatherScatter((3, 2, 1), 4, (4, 1, 2)).schedule("cartesian")
    other = tw.BrickGatherScatter((1, 2, 2), 10, (2, 2, 2), "z", "max").schedule()
    wanted = [(one.verify(), 2, 1), (other.verify(), 1, 3)]
    proved, simulated = tw.verify(program), tw.simulate(program, "dragonfly-MM")
    for result in (proved, simulated):
        assert result["messages"] == sum(times * each["messages"] for each, _, times in wanted)
        assert result["bytes"] == sum(times * fields * each["bytes"] for each, fields, times in wanted)
    # Every face between two ranks, once each way, by hand: 3 of 7 x 4 points along x, and 4 of 10 x 7 along z.
    assert one.verify()["bytes"] == 8 * 2 * (3 * 2 * 7 * 4 + 4 * 10 * 7)


NAMED = """
ranks = 6
grid = "8x6x4"
split = "3x2"
[[exchange]]
name = "ice"
halo = 1
grid = "ORCA2x31"
split = "2x3"
field_levels = [31, 1]
[[step]]
exchange = "ice"
[[step]]
halo = 2
field_levels = [4, 4, 1]
"""


def test_halos_of_grids_by_name_and_fields_of_different_levels():
    proved = tw.verify(tw.load_program("p.toml", NAMED))
    ocean = tw.MeshHalo("ORCA2x32", 6, 1, (2, 3)).fetch().schedule().verify()
    block = tw.Halo(tw.Blocks(tw.Grid(8, 6, 9), (3, 2)), 2).schedule().verify()
    assert (proved["messages"], proved["bytes"]) == tuple(ocean[key] + block[key] for key in ("messages", "bytes"))


def test_a_step_with_a_layout_needs_a_grid():
    with pytest.raises(tw.InputError, match=r"p.toml:2: key 'grid' is missing"):
        tw.load_program("p.toml", "ranks = 4\n[[step]]\nhalo = 1\n")


def test_points_are_a_list_or_a_formula():
    assert points_of("1000 + 50 * (rank % 2) - min(rank, 1)", 4) == [1000, 1049, 999, 1049]
    assert points_of("ranks / 2 + max(rank // 3, 1)", 2) == [2, 2]
    assert points_of([1, 2.5], 2) == [1, 2.5]
    for wrong in ("rank -", "nobody", "rank / 0", "open('x')", "__import__('os')", "-1", "(1).real", "[1]"):
        with pytest.raises(tw.InputError, match="points "):
            points_of(wrong, 2)
    with pytest.raises(tw.InputError, match="points of 3 ranks: 2 are allowed"):
        points_of([1, 2, 3], 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[[exchange]]\nname = 'e'\nhalo = 1\ngrid = 'Q8'\n[[step]]\nexchange = 'e'\n",
            "p.toml:7: .*grid 'Q8'; did you mean",
        ),
        (
            "[[exchange]]\nname = 'e'\npath = 'xy-z'\ngrid = 'C8'\n[[step]]\nexchange = 'e'\n",
            "p.toml:4: exchange 'e': grid C8: a halo has a grid by name",
        ),
        (
            "[[step]]\nhalo = 1\nfield_levels = [2, 1]\nfields = 2\n",
            "p.toml:4: field_levels has one number for each field",
        ),
        (
            "[[step]]\nallreduce = 1\nfield_levels = [2]\n",
            "p.toml:4: field_levels belongs to halo and fetch, and not to allreduce",
        ),
        ("[[step]]\nhal = 1\n", r"p.toml:5: unknown key 'hal'; did you mean 'halo'\?"),
        ("[[step]]\nhalo = 1\npoke = true\n", r"p.toml:4: a step has one of .*, not poke and halo"),
        ("[[step]]\nlabel = 'x'\n", r"p.toml:4: a step has one of .*, not none of them"),
        ("[[step]]\nhalo = -1\n", r"p.toml:5: halo = -1: input should be greater than or equal to 0"),
        ('[[step]]\ncompute = "xy"\nbytes = inf\n', "p.toml:6: bytes = inf: input should be a finite number"),
        ("[[step]]\nhalo = 1\nseconds = '1s'\n", r"p.toml:4: seconds belongs to another kind of step, and not to halo"),
        ("[[step]]\ncompute = 'xw'\n", r"p.toml:5: compute: unknown layout 'xw'"),
        ("[[step]]\ncompute = 'rank'\nseconds = 3\n", r"p.toml:6: seconds: 3 has no unit"),
        ("[[step]]\npath = 'xy-qq'\n", r"p.toml:5: path 'xy-qq': unknown layout 'qq'"),
        ("[[step]]\nhalo = 1\nalgorithm = 'swep'\n", r"p.toml:4: unknown halo algorithm 'swep'"),
        ("[[step]]\nhalo = 1\ntransport = 'isend'\n", r"p.toml:4: exchange '1 halo': unknown transport 'isend'"),
        (
            "[[step]]\nstart = 'u'\n[[exchange]]\nname = 'v'\nhalo = 1\n",
            r"p.toml:4: unknown exchange 'u' .*known: v",
        ),
        ("[[step]]\nstart = 'v'\n[[exchange]]\nname = 'v'\nhalo = 1\n", r"p.toml:1: exchange 'v' is started and never"),
        (
            "[[step]]\nstart = 'v'\ntimes = 2\n[[exchange]]\nname = 'v'\nhalo = 1\n",
            r"p.toml:4: times 2: a step start is",
        ),
        (
            "[[exchange]]\nname = 'v'\n[[step]]\nhalo = 1\n",
            r"p.toml:4: exchange 'v' has one of halo, path, fetch, allreduce",
        ),
        ("[[exchange]]\nname = 'v'\nhalo = 1\nfields = ['a', 'a']\n[[step]]\nhalo = 1\n", r"p.toml:7: .*allowed once"),
        (
            "[[exchange]]\nname = 'v'\nallreduce = 1\nsplit = '2x2'\n[[step]]\nexchange = 'v'\n",
            r"p.toml:4: exchange 'v': split is that of a halo, a path or a fetch",
        ),
        ("[[group]]\nname = 'a'\nranks = [[0, 2000000000]]\n", r"p.toml:6: .*10000000 ranks in lists are allowed"),
        ("", r"a program has either steps"),
        ("[[group]]\nname = 'a'\nranks = 2\n[[step]]\nhalo = 1\n", r"a program has either steps"),
        ("[[step]]\ngather_scatter = '2x2'\n", r"p.toml:5: gather_scatter: elements '2x2': 3 whole numbers"),
        ("[[step]]\ngather_scatter = '2x0x2'\n", r"p.toml:5: gather_scatter: elements 2x0x2: 1..[0-9]+ are allowed"),
        ("[[step]]\ngather_scatter = '2x2x2'\nbrick = '3x1x1'\n", r"p.toml:4: brick 3x1x1 makes 3 ranks: 3 is not 4"),
        ("[[step]]\ngather_scatter = '2x2x2'\nelement_points = 1\n", r"p.toml:6: element_points = 1: .* or equal to 2"),
        ("[[step]]\ngather_scatter = '2x2x2'\noperation = 'sum'\n", r"p.toml:4: unknown operation 'sum'.*add"),
        (
            "[[step]]\ngather_scatter = '2x2x2'\nalgorithm = 'ring'\n",
            r"p.toml:4: ring is an algorithm of transpose, not of gather",
        ),
        ("[[step]]\nhalo = 1\nbrick = '4x1x1'\n", r"p.toml:4: brick belongs to gather_scatter, and not to halo"),
        ("[[step]]\nhalo = 1\nperiodic = 'z'\n", r"p.toml:4: periodic 'z': some of 'xy' are allowed"),
        ("[[step]]\nhalo = 1\ntimes = 0\n", r"p.toml:6: times = 0: input should be greater"),
        (MESSAGES.format("[[0, 0, 4, 1]]"), r"p.toml:4: message 0: rank 4; 0..3 are allowed"),
        (MESSAGES.format("[[0, 0, 1, 0]]"), r"p.toml:4: message 0: 0 points; 1 or more"),
        (
            MESSAGES.format("[[0, 0, 1, -1]]"),
            r"p.toml:6: messages: message 0: \[0, 0, 1, -1\]: -1; 0..[0-9]+ are allowed",
        ),
        (MESSAGES.format(f"[[0, 0, 1, 1], [0, 0, 1, {10**23}]]"), r"p.toml:6: messages: message 1: .*; 0..[0-9]+ are"),
        (MESSAGES.format("[[0, 0, 1, 1], [0, 1]]"), r"p.toml:6: messages: message 1: \[0, 1\]: \[stage, source"),
        (MESSAGES.format("[[0, 0, 1, 1.5]]"), r"p.toml:6: messages: message 0: \[0, 0, 1, 1.5\]"),
        (MESSAGES.format("[]\nalgorithm = 'direct'"), r"p.toml:4: exchange 'm': algorithm 'direct' of messages"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, message):
    with pytest.raises(tw.InputError, match=message):
        read(text)


def test_messages_are_sent_as_they_are_listed():
    program = read(MESSAGES.format("[[0, 3, 0, 7], [0, 3, 0, 5, 1, 0], [2, 1, 2, 9]]\ndtype = 'f4'"))
    result = tw.verify(program)
    assert (result["stages"], result["messages"], result["bytes"]) == (3, 3, 21 * 4)


def test_a_split_is_that_of_all_ranks():
    with pytest.raises(tw.InputError, match="split 2x2 makes 4 ranks: 4 is not 3"):
        read("[[step]]\nhalo = 1\n", 'ranks = 3\ngrid = "8x6x4"\nsplit = "2x2"\n')
    with pytest.raises(tw.InputError, match="the program has 4 ranks, and 5 are asked for"):
        tw.load_program("p.toml", HEAD + "[[step]]\nhalo = 1\n", ranks=5)


def test_groups_are_known_by_name():
    groups = "[[group]]\nname = 'a'\nranks = 2\n[[group.step]]\nexchange = 'x'\n[[group]]\nname = 'b'\nranks = 2\n"
    head = 'grid = "8x6x4"\n'
    between = "[[group.step]]\nexchange = 'x'\n[[exchange]]\nname = 'x'\nfrom = '{}'\nto = '{}'\n"
    for source, target in ("ab", "ba"):
        result = tw.verify(read(groups + between.format(source, target), head))
        assert result["bytes"] == 8 * 6 * 4 * 8
    with pytest.raises(tw.InputError, match=r"p.toml:\d+: unknown group 'c'"):
        read(groups + between.format("a", "c"), head)
    with pytest.raises(tw.InputError, match="from and to belong together"):
        read(groups + between.format("a", "b").replace("to = 'b'\n", ""), head)


def test_computations_name_their_kernels():
    program = read('[[step]]\ncompute = "rank"\nflops = 5e9\nkernel = "physics"\n')
    assert [compute.kernel for compute in program.computes] == ["physics"]


def test_groups_list_their_ranks():
    halo = "[[exchange]]\nname = 'x'\nhalo = 1\nsplit = '2x2'\n"
    own = "[[exchange]]\nname = 'o'\nallreduce = 3\ngroup = {}\n"
    groups = "[[group]]\nname = 'a'\nranks = {}\n[[group.step]]\nexchange = 'o'\n[[group.step]]\nexchange = 'x'\n"
    groups += "[[group]]\nname = 'b'\nranks = {}\n[[group.step]]\nexchange = 'x'\n"
    head = 'grid = "8x6x4"\n'

    def listed(a, b, taking_part="'a'"):
        return read(halo + own.format(taking_part) + groups.format(a, b), head)

    program = listed("[[0, 2, 2]]", "[[1, 1], [3, 3]]")
    assert [list(program.ranks_of(each)) for each in program.exchanges] == [[0, 2], [0, 1, 2, 3]]
    alone = read("[[step]]\nhalo = 1\n[[exchange]]\nname = 'o'\nallreduce = 3\n")
    assert tw.verify(program)["exchanges"][1]["bytes"] == tw.verify(alone)["bytes"]
    for a, b, problem in (
        ("[[0, 2, 2]]", "2", "all groups have a number of ranks, or all list them"),
        ("[[2, 0]]", "[[1, 1], [3, 3]]", r"p.toml:\d+: .*first <= last"),
        ("[[0, 1], [1, 2]]", "[[3, 3]]", "each rank once is allowed"),
        ("[[0, 0], [2, 2]]", "[[1, 2]]", "rank 2 is in group 'a' and in group 'b'"),
    ):
        with pytest.raises(tw.InputError, match=problem):
            listed(a, b)
    with pytest.raises(tw.InputError, match="each name is allowed once"):
        listed("[[0, 2, 2]]", "[[1, 1], [3, 3]]", "['a', 'a']")
