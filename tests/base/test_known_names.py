"""Error texts for unknown names."""

from tradewind.base.names import unknown


def test_the_nearest_name_is_told_and_each_known_one_once():
    assert unknown("sink", "histori", ["history", "a", "history"]) == (
        "unknown sink 'histori'; did you mean 'history'? (known: history, a)"
    )
    assert unknown("sink", "b", ["a"]) == "unknown sink 'b' (known: a)"
    assert unknown("field", "t", []) == "unknown field 't'; there is none"
