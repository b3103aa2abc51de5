"""A comparison of two results in words: which is faster, by what factor, and how sure that is."""

from __future__ import annotations

from tradewind.base.intervals import MIN_SAMPLES, Ratio
from tradewind.base.ranking import factor, listed
from tradewind.base.units import format_bytes
from tradewind.dataset.claim_changes import claim_sentences
from tradewind.dataset.comparison import APART, EQUAL, FASTER, SLOWER, TOO_FEW, UNDECIDED, Compared, Comparison
from tradewind.dataset.machine_values import MachineComparison
from tradewind.study.model.labels import LABELS

SIZE = "message_bytes"


def sentences(comparison: Comparison, old: str, new: str) -> list[str]:
    """Return the result in sentences, the answer first. `old`, `new`: names of the results."""
    found = [_answer(comparison, old, new), _counts(comparison)]
    found += [_slowest(comparison)] if comparison.too_slow else []
    found += [_differences(comparison)] if comparison.differences else []
    if comparison.only_old or comparison.only_new:
        found.append(
            f"left out, as only one result has them: {_cases(len(comparison.only_old))} of {old}, "
            f"{_cases(len(comparison.only_new))} of {new}"
        )
    return found + claim_sentences(comparison.claims, old, new)


def _answer(comparison: Comparison, old: str, new: str) -> str:
    judged, mean = comparison.judged, comparison.mean
    over = "" if len(judged) == 1 else f" on average over {_cases(len(judged))}"
    if not all(case.sure for case in judged):
        sure = "these files keep no samples, so how sure this is cannot be computed"
    elif mean.resampled is None:
        sure = "simulated times have no spread"
    else:
        sure = f"{percent(comparison.confidence)} confidence: {interval_text(mean)}"
    ratio = f"ratio of times {mean.value:.3f}; {sure}"
    if mean.low <= 1 <= mean.high:
        same = "takes as long as" if mean.resampled is None else "cannot be distinguished from"
        return f"{new} {same} {old}{over} ({ratio})"
    faster, slower, by = (new, old, 1 / mean.value) if mean.value < 1 else (old, new, mean.value)
    return f"{faster} is {_factor(by)} times as fast as {slower}{over} ({ratio})"


def interval_text(ratio: Ratio) -> str:
    """Return the interval of a ratio."""
    return f"{ratio.low:.3f} to {ratio.high:.3f}"


def percent(value: float) -> str:
    """Return a fraction as a sentence has it."""
    return f"{100 * value:.3g} %"


def _factor(value: float) -> str:
    return factor(value) if value >= 1.1 else f"{value:.3f}"


def _counts(comparison: Comparison) -> str:
    parts = [f"{comparison.count(verdict)} {verdict}" for verdict in (FASTER, SLOWER, EQUAL, UNDECIDED)]
    parts = [part for part in parts if not part.startswith("0 ")]
    if few := comparison.count(TOO_FEW):
        parts.append(f"{few} with too few samples ({MIN_SAMPLES} of each are needed)")
    return f"cases: {', '.join(parts)}"


def _slowest(comparison: Comparison) -> str:
    worst = max(comparison.too_slow, key=lambda case: case.ratio.value)
    name = case_name(comparison, worst)
    return (
        f"slower by more than {percent(comparison.threshold)}: {_cases(len(comparison.too_slow))}; "
        f"the slowest took {_factor(worst.ratio.value)} times as long" + (f" ({name})" if name else "")
    )


def _differences(comparison: Comparison) -> str:
    found = [f"{label} {old} and {new}" for label, (old, new) in comparison.differences.items()]
    return f"the results differ as a whole in {listed(found)}"


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def varying(comparison: Comparison) -> list[str]:
    """Return the labels in which the cases of a comparison differ from each other.

    The size of messages stands for the labels that follow from it, such as the grid.
    """
    labels = [label for label in (*APART, *LABELS) if label not in ("sweep", "exchange")]
    cases = [case.new for case in comparison.cases]
    found = [label for label in labels if len({case.get(label) for case in cases}) > 1]
    if SIZE not in found:
        return found
    sizes = len({case.get(SIZE) for case in cases})
    return [each for each in found if each == SIZE or len({(case.get(SIZE), case.get(each)) for case in cases}) > sizes]


def label_text(label: str, value: str) -> str:
    """Return the value of a label for a reader."""
    return format_bytes(int(value)) if label == SIZE else value


def case_name(comparison: Comparison, case: Compared) -> str:
    """Return the labels by which a case differs from the others of a comparison."""
    found = ((label, case.new.get(label)) for label in varying(comparison))
    return ", ".join(
        f"{label.replace('_', ' ')} {label_text(label, value)}" for label, value in found if value is not None
    )


def machine_sentences(comparison: MachineComparison, old: str, new: str) -> list[str]:
    """Return the differences of two machine files in sentences, the answer first."""
    slowdowns = [each.slowdown for each in comparison.differences if each.slowdown is not None]
    worse = sum(slowdown > 1 for slowdown in slowdowns)
    if not comparison.differences:
        return [f"{new} and {old} have the same {comparison.equal} values"]
    values = len(comparison.differences) + comparison.equal
    found = [f"{len(comparison.differences)} of {values} values of {old} and {new} differ"]
    if slowdowns:
        found.append(f"rates and times of {new}: {worse} worse, {len(slowdowns) - worse} better")
        found.append("machine files keep one value each, so how sure this is cannot be computed from them")
    if comparison.too_slow:
        found.append(f"worse by more than {percent(comparison.threshold)}: {len(comparison.too_slow)}")
    return found
