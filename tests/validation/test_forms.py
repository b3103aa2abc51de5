"""Every simulation that a formula covers takes that long, to the picosecond."""

import pytest
from validation.closed_forms import each, summary
from validation.forms import FORMS, Case, Form


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_closed_form(form):
    found = [(case.label, case.simulated_ps(), case.expected_ps) for case in form.cases()]
    assert found
    assert [each for each in found if each[1] != each[2]] == []


def test_a_difference_is_seen():
    """The table is about what the simulator returns, not about what is expected."""
    right = next(FORMS[0].cases())
    wrong = Case(right.label, right.workload, right.machine, right.expected_ps + 7, right.options)
    form = Form("one message", "a wrong one", "nobody", lambda: iter([right, wrong]))
    assert summary(form)["largest difference ps"] == 7
    assert [row["difference ps"] for row in each(form)] == [0, -7]
