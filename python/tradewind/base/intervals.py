"""Confidence intervals of medians and of their ratios.

The interval of a median is that of order statistics, which assumes nothing about the distribution of the samples. That
of a ratio of two medians is the percentile interval of a bootstrap, with a seed, so that the same samples give the same
interval. Both treat samples as independent: what differs between two runs, and not within them, they do not contain.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradewind.base.deferred import Deferred

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Deferred("numpy")

CONFIDENCE = 0.95
MIN_SAMPLES = 6
"""Minimum samples of a median that has an interval of 95 %: 2 / 2**6 is the first such term below 5 %."""
RESAMPLES = 4999
SEED = 1


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return the confidence interval of the median, by order statistics; None where the samples are too few."""
    from scipy.special import bdtr

    count = len(samples)
    tails = bdtr(np.arange(count), count, 0.5)  # probability of at most k samples below the median
    cut = int(np.searchsorted(tails, (1 - confidence) / 2, side="right"))
    if not cut:
        return None
    ordered = sorted(samples)
    return ordered[cut - 1], ordered[count - cut]


@dataclass(frozen=True)
class Ratio:
    """The ratio of two medians, its confidence interval, and the ratios of resamples, of which the interval is made.

    Of values without spread the interval is the ratio, and there are no resamples.
    """

    value: float
    low: float
    high: float
    resampled: NDArray[np.float64] | None = None


def ratio_of_medians(
    new: Sequence[float], old: Sequence[float], confidence: float = CONFIDENCE, seed: int = SEED, case: int = 0
) -> Ratio:
    """Return the median of `new` over that of `old`, with the percentile interval of a bootstrap.

    `case`: number of the case, whose resamples are independent of those of others, as `mean_ratio` needs.
    """
    from scipy.stats import bootstrap

    found = bootstrap(
        (new, old),
        lambda x, y, axis: np.median(x, axis=axis) / np.median(y, axis=axis),
        n_resamples=RESAMPLES,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng([seed, case]),
        vectorized=True,
    )
    low, high = found.confidence_interval
    value = statistics.median(new) / statistics.median(old)
    return Ratio(value, float(low), float(high), found.bootstrap_distribution)


def exact_ratio(new: float, old: float) -> Ratio:
    """Return the ratio of two values without spread, such as simulated times; of two zeros, 1."""
    value = new / old if new or old else 1.0
    return Ratio(value, value, value)


def mean_ratio(ratios: Sequence[Ratio], confidence: float = CONFIDENCE) -> Ratio:
    """Return the geometric mean of ratios of independent cases, with the interval that their resamples give."""
    value = math.exp(statistics.fmean(math.log(ratio.value) for ratio in ratios))
    spread = [np.log(ratio.resampled) for ratio in ratios if ratio.resampled is not None]
    if not spread:
        return Ratio(value, value, value)
    exact = sum(math.log(ratio.value) for ratio in ratios if ratio.resampled is None)
    resampled = np.exp((np.sum(spread, axis=0) + exact) / len(ratios))
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Ratio(value, float(low), float(high), resampled)
