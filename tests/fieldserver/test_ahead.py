"""Input files that are read before the model asks for them."""

import pytest

from tradewind.base.errors import InputError
from tradewind.fieldserver.ahead import ReadAhead


def test_a_file_that_was_not_named_leaves_those_that_were():
    read = []

    def reader(path):
        read.append(path)
        raise InputError(f"{path}: no such file")

    ahead = ReadAhead(lambda work: work(), 2, reader)
    ahead.ask(["a", "b", "c", "d"])
    for path in ("x", "c"):
        with pytest.raises(InputError, match=path):
            ahead.get(path)
    assert sorted(read) == ["a", "b", "c", "d", "x"]
