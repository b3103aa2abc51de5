from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def ranks_find_the_tests():
    """Let ranks import the modules beside the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        patch.syspath_prepend(str(Path(__file__).parent))
        yield
