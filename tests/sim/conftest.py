from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.fixture(autouse=True, scope="module")
def processes_find_the_tests():
    """Their programs lie beside the tests, and in the package validation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ":".join(str(path) for path in (TESTS, TESTS.parent, TESTS.parent.parent)))
        yield
