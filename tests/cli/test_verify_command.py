"""`tradewind verify` as a user meets it."""

import json
import re
import subprocess
import sys

import pytest

from tradewind.cli import make_app, output


def tradewind(capsys, *arguments):
    """Exit code, standard output and standard error of a command line."""
    code = output.run(make_app(), arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_a_sound_exchange_is_verified(capsys):
    code, out, _ = tradewind(
        capsys, "verify", "transpose", "--ranks", "8", "--grid", "16x8x8", "--split", "4x2", "--algorithm", "ring-1"
    )
    assert code == 0
    assert "every expected point arrives exactly once" in out
    assert "free of deadlock with isend-irecv" in out


@pytest.mark.parametrize("transport", ["sendrecv", "isend-recv", "send-irecv", "isend-irecv", "even-odd"])
def test_json_has_the_counts(capsys, transport):
    code, out, _ = tradewind(
        capsys, "verify", "halo", "--ranks", "4", "--grid", "20x10x5", "--split", "4x1", "--width", "2",
        "--periodic", "x", "--transport", transport, "--json",
    )  # fmt: skip
    result = json.loads(out)
    assert code == 0
    assert (result["ok"], result["deadlock_free"], result["transport"]) == (True, True, transport)
    assert (result["stages"], result["messages"], result["bytes"]) == (2, 8, 8 * 2 * 10 * 5 * 8)
    assert result["split"] == [4, 1]


REFUSED = [
    (
        ["--ranks", "100000", "--grid", "28800x14400x256", "--split", "316x316"],
        ["99856 is not 100000", "316 ranks do not divide 256 levels"],
    ),
    (["--ranks", "8", "--grid", "16x16x16", "--split", "4x2", "--algorithm", "ring-4"], ["radix 4 is out of range"]),
    (["--ranks", "8", "--grid", "16x16x16", "--algorithm", "brook"], ["did you mean 'bruck'"]),
    (["--ranks", "8", "--grid", "16by16"], ["grid '16by16': 3 whole numbers joined by 'x'"]),
    (["--ranks", "8", "--grid", "16", "--split", "4"], ["grid '16'", "split '4'"]),
    (["--ranks", "8", "--grid", "16x16x16", "--transport", "evenodd"], ["did you mean 'even-odd'"]),
    (["--ranks", "many"], ["--ranks"]),
    ([], ["--ranks"]),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_bad_input_is_refused_with_code_2(capsys, arguments, words):
    code, out, err = tradewind(capsys, "verify", "transpose", *arguments)
    assert (code, out) == (2, "")
    assert all(word in err for word in words)
    code, out, err = tradewind(capsys, "verify", "transpose", *arguments, "--json")
    assert (code, err) == (2, "")
    assert all(word in json.loads(out)["error"] for word in words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "which pattern? transpose, halo, fetch, gather-scatter, allreduce, recorded are known"),
        ("--ranks 4", "which pattern? transpose, halo, fetch, gather-scatter, allreduce, recorded are known"),
        ("hallo --ranks 4", "unknown pattern 'hallo'; did you mean 'halo'?"),
        (
            "transpose --ranks 4 --width 2",
            "--width does not apply to transpose: leave it out (halo, fetch take it); did you mean '--grid'?",
        ),
        ("halo --ranks 4 --widht 2", "unknown option '--widht'; did you mean '--width'?"),
        (
            "gather-scatter --ranks 4 --operation max --dtype c16",
            "operation max: complex numbers (c16) have no order; add and mul are allowed",
        ),
    ],
)
def test_options_are_those_of_the_pattern(capsys, arguments, words):
    code, out, err = tradewind(capsys, "verify", *arguments.split())
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_the_name_of_the_pattern_may_stand_anywhere(capsys):
    code, out, _ = tradewind(capsys, "verify", "--ranks", "4", "--count", "5", "allreduce", "--json")
    assert code == 0
    assert json.loads(out)["count"] == 5


@pytest.mark.parametrize(("pattern", "own"), [("halo", "--width WIDTH"), ("allreduce", "--count COUNT")])
def test_help_shows_what_a_pattern_takes(capsys, pattern, own):
    others = {"--width WIDTH", "--count COUNT", "--slab SLAB", "--messages MESSAGES"} - {own}
    code, out, _ = tradewind(capsys, "show", pattern, "--help")
    assert code == 0
    assert own in out
    assert f"show {pattern} [OPTIONS]" in out
    assert not any(other in out for other in others)
    code, out, _ = tradewind(capsys, "show", "--help")
    assert code == 0
    assert re.search(r"^  halo +each rank receives the points", out, re.M)
    assert own not in out


def test_an_unsound_exchange_fails_with_code_1(capsys, monkeypatch):
    from tradewind import _core

    sound = _core.make_schedule
    monkeypatch.setattr(_core, "make_schedule", lambda *args: _core.damaged(sound(*args), "drop-send", 0, 0, 0))
    arguments = ("verify", "allreduce", "--ranks", "8")
    code, _, err = tradewind(capsys, *arguments)
    assert code == 1
    assert "error: allreduce: stage 0: rank 1 waits for a message from rank 0" in err
    code, out, _ = tradewind(capsys, *arguments, "--json")
    assert code == 1
    assert "no rank sends" in json.loads(out)["error"]


def test_show_prints_the_stages_of_a_rank(capsys):
    code, out, _ = tradewind(
        capsys, "show", "halo", "--ranks", "6", "--grid", "60x50x4", "--split", "3x2", "--rank", "4"
    )
    assert code == 0
    assert out.splitlines()[:3] == [
        "halo 3 sweep, 6 ranks, rank 4; 8 bytes per point",
        "",
        "halo: halo of width 3, 2 stages",
    ]
    assert "    sends to 5  tag 1  parity 1  300 points  source [x 37:40, y 25:50, z 0:4]" in out


def test_show_results_as_json(capsys):
    code, out, _ = tradewind(
        capsys,
        "show",
        "allreduce",
        "--ranks",
        "8",
        "--algorithm",
        "recursive-2",
        "--rank",
        "5",
        "--stage",
        "2",
        "--json",
    )
    (step,) = json.loads(out)["steps"]
    assert code == 0
    assert step["stages"] == 3
    assert step["of_rank"] == [
        {
            "stage": 2,
            "sends": [{"peer": 1, "bytes": 24, "tag": 1, "parity": 1}],
            "receives": [{"peer": 1, "bytes": 24, "tag": 1, "parity": 0}],
        }
    ]


def test_show_leaves_out_the_end_of_a_long_list(capsys):
    _, out, _ = tradewind(
        capsys, "show", "transpose", "--ranks", "40", "--grid", "40x1x40", "--split", "40x1", "--slab", "xz"
    )
    assert "  stage 15\n" in out
    assert "  stage 16\n" not in out
    assert "and 23 more stages; --stage S shows one" in out


def test_show_draws_the_matrix(capsys, tmp_path):
    picture = tmp_path / "matrix.svg"
    code, out, _ = tradewind(
        capsys, "show", "halo", "--ranks", "6", "--grid", "60x50x4", "--picture", str(picture), "--stage", "0"
    )
    assert code == 0
    assert f"picture: {picture}" in out
    assert "sender (rank)" in picture.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rank", "8", "--stage", "3"], ["rank 8: 0..7 are allowed", "stage 3: 0..2 are allowed"]),
        (["--picture", "m.gif"], ["a name that ends in .svg"]),
    ],
)
def test_show_refuses_what_is_not_there(capsys, arguments, words):
    code, _, err = tradewind(capsys, "show", "allreduce", "--ranks", "8", *arguments)
    assert code == 2
    assert all(word in err for word in words)


def test_the_commands_import_nothing_heavy():
    check = (
        "import sys, tradewind.cli.verify, tradewind.cli.show;"
        "print([m for m in ('numpy', 'altair', 'xarray', 'tradewind._core') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True).stdout == "[]\n"
