"""Skips that are allowed where everything that the tests need is there (conftest.py)."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

VARIABLE = "TRADEWIND_TESTS_MAY_SKIP"
MODULE = """
import pytest

{missing}

def test_runs():
    pass

def test_asks():
    pytest.skip("needs memory")

@pytest.mark.skipif(True, reason="no compiler")
def test_is_marked():
    pass

@pytest.mark.xfail(reason="not yet")
def test_fails_as_expected():
    assert False
"""


@pytest.fixture
def outcomes(pytester, monkeypatch):
    """How tests come out with these settings; may_skip None: the variable is not set."""
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())

    def run(may_skip, missing=""):
        monkeypatch.delenv(VARIABLE, raising=False)
        if may_skip is not None:
            monkeypatch.setenv(VARIABLE, may_skip)
        pytester.makepyfile(MODULE.format(missing=missing))
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:zarr")  # as pyproject.toml does

    return run


@pytest.mark.parametrize(
    ("may_skip", "failed", "errors"),
    [(None, 0, 0), ("", 1, 1), (",", 1, 1), ("memory", 0, 1), ("disk,compiler", 1, 0), ("memory,compiler", 0, 0)],
)
def test_a_skip_is_a_failure_unless_its_reason_is_allowed(outcomes, may_skip, failed, errors):
    """A mark skips before the test, where a failure is an error."""
    result = outcomes(may_skip)
    result.assert_outcomes(passed=1, xfailed=1, failed=failed, errors=errors, skipped=2 - failed - errors)
    assert (result.ret == 0) == (failed + errors == 0)
    if errors:
        result.stdout.fnmatch_lines(["*no compiler*", f"*({VARIABLE}={may_skip!r}: nothing else may be skipped)*"])


@pytest.mark.parametrize(
    "missing", ['pytest.importorskip("no_such_module")', 'pytest.skip("not here", allow_module_level=True)']
)
def test_a_module_that_is_skipped_is_an_error(outcomes, missing):
    outcomes(None, missing).assert_outcomes(skipped=1)
    result = outcomes("memory", missing)
    result.assert_outcomes(errors=1)
    assert result.ret != 0
