"""Simulated times beside formulas: ``python -m validation.closed_forms [--all] [--json]``.

A row is a formula, the number of simulations that it was held against, the range of their times and the largest
difference; ``--all`` prints a row a simulation. L is a head's time from NIC to NIC, l the latency of a link, m the
bytes of a message, G the time for a byte, n the ranks, o an overhead, g = max(o, m G), h a header, B a bandwidth.
"""

from __future__ import annotations

from collections.abc import Iterator

from validation.forms import FORMS, Form
from validation.table import parser, print_rows


def summary(form: Form) -> dict[str, object]:
    """A form, its cases taken together."""
    times = [(case.simulated_ps(), case.expected_ps) for case in form.cases()]
    simulated = [time for time, _ in times]
    return {
        "what": form.name,
        "formula": form.formula,
        "source": form.source,
        "cases": len(times),
        "from us": min(simulated) / 1e6,
        "to us": max(simulated) / 1e6,
        "largest difference ps": max(abs(time - expected) for time, expected in times),
    }


def each(form: Form) -> Iterator[dict[str, object]]:
    """The cases of a form, one by one."""
    for case in form.cases():
        time = case.simulated_ps()
        yield {
            "what": form.name,
            "case": case.label,
            "simulated ps": time,
            "formula ps": case.expected_ps,
            "difference ps": time - case.expected_ps,
        }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--all", action="store_true", help="a row a simulation")
    asked = options.parse_args()
    rows = [row for form in FORMS for row in (each(form) if asked.all else (summary(form),))]
    print_rows(rows, asked.json)


if __name__ == "__main__":
    main()
