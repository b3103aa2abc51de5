"""An error of rank 0 that all ranks raise is printed once."""

import sys

import pytest

from tradewind.base.collective import on_root
from tradewind.base.errors import InputError


class Comm:
    """A communicator whose rank 0 has refused."""

    def __init__(self, rank):
        self.Get_rank = lambda: rank

    def bcast(self, own):
        return None, ["folder out holds steps 0..4 of a run"], ""


def refuse():
    raise InputError("folder out holds steps 0..4 of a run")


@pytest.mark.parametrize(("rank", "printed"), [(0, 1), (1, 0), (5, 0)])
def test_rank_0_alone_prints_an_error_that_ends_all(rank, printed, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "excepthook", lambda *error: shown.append(error))
    with pytest.raises(InputError, match="holds steps") as refused:
        on_root(Comm(rank), refuse)
    sys.excepthook(refused.type, refused.value, refused.tb)
    assert len(shown) == printed
    sys.excepthook(KeyError, KeyError("of this rank"), None)
    assert len(shown) == printed + 1, "other errors are printed by every rank"
