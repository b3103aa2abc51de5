"""The limits of findings, on both sides: one rule for each kind of wording of a source.

``docs/reference/study-file.md`` explains why each is what it is.
"""

from __future__ import annotations

from math import inf, sqrt

from tradewind.study.model.study import Finding

WORDINGS: dict[str, tuple[float, float]] = {
    "same": (1.0, 1.1),
    "similar": (1.0, 1.25),
    "slightly": (1.01, 1.25),
    "clearly": (1.1, inf),
    "far": (2.0, inf),
    "order of magnitude": (sqrt(10), 10 * sqrt(10)),
    "no worse": (1 / 1.1, inf),
}
"""The smallest and the largest ratio of the greater to the lesser value, or of the other curve to this one."""
ABOUT = 0.2
"""The fraction by which a value may differ from one that was published with "about"; without it, `tolerance`."""
GAIN_TOLERANCE = 0.2
"""The fraction of itself by which a gain may differ: it is a difference of two values, so twice that of a value."""


def ratio_limits(finding: Finding) -> tuple[float, float]:
    """Return the smallest and the largest ratio of a finding that names a wording, or else its `factor`."""
    return WORDINGS[finding.wording] if finding.wording else (finding.factor, inf)


def likeness_limits(finding: Finding) -> tuple[float, float]:
    """Return the smallest and the largest ratio of a finding that names a wording, or else its `tolerance`."""
    return WORDINGS[finding.wording] if finding.wording else (1.0, 1 + finding.tolerance)


def tolerance_of(finding: Finding) -> float:
    """Return the fraction by which a value may differ from the published one."""
    return ABOUT if finding.wording else finding.tolerance


def value_limits(finding: Finding) -> tuple[float, float]:
    """Return the smallest and the largest value, or ratio, that agree with what was published."""
    if finding.gain is not None:
        return _limits(finding.gain, GAIN_TOLERANCE, 1.0)
    if finding.value is None:
        assert finding.wording is not None
        low, high = WORDINGS[finding.wording]
        return (1 / high if low == 1.0 else low), high
    return _limits(finding.value, tolerance_of(finding), 0.0)


def _limits(published: float | tuple[float, float], tolerance: float, base: float) -> tuple[float, float]:
    """Limits around a value; those of a span are its own."""
    if isinstance(published, tuple):
        return base + published[0], base + published[1]
    return base + published * (1 - tolerance), base + published * (1 + tolerance)
