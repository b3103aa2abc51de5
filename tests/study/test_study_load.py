from __future__ import annotations

import re
from pathlib import Path

import pytest

from tradewind.base.errors import InputError
from tradewind.base.toml_lines import TomlFile
from tradewind.study.plan.load import load_study

BROKEN = """\
title = "Broken"
sede = 4

[[sweep]]
name = "a"
kind = "simulate"
pattern = "transpose"
grid = "100x100"
ranks = [4, 0]
algorithm = [
    "ring-1",
    "rnig-4",
    "burst-3",
    "ring-x",
    "native",
]
machine = "torus-M"
packet = 4096

[[sweep]]
name = "a"
kind = "simulat"
pattern = "halo"

[[sweep]]
name = "c"
kind = "measure"
pattern = "allreduce"
ranks = 2
width = 3
machine = "torus-M"

[[plot]]
title = "A plot"
of = { sweep = "b", algoritm = "ring-1" }
curve = "algorihm"

[[finding]]
figure = "1"
claim = "it is so"
better = { sweep = "a" }

[[finding]]
figure = "2"
claim = "and so"
"""


def problems_of(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_study("broken.toml", text)
    return list(caught.value.problems)


def test_all_mistakes_are_reported_with_their_lines() -> None:
    problems = problems_of(BROKEN)
    expected = {
        2: "unknown key 'sede'; did you mean 'seed'?",
        8: "sweep 1: grid '100x100': 3 whole numbers",
        9: "sweep 1: ranks 0: 1 or more are allowed",
        12: "sweep 1: unknown transpose algorithm 'rnig-4'; did you mean 'ring-k'?",
        13: "sweep 1: unknown transpose algorithm 'burst-3'; did you mean 'burst'?",
        14: "sweep 1: algorithm 'ring-x': ring needs a radix",
        15: "sweep 1: only the MPI library knows its native algorithm",
        18: "sweep 1: packet 4096 has no unit",
        21: "sweep 2: another sweep is called 'a'",
        22: "sweep 2: unknown kind 'simulat'; did you mean 'simulate'?",
        30: "sweep 3: width does not apply to allreduce",
        31: "sweep 3: unknown key 'machine'",
        35: "plot 1: unknown sweep 'b' (known: a, c)",
        36: "plot 1: unknown label 'algorihm'; did you mean 'algorithm'?",
        41: "finding 1: better needs than",
        43: "finding 2: one test is needed, not 0",
    }
    for line, text in expected.items():
        assert any(p.startswith(f"broken.toml:{line}: ") and text in p for p in problems), (line, text, problems)
    assert any("unknown label 'algoritm'; did you mean 'algorithm'?" in p for p in problems)
    assert any("a halo needs a grid" in p for p in problems)


def test_a_size_without_unit_and_one_with_a_wrong_unit_are_errors() -> None:
    sweep = '[[sweep]]\nname = "a"\nkind = "simulate"\npattern = "allreduce"\nranks = 4\nmachine = "torus-M"\n'
    problems = problems_of(f'title = "t"\n{sweep}packet = ["4096", "4 parsec", "4KiB"]\n')
    assert len(problems) == 2
    assert "'4096' has no unit" in problems[0]
    assert "'parsec' is not a unit of a size" in problems[1]
    assert all(p.startswith("broken.toml:8: sweep 1: ") for p in problems)


def test_only_curves_have_a_quantity_or_are_divided() -> None:
    plot = '[[plot]]\ntitle = "t"\nof = { sweep = "a" }\n'
    load_study("whole.toml", f'title = "t"\n{SWEEP}{plot}kind = "bars"\nquantity = "step-time"\n')
    more = 'kind = "bars"\nquantity = "points"\nover = { ranks = 4 }\n'
    assert problems_of(f'title = "t"\n{SWEEP}{plot}{more}') == [
        "broken.toml:12: plot 1: quantity points belongs to plots of kind time, and not to bars",
        "broken.toml:13: plot 1: over belongs to plots of kind time, and not to bars",
    ]


def test_missing_keys_are_named() -> None:
    problems = problems_of('[[sweep]]\nkind = "verify"\n')
    assert "broken.toml:1: key 'title' is missing" in problems
    assert "broken.toml:1: sweep 1: key 'name' is missing" in problems
    assert any("'kind'" in p for p in problems_of('title = "t"\n[[sweep]]\nname = "a"\n'))


SWEEP = '[[sweep]]\nname = "a"\nkind = "verify"\npattern = "halo"\ngrid = "9x9x9"\nranks = [4, 6]\n'


@pytest.mark.parametrize(
    ("quick", "problem"),
    [
        ("true", "quick true: false (nothing of this sweep), or a table"),
        ("{ rank = 4 }", "quick: unknown key 'rank'; did you mean 'ranks'?"),
        ("{ grid = '9x9x9' }", "quick: unknown key 'grid'"),
        ("{ ranks = [4, 5] }", "quick: ranks 5 is not among those of the sweep ([4, 6])"),
    ],
)
def test_what_a_quick_run_cannot_be(quick: str, problem: str) -> None:
    problems = problems_of(f'title = "t"\n{SWEEP}quick = {quick}\n')
    assert any(p.startswith("broken.toml:8: sweep 1: ") and problem in p for p in problems), problems


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("crosses = { ranks = 4 }\nthan = { ranks = 6 }", "crosses needs between"),
        (
            "falls = { ranks = 4 }\nthan = { ranks = 6 }",
            "than belongs to better or crosses or flatter or near or predicts or ranked, and not to falls",
        ),
        ("delays = { ranks = 4 }\nshare = [0, 1]", "delays needs below or above, and not both"),
        (
            "proved = { ranks = 4 }\nranks = 4\nalong = 'nodes'",
            "along belongs to tests of curves, better, order, same, ",
        ),
        ("falls = { ranks = 4 }\nalong = 'threads'", "along"),
        ("delays = { ranks = 4 }\nshare = [0.5, 0.2]\nbelow = '1us'", "the first must not be larger than the second"),
        ("delays = { ranks = 4 }\nshare = [0, 1]\nbelow = '1'", "'1' has no unit"),
        ("best = ['algorithm']", "best"),
        ("best = 'algorihm'", "unknown label 'algorihm'; did you mean 'algorithm'?"),
        ("order = [{ ranks = 4 }]", "order"),
        ("bands = { sweep = 'b' }\noffsets = 1", "unknown sweep 'b'"),
        ("near = { ranks = 4 }", "near needs one of value, gain and wording"),
        ("near = { ranks = 4 }\nvalue = 2\nwording = 'far'", "near needs one of value, gain and wording"),
        ("near = { ranks = 4 }\ngain = 0.1", "gain needs than, the curve that is compared with"),
        ("better = { ranks = 4 }\nthan = { ranks = 6 }\nwording = 'about'", "unknown wording of better 'about'"),
        ("apart = 'ranks'\nwording = 'far'\nfactor = 2", "factor: wording sets the limits"),
        ("falls = { ranks = 4 }\nwording = 'far'", "wording belongs to better or apart or jumps or same or "),
        ("best = 'algorithm'\nwithin = [1, 2]\nwording = 'about'", "wording of best needs median, to which it belongs"),
        ("falls = {}\nshown = '1'", "shown needs cause: what the experiments show"),
        ("falls = {}\ncause = ''", "cause is empty: text is needed"),
        ("falls = {}\ncause = 'w'\ndecided_by = 'data'", "cause: a claim that is decided by 'data' has none"),
        ("falls = {}\ncause = 'w'\nshown = ['1 (b)']", "shown: unknown figure '1 (b)' (known: 1)"),
    ],
)
def test_what_a_finding_cannot_be(test: str, problem: str) -> None:
    problems = problems_of(f'title = "t"\n{SWEEP}[[finding]]\nfigure = "1"\nclaim = "c"\n{test}\n')
    assert any("finding 1: " in p and problem in p for p in problems), problems


def test_an_experiment_is_one_finding_of_this_study_or_of_one_beside_it(tmp_path: Path) -> None:
    experiment = '[[finding]]\nfigure = "1 (b)"\nclaim = "c"\nfalls = { ranks = 4 }\n'
    claim = '[[finding]]\nfigure = "1"\nclaim = "c"\nfalls = { ranks = 4 }\ncause = "w"\nshown = "%s"\n'
    text = f'title = "t"\n{SWEEP}'
    load_study(tmp_path / "a.toml", text + experiment + claim % "1 (b)")
    with pytest.raises(InputError, match=r"shown: no figure 'b: 1 \(b\)' is in this study, and no b.toml beside it"):
        load_study(tmp_path / "a.toml", text + claim % "b: 1 (b)")
    load_study(tmp_path / "study.toml", text + claim % "b: 1 (b)", is_copy=True)
    (tmp_path / "b.toml").write_text(text + experiment, encoding="utf-8")
    load_study(tmp_path / "a.toml", text + claim % "b: 1 (b)")
    for shown, problem in (
        ("b: 1 (c)", "shown: unknown figure '1 (c)'; did you mean '1 (b)'? (known: 1 (b))"),
        ("1 (b)", "shown: 2 findings have the figure '1 (b)': one is needed"),
    ):
        with pytest.raises(InputError) as caught:
            load_study(tmp_path / "a.toml", text + 2 * experiment + claim % shown)
        assert caught.value.problems[0].endswith(problem)


def test_an_experiment_of_the_study_itself_may_have_a_colon(tmp_path: Path) -> None:
    test = f'title = "t"\n{SWEEP}[[finding]]\nclaim = "c"\nfalls = {{ ranks = 4 }}\nfigure = '
    claim = '[[finding]]\nfigure = "1"\nclaim = "c"\nfalls = { ranks = 4 }\ncause = "w"\nshown = "b: 1: few"\n'
    load_study(tmp_path / "a.toml", test + '"b: 1: few"\n' + claim)
    (tmp_path / "b.toml").write_text(test + '"1: few"\n', encoding="utf-8")
    load_study(tmp_path / "a.toml", test + '"2"\n' + claim)


def test_more_rounds_than_samples() -> None:
    measured = 'name = "m"\nkind = "measure"\npattern = "allreduce"\nranks = 2\nrepeat = 3\nrounds = 4\n'
    problems = problems_of(f'title = "t"\n[[sweep]]\n{measured}')
    assert any("rounds 4: at most repeat, 3, as each has a sample or more" in p for p in problems), problems


def test_split_for_ranks_that_the_sweep_does_not_have() -> None:
    sweep = '[[sweep]]\nname = "a"\nkind = "verify"\npattern = "halo"\ngrid = "9x9x9"\nranks = 4\n'
    assert any("split names 6 ranks" in p for p in problems_of(f'title = "t"\n{sweep}split = {{ 6 = "3x2" }}\n'))


def test_what_is_not_toml_or_not_there(tmp_path: Path) -> None:
    assert "at line 2" in problems_of("title = 'a'\nseed = = 2\n")[0]
    with pytest.raises(InputError, match="cannot read"):
        load_study(tmp_path / "none.toml")


def test_lines_of_a_file_with_everything() -> None:
    text = (
        'a = """\none\n"quoted" \'\'\' """\n"b.c" = [ # comment ]\n  [1, 2],\n  { d = "x]", e.f = 3 },\n]\n'
        "[t.u]\nv = '''\n[[no]]\n'''\n[[w]]\n[[w]]\nx = 1979-05-27T07:32:00Z\n[w.y]\nz = -1.5e3\n"
    )
    file = TomlFile("t.toml", text)
    lines = {("a",): 1, ("b.c",): 4, ("b.c", 0): 5, ("b.c", 1): 6, ("b.c", 1, "d"): 6, ("b.c", 1, "e", "f"): 6}
    lines |= {("t", "u"): 8, ("t", "u", "v"): 9, ("w", 0): 12, ("w", 1): 13, ("w", 1, "x"): 14, ("w", 1, "y", "z"): 16}
    assert {place: file.line(place) for place in lines} == lines
    assert file.line(("w", 1, "x", "deeper")) == 14
    assert file.at(("w", 0), "wrong") == "t.toml:12: wrong"


def test_the_quickstart_is_a_study() -> None:
    path = Path(__file__).parents[2] / "studies" / "quickstart.toml"
    study = load_study(path).study
    assert {sweep.kind for sweep in study.sweep} == {"verify", "measure", "simulate"}
    assert study.plot
    assert study.finding


@pytest.mark.parametrize("steady", ["0", "1", "1.0", "0.0", "1.5", "-0.1", "nan", '"yes"', '"0.1%"', "[0.001]"])
def test_steady_is_true_or_a_fraction(steady: str) -> None:
    sweep = 'title = "t"\n[[sweep]]\nname = "a"\nkind = "simulate"\npattern = "allreduce"\nranks = 4\n'
    sweep += f'machine = "torus-M"\nsteady = {steady}\n'
    (problem,) = problems_of(sweep)
    assert re.fullmatch(r"broken.toml:8: sweep 1: steady .*: true or a fraction is allowed, .* such as 0.001", problem)


def test_of_very_many_mistakes_the_first_are_said_and_the_others_counted() -> None:
    text = 'title = "t"\n' + "".join(f"key_{i} = {i}\n" for i in range(20_000))
    problems = problems_of(text + SWEEP)
    assert len(problems) == 41
    assert problems[0].startswith("broken.toml:2: unknown key 'key_0'")
    assert problems[-1] == "broken.toml: and 19960 mistakes more"
    names = ", ".join(f'"ring-{i}"' for i in range(1000))
    assert len(problems_of(f'title = "t"\n{SWEEP}algorithm = [{names}]\n')) == 40


def test_a_study_of_too_many_cases_is_refused_before_they_are_made() -> None:
    large = f"ranks = {list(range(1, 1001))}\ncount = {list(range(1, 1001))}\n"
    text = f'title = "t"\n{SWEEP}[[sweep]]\nname = "b"\nkind = "verify"\npattern = "allreduce"\n{large}'
    assert problems_of(text) == [
        "broken.toml:8: sweep 2: 1000000 of 1000002 cases; 100000 are allowed in a study: name fewer values, "
        "or divide it"
    ]
