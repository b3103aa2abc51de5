from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.fixture(autouse=True, scope="session")
def processes_find_the_tests():
    """What the processes of a shared simulation run lies beside the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{TESTS}:{TESTS.parent}")
        yield
