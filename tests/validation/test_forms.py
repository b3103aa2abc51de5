"""Every simulation that a formula covers takes that long, to the picosecond."""

import pytest
from validation.closed_forms import each, summary
from validation.forms import FORMS, Case, Form

CASES = [(form, case) for form in FORMS for case in form.cases()]


@pytest.mark.parametrize(("form", "case"), CASES, ids=lambda value: getattr(value, "name", None) or value.label)
def test_closed_form(form, case):
    assert case.simulated_ps() == case.expected_ps


def test_a_difference_is_seen():
    """The table is about what the simulator returns, not about what is expected."""
    right = next(FORMS[0].cases())
    wrong = Case(right.label, right.workload, right.machine, right.expected_ps + 7, right.options)
    form = Form("one message", "a wrong one", "nobody", lambda: iter([right, wrong]))
    assert summary(form)["largest difference ps"] == 7
    assert [row["difference ps"] for row in each(form)] == [0, -7]
