import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def ranks_find_the_tests():
    """Let ranks import the modules beside the tests."""
    with pytest.MonkeyPatch.context() as patch:
        here = Path(__file__).parent
        patch.setenv("PYTHONPATH", f"{here}{os.pathsep}{here.parent}")
        patch.syspath_prepend(str(here))
        yield
