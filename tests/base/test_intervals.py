"""Confidence intervals against SciPy's and against closed forms."""

from __future__ import annotations

import importlib
import math
from types import ModuleType

import numpy as np
import pytest

from tradewind.base.intervals import MIN_SAMPLES, exact_ratio, mean_ratio, median_interval, ratio_of_medians


@pytest.fixture(scope="module")
def stats() -> ModuleType:
    """SciPy's statistics: to import them takes longer than all else that is imported when tests are collected."""
    return importlib.import_module("scipy.stats")


@pytest.mark.parametrize("count", [6, 7, 20, 41])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_of_a_median_is_that_of_scipy(stats, count, confidence):
    samples = list(np.random.default_rng(count).lognormal(size=count))
    theirs = stats.quantile_test(samples, q=1.0, p=0.5).confidence_interval(confidence)
    assert median_interval(samples, confidence) == (theirs.low, theirs.high)


def test_few_samples_have_no_interval():
    assert [median_interval([1.0] * n) is None for n in range(MIN_SAMPLES + 2)] == [True] * 6 + [False] * 2
    assert 2 / 2**MIN_SAMPLES < 0.05 < 2 / 2 ** (MIN_SAMPLES - 1)


def test_the_interval_of_a_ratio_is_that_of_all_resamples(stats):
    """Over a constant: a resample's median is at most the k-th of n samples with the probability of a binomial."""
    count = 11
    at_most = stats.binom.sf(count // 2, count, np.arange(1, count + 1) / count)
    low, high = (1 + int(np.searchsorted(at_most, tail)) for tail in (0.025, 0.975))
    ratio = ratio_of_medians([float(k) for k in range(1, count + 1)], [1.0] * count)
    assert (ratio.low, ratio.high) == (low, high) == (3, 9)


def test_a_ratio_is_that_of_the_medians_and_the_same_again():
    new, old = [3.0, 1.0, 2.0, 2.0, 2.5, 1.5], [1.0, 1.0, 1.1, 0.9, 1.0, 1.0]
    ratio = ratio_of_medians(new, old)
    assert ratio.value == 2.0
    assert 1.0 < ratio.low < 2.0 < ratio.high < 3.0
    assert (ratio_of_medians(new, old).low, ratio_of_medians(new, old).high) == (ratio.low, ratio.high)
    assert ratio_of_medians([2.0] * 6, [4.0] * 6).low == 0.5


def test_the_mean_of_ratios_is_geometric():
    assert mean_ratio([exact_ratio(2, 1), exact_ratio(1, 2)]).value == pytest.approx(1)
    measured = ratio_of_medians([3.0, 1.0, 2.0, 2.0, 2.5, 1.5], [1.0] * 6)
    both = mean_ratio([measured, exact_ratio(8, 1)])
    assert both.value == pytest.approx(4)
    assert both.low == pytest.approx(math.sqrt(8 * measured.low), rel=1e-3)
    assert both.high == pytest.approx(math.sqrt(8 * measured.high), rel=1e-3)
    assert mean_ratio([exact_ratio(2, 1)]).resampled is None


def test_resamples_of_cases_are_independent():
    samples = list(np.random.default_rng(1).lognormal(size=20))
    one, other = (ratio_of_medians(samples, samples, case=case).resampled for case in (0, 1))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.1
