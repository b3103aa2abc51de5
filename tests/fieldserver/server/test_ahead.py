"""Input files that are read before the model asks for them."""

import threading

import pytest

from tradewind.base.errors import InputError
from tradewind.fieldserver.server.ahead import ReadAhead


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


def test_the_next_file_is_not_read_beside_one_that_the_model_waits_for():
    read, later, begun, goes_on = [], [], threading.Event(), threading.Event()

    def reader(path):
        if path == "a":
            begun.set()
            goes_on.wait()
        read.append(path)
        raise InputError(f"{path}: no such file")

    def waiting():
        with pytest.raises(InputError):
            ahead.get("a", meanwhile=lambda: None)

    def writer():
        for work in later:
            work()

    ahead = ReadAhead(later.append, 2, reader)
    ahead.ask(["a", "b"])
    model, server = threading.Thread(target=waiting), threading.Thread(target=writer)
    model.start()
    begun.wait()
    server.start()
    server.join(0.1)
    assert read == []
    goes_on.set()
    model.join()
    server.join()
    assert read == ["a", "b"]
