"""Columns of a page come out of their block as they went in."""

from __future__ import annotations

import math

from tradewind.report.pack import Pack, opened


def test_columns_come_out_as_they_went_in() -> None:
    pack = Pack()
    header = {
        "numbers": pack.numbers([1.5, None, -2e-9]),
        "integers": [pack.integers(values) for values in ([0, 255], [0, 256], [70_000], [])],
        "texts": pack.texts(["ring-1", "µs </script>", "ring-1"]),
        "lists": pack.lists([[3, 1], [], [2]]),
        "plain": {"a": [1, "b", None]},
    }
    assert [column["type"] for column in header["integers"]] == ["uint8", "uint16", "uint32", "uint8"]
    found = opened(pack.closed(header))
    first, missing, last = found["numbers"]
    assert (first, last) == (1.5, -2e-9)
    assert math.isnan(missing)
    assert found["integers"] == [[0, 255], [0, 256], [70_000], []]
    assert found["texts"] == ["ring-1", "µs </script>", "ring-1"]
    assert found["lists"] == [[3, 1], [], [2]]
    assert found["plain"] == {"a": [1, "b", None]}
