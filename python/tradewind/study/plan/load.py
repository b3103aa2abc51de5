"""Reads a study file and reports everything that is wrong with it at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import prod
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place, TomlFile
from tradewind.dwarfs import DWARFS, find
from tradewind.machine import machine_names
from tradewind.study.claims.finding import COMPANIONS, CURVES, OPTIONAL, TESTS, WORDED, experiment_of
from tradewind.study.claims.remarks import name_problems
from tradewind.study.model.base_model import Base
from tradewind.study.model.dwarf_keys import all_dwarf_keys, dwarf_keys, unused_dwarf_keys
from tradewind.study.model.labels import LABELS
from tradewind.study.model.like import Problem, reported, with_likes
from tradewind.study.model.machine_keys import OnMachine
from tradewind.study.model.output_model import OutputSweep
from tradewind.study.model.pattern_keys import pattern_keys, swept_patterns, unused_keys
from tradewind.study.model.program_model import FULL, PLAIN, ProgramSweep
from tradewind.study.model.study import (
    KINDS,
    Finding,
    Headline,
    MeasureSweep,
    Plot,
    PublishedSweep,
    RunSweep,
    SimulateSweep,
    Study,
    ValueOf,
    VerifySweep,
)
from tradewind.study.model.study_file import StudyFile
from tradewind.study.model.trace_sweep import TraceSweep
from tradewind.study.model.values import RUN_QUICK_KEYS, listed
from tradewind.study.model.weather_model_sweep import WeatherModelSweep
from tradewind.study.plan.model_problems import located, located_trace, model_problems, same_names, trace_problems
from tradewind.workload.options import Option
from tradewind.workload.program_tables import FileStep, NamedExchange
from tradewind.workload.registry import pattern_named

SWEEPS: dict[str, type[BaseModel]] = {
    "verify": VerifySweep,
    "measure": MeasureSweep,
    "simulate": SimulateSweep,
    "run": RunSweep,
    "program": ProgramSweep,
    "model": WeatherModelSweep,
    "output": OutputSweep,
    "trace": TraceSweep,
    "published": PublishedSweep,
}

SHAPES = ("falls", "rises", "flatter", "jumps", "passes")
MACHINE_KEYS = (*OnMachine.model_fields, "nodes", "point_time")
"""The keys of a sweep of runs for the use of a simulated machine."""

NO_CAUSE = ("data", "unexplained")
"""Values of `decided_by` of a claim that has no cause."""
_TABLES = [(name,) for name in ("base", "sweep", "plot", "finding")]
_MAX_MISTAKES = 40
"""Maximum invalid names of a sweep that are listed; the others are listed when these are corrected."""
MAX_CASES = 100_000
"""Maximum cases per study: planning more would take hours."""


def load_study(path: Path | str, text: str | None = None, *, is_copy: bool = False) -> StudyFile:
    """Reads a study file (or `text`, as if it stood in `path`). Raises InputError with all of its problems.

    `is_copy`: of a results folder, beside which no other studies lie.
    """
    file = TomlFile(path, text)
    data, of_likes, incomplete = with_likes(file)
    for _, sweep in _tables(data, "sweep"):
        if "weather_model" in sweep:
            sweep["weather_model"] = [located(name, file.path.parent) for name in listed(sweep["weather_model"])]
        if "trace" in sweep:
            sweep["trace"] = [located_trace(name, file.path.parent) for name in listed(sweep["trace"])]
    problems: list[Problem] = []
    study, more = None, list[str]()
    try:
        study = Study.model_validate(data)
    except ValidationError as error:
        mistakes, more = file.first(error.errors(include_url=False), _place)
        problems += [_problem(details, data) for details in mistakes]
    problems += [
        *_cross_checks(data),
        *([] if is_copy else [*_models(data), *_traces(data)]),
        *_shown_problems(data, file.path.parent, is_copy=is_copy),
    ]
    if problems or study is None:
        problems += _unknown_machines(data)  # else planning reads the machines and reports all about them
        problems = of_likes + [problem for problem in problems if problem[0][:2] not in incomplete]
        raise InputError(*reported(file, problems), *more)
    if many := _too_many(study):
        raise InputError(*(file.at(("sweep", i), problem) for i, problem in many))
    return StudyFile(study, file)


def _too_many(study: Study) -> list[tuple[int, str]]:
    """Each sweep of a study that has more cases than can be planned."""
    counts = [_max_cases(sweep, max(1, len(study.base))) for sweep in study.sweep]
    if sum(counts) <= MAX_CASES:
        return []
    allowed = f"{MAX_CASES} are allowed in a study: name fewer values, or divide it"
    return [
        (i, f"sweep {i + 1}: {n} of {sum(counts)} cases; {allowed}") for i, n in enumerate(counts) if n == max(counts)
    ]


def _max_cases(sweep: BaseModel, bases: int) -> int:
    """Return the number of cases of a sweep under `bases` bases: every list multiplies them."""
    if isinstance(sweep, PublishedSweep):
        return len(sweep.ranks)
    values = {key: getattr(sweep, key) for key in type(sweep).model_fields if key not in ("step", "exchange")}
    count = prod(len(value) for value in values.values() if isinstance(value, list))
    for key in ("set", "numbers"):
        count *= prod(len(each) for each in values.get(key, {}).values())
    if isinstance(sweep, OnMachine) and getattr(sweep, "machine", None):
        count *= bases if sweep.base is None else 1
    splits = values.get("split")
    return count * (max(map(len, splits.values()), default=1) if isinstance(splits, dict) else 1)


def _problem(details: ErrorDetails, data: dict[str, Any]) -> Problem:
    """One error of pydantic, in our words."""
    place = _place(details["loc"])
    kind, value, key = details["type"], details["input"], str(details["loc"][-1])
    context = details.get("ctx", {})
    if kind == "extra_forbidden" and place[0] == "sweep" and key == "base":
        text = "base belongs to sweeps that simulate, and not to one of kind " + data["sweep"][place[1]]["kind"]
    elif kind == "extra_forbidden":
        text = unknown("key", key, _known_keys(place, data))
    elif kind == "missing":
        place, text = place[:-1], f"key {key!r} is missing"
    elif kind == "union_tag_not_found":
        text = f"key 'kind' is missing (known: {', '.join(KINDS)})"
    elif kind == "union_tag_invalid":
        place, text = (*place, "kind"), unknown("kind", str(context["tag"]), KINDS)
    elif kind == "value_error":
        text = str(context["error"])
    elif kind == "too_short":
        text = f"{key} is empty: 1 or more are needed"
    elif kind == "greater_than_equal":
        text = f"{_name(place)} {value!r}: {context['ge']} or more are allowed"
    elif kind == "list_type" and place in _TABLES:
        text = f"{key} is one table here: write [[{key}]], a table for each"
    elif place[2:3] == ("remark",) and kind in ("string_type", "dict_type"):
        place = place[:3] if kind == "dict_type" else place
        text = "remark: a text is allowed, or a table with a text for each base"
    elif kind == "string_type":
        like = "" if isinstance(value, list | dict) else f', like "{value}"'
        text = f"{_name(place)} {value!r}: {'one ' if not like else ''}text is allowed{like}"
    elif kind == "string_too_short":
        text = f"{key} is empty: text is needed"
    elif place[2:3] == ("values",) and kind in ("dict_type", "model_type", "model_attributes_type"):
        like = '{ of = { ranks = 100 }, quantity = "time" }'
        like = f"{{ name = {like} }}" if key == "values" else like
        text = f"{_name(place)} {value!r}: a table is allowed, like {like}"
    else:
        text = f"{_name(place)} {value!r}: {details['msg'][0].lower()}{details['msg'][1:]}"
    return place, text


def _place(location: tuple[int | str, ...]) -> Place:
    """The place in the file that a location of pydantic means: the tag of the union and the like are left out."""
    if location[0] == "sweep" and len(location) > 2 and location[2] in KINDS:
        location = (*location[:2], *location[3:])
    return tuple(part for part in location if part not in ("[key]", PLAIN, FULL))


def _name(place: Place) -> str:
    return next((str(part) for part in reversed(place) if isinstance(part, str)), "value")


def _known_keys(place: Place, data: dict[str, Any]) -> Iterable[str]:
    if place[0] == "headline" and len(place) > 1:
        return (ValueOf if place[1] == "values" else Headline).model_fields
    if len(place) < 3:
        return Study.model_fields
    if place[0] == "sweep":
        sweep = data["sweep"][place[1]]
        if "step" in place:
            return FileStep.model_fields
        if "exchange" in place:
            return NamedExchange.model_fields
        pattern, dwarf = str(sweep.get("pattern")), str(sweep.get("dwarf"))
        unused = unused_keys(pattern) if pattern in swept_patterns() else set()
        unused |= unused_dwarf_keys(dwarf) if dwarf in DWARFS else set()
        return ["like", *(key for key in SWEEPS[sweep["kind"]].model_fields if key not in unused)]
    if place[2] == "values":
        return ValueOf.model_fields
    tables: dict[str, type[BaseModel]] = {"plot": Plot, "base": Base}
    return tables.get(str(place[0]), Finding).model_fields


def _tables(data: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    tables = data.get(name, [])
    if isinstance(tables, list):
        yield from ((i, table) for i, table in enumerate(tables) if isinstance(table, dict))


def _cross_checks(data: dict[str, Any]) -> list[Problem]:
    """Return problems of names that must fit one another."""
    problems: list[Problem] = []
    names: list[str] = []
    bases = [str(base.get("name")) for _, base in _tables(data, "base")]
    for i, name in enumerate(bases):
        if name in bases[:i]:
            problems.append((("base", i, "name"), f"another base is called {name!r}"))
    for i, base in _tables(data, "base"):
        problems += [(("base", i, *place), text) for place, text in _special_names(base, data)]
    for i, sweep in _tables(data, "sweep"):
        of_sweep = islice(chain(_sweep_problems(sweep, bases), _base_problems(sweep, bases)), _MAX_MISTAKES)
        problems += [(("sweep", i, *place), text) for place, text in of_sweep]
        if sweep.get("name") in names:
            problems.append((("sweep", i, "name"), f"another sweep is called {sweep['name']!r}"))
        names.append(str(sweep.get("name")))
    if isinstance(headline := data.get("headline"), dict):
        checks = list(name_problems(headline, "text"))
        for place, selection in _selections(headline):
            checks += _selection_problems(place, selection, names, bases)
        problems += [(("headline", *place), text) for place, text in checks]
    for kind in ("plot", "finding"):
        for i, table in _tables(data, kind):
            checks = _finding_problems(table) if kind == "finding" else _plot_problems(table)
            for place, selection in _selections(table):
                checks += _selection_problems(place, selection, names, bases)
            problems += [((kind, i, *place), text) for place, text in checks]
    return problems


def _special_names(base: dict[str, Any], data: dict[str, Any]) -> Iterator[Problem]:
    """Machines and routings of a base that no sweep of any study could have. Those of other sweeps are allowed: the
    studies of a folder may share their bases."""
    of_sweeps = {str(name) for _, sweep in _tables(data, "sweep") for _, name in _values(sweep, "machine")}
    machines = [*machine_names(), *sorted(of_sweeps - set(machine_names()))]
    routings = [*dict.fromkeys(entry.name for entry in _core.routings())]
    for key, what, known in (("machine_set", "machine", machines), ("routing_set", "routing", routings)):
        special = base.get(key)
        for name in special if isinstance(special, dict) else ():
            if name not in known:
                yield (key, name), f"{key}: " + unknown(what, name, known)


def _unknown_machines(data: dict[str, Any]) -> Iterator[Problem]:
    for i, sweep in _tables(data, "sweep"):
        for place, name in _values(sweep, "machine"):
            if isinstance(name, str) and not name.endswith(".toml") and name not in machine_names():
                yield ("sweep", i, *place), unknown("machine", name, machine_names())


def _models(data: dict[str, Any]) -> Iterator[Problem]:
    paths: dict[str, str] = {}
    kept: dict[str, str] = {}
    for i, sweep in _tables(data, "sweep"):
        if sweep.get("kind") == "model":
            yield from ((("sweep", i, *place), text) for place, text in model_problems(sweep, kept))
            yield from ((("sweep", i, *place), text) for place, text in same_names(sweep, "weather_model", paths))


def _traces(data: dict[str, Any]) -> Iterator[Problem]:
    paths: dict[str, str] = {}
    for i, sweep in _tables(data, "sweep"):
        if sweep.get("kind") == "trace":
            yield from ((("sweep", i, *place), text) for place, text in trace_problems(sweep))
            yield from ((("sweep", i, *place), text) for place, text in same_names(sweep, "trace", paths))


def _base_problems(sweep: dict[str, Any], bases: list[str]) -> Iterator[Problem]:
    for place, name in _values(sweep, "base"):
        if not bases:
            yield place, f"base {name!r}: the study has none, that is no [[base]]"
        elif isinstance(name, str) and name not in bases:
            yield place, unknown("base", name, bases)


def _sweep_problems(sweep: dict[str, Any], bases: list[str]) -> Iterator[Problem]:
    pattern, kind = sweep.get("pattern"), sweep.get("kind")
    if kind in ("run", "published"):
        yield from _dwarf_problems(sweep, bases)
        return
    if kind in ("program", "model", "output", "trace"):
        yield from _quick_problems(sweep, bases)
    if kind in ("program", "model"):
        yield from _split_names(sweep)
    if pattern not in swept_patterns():
        return
    for key in sorted(unused_keys(pattern) & set(sweep)):
        yield (key,), f"{key} does not apply to {pattern}: leave it out"
    if "grid" in pattern_keys(pattern) and "grid" not in sweep:
        yield (), f"a {pattern} needs a grid, like 602x568x60"
    for place, name in _values(sweep, "algorithm"):
        if isinstance(name, str) and (text := _algorithm_problem(pattern, name, kind)):
            yield place, text
    yield from _quick_problems(sweep, bases)
    yield from _split_names(sweep)


def _split_names(sweep: dict[str, Any]) -> Iterator[Problem]:
    split, ranks = sweep.get("split"), [value for _, value in _values(sweep, "ranks")]
    if isinstance(split, dict):
        for key in split:
            if key.isascii() and key.isdigit() and key not in map(str, ranks):
                yield ("split", key), f"split names {key} ranks, which ranks does not ({ranks})"


def _dwarf_problems(sweep: dict[str, Any], bases: list[str]) -> Iterator[Problem]:
    dwarf = sweep.get("dwarf")
    if isinstance(dwarf, str) and dwarf in DWARFS:
        known = find(dwarf).strategies
        for place, name in _values(sweep, "strategy"):
            if isinstance(name, str) and name not in known:
                yield place, unknown("strategy", name, known)
        for key in sorted(unused_dwarf_keys(dwarf) & set(sweep)):
            yield (key,), f"{key} does not apply to {dwarf}: leave it out"
        for key, each in dwarf_keys(dwarf).items():
            if each.required and key not in sweep:
                yield (), f"key {key!r} is missing"
            if each.kind != all_dwarf_keys()[key].kind or each.kind == "extents":
                for place, value in _values(sweep, key):
                    yield from ((place, problem) for problem in _unread(each, value))
    if sweep.get("kind") == "run" and "machine" not in sweep:
        for key in MACHINE_KEYS:
            if key in sweep:
                yield (key,), f"{key} needs a machine, and none is named"
    yield from _quick_problems(sweep, bases)


def _unread(option: Option, value: Any) -> list[str]:
    """Problems of a value that means something to another dwarf."""
    try:
        return option.wrong(option.read(value)) if isinstance(value, str) else []
    except InputError as error:
        return list(error.problems)


def _quick_problems(sweep: dict[str, Any], bases: list[str]) -> Iterator[Problem]:
    quick = sweep.get("quick")
    if not isinstance(quick, dict):
        return
    for key in quick:
        known = [value for _, value in _values(sweep, key)]
        if key == "base" and key not in sweep:
            known = list(bases)  # which are all made where a sweep names none
        for place, value in _values(quick, key):
            if key in RUN_QUICK_KEYS and value not in known:
                yield ("quick", *place), f"quick: {key} {value!r} is not among those of the sweep ({known})"


def _values(table: dict[str, Any], key: str) -> Iterator[tuple[Place, Any]]:
    value = table.get(key, [])
    if not isinstance(value, list):
        yield (key,), value
        return
    for i, item in enumerate(value):
        yield (key, i), item


def _algorithm_problem(pattern: str, name: str, kind: str | None) -> str | None:
    """Return the problem of an algorithm's name; its radix is checked case by case."""
    core = pattern_named(pattern).core_pattern
    entries = {entry.name: entry for entry in _core.algorithms() if entry.pattern == core}
    base, _, radix = (name, "", "") if f"{name}-k" in entries else name.rpartition("-")
    with_radix = entries.get(f"{base}-k")
    if name == "native" and kind in ("verify", "simulate"):
        return f"only the MPI library knows its native algorithm: {kind} one of {', '.join(entries)}"
    if (name in entries and not entries[name].has_radix) or name == "native":
        return None
    if with_radix is None:
        return unknown(f"{pattern} algorithm", name, [*entries, *(["native"] if kind == "measure" else [])])
    if not (radix.isascii() and radix.isdigit()):
        return f"algorithm {name!r}: {base} needs a radix, a whole number like {base}-2"
    return None


def _plot_problems(plot: dict[str, Any]) -> list[Problem]:
    problems: list[Problem] = [
        ((key,), unknown("label", str(plot[key]), LABELS))
        for key in ("curve", "panel", "along")
        if isinstance(plot.get(key), str) and plot[key] not in LABELS
    ]
    kind, quantity = plot.get("kind", "time"), plot.get("quantity", "time")
    if kind != "time" and "over" in plot:
        problems.append((("over",), f"over belongs to plots of kind time, and not to {kind}"))
    if kind != "time" and quantity != "time" and (kind, quantity) != ("bars", "step-time"):
        problems.append((("quantity",), f"quantity {quantity} belongs to plots of kind time, and not to {kind}"))
    return problems


def _finding_problems(finding: dict[str, Any]) -> list[Problem]:
    tests = [test for test in TESTS if test in finding]
    if len(tests) != 1:
        return [((), f"one test is needed, not {len(tests)} (known: {', '.join(TESTS)})")]
    problems: list[Problem] = list(name_problems(finding))
    if isinstance(same := finding.get("same"), list) and len(same) < 2:
        problems.append((("same",), "same compares 2 or more selections"))
    needed = COMPANIONS.get(tests[0], ())
    for key in needed:
        if key not in finding:
            problems.append(((tests[0],), f"{tests[0]} needs {key}"))
    for key in ("than", "between", "share", "offsets", "level", "value", "gain", "taken", "by"):
        if key in finding and key not in (*needed, *OPTIONAL.get(tests[0], ())):
            owners = [test for test in TESTS if key in (*COMPANIONS.get(test, ()), *OPTIONAL.get(test, ()))]
            problems.append(((key,), f"{key} belongs to {' or '.join(owners)}, and not to {tests[0]}"))
    if "along" in finding and tests[0] not in CURVES:
        problems.append((("along",), f"along belongs to tests of curves, {', '.join(CURVES)}, and not to {tests[0]}"))
    compared = [key for key in ("gain", "wording") if key in finding and finding[key] != "about"]
    if tests[0] == "near" and len(compared) + ("value" in finding) != 1:
        problems.append((("near",), "near needs one of value, gain and wording"))
    if tests[0] == "near" and compared and "than" not in finding:
        problems.append(((compared[0],), f"{compared[0]} needs than, the curve that is compared with"))
    problems += _wording_problems(finding, tests[0])
    if tests[0] == "delays" and ("below" in finding) == ("above" in finding):
        problems.append((("delays",), "delays needs below or above, and not both"))
    if "shown" in finding and "cause" not in finding:
        problems.append((("shown",), "shown needs cause: what the experiments show"))
    if "cause" in finding and finding.get("decided_by") in NO_CAUSE:
        problems.append((("cause",), f"cause: a claim that is decided by {finding['decided_by']!r} has none"))
    for key in ("apart", "best", "by"):
        if key in finding and str(finding[key]) not in LABELS:
            problems.append(((key,), unknown("label", str(finding[key]), LABELS)))
    return problems


def _wording_problems(finding: dict[str, Any], test: str) -> list[Problem]:
    if "wording" not in finding:
        return []
    problems: list[Problem] = []
    if test not in WORDED:
        problems.append((("wording",), f"wording belongs to {' or '.join(WORDED)}, and not to {test}"))
    elif finding["wording"] not in WORDED[test]:
        problems.append((("wording",), unknown(f"wording of {test}", str(finding["wording"]), WORDED[test])))
    elif test == "best" and "median" not in finding:
        problems.append((("wording",), "wording of best needs median, to which it belongs"))
    problems += [((key,), f"{key}: wording sets the limits") for key in ("factor", "tolerance") if key in finding]
    return problems


def _shown_problems(data: dict[str, Any], folder: Path, *, is_copy: bool) -> Iterator[Problem]:
    """Return names of experiments that no finding, or more than one, has. Other studies than a copied one are not
    checked."""
    own = [str(finding.get("figure")) for _, finding in _tables(data, "finding")]
    for i, finding in _tables(data, "finding"):
        for place, name in _values(finding, "shown"):
            study, figure = experiment_of(str(name), own)
            other = folder / f"{study}.toml"
            if study and not other.is_file():
                if not is_copy:
                    yield (
                        ("finding", i, *place),
                        f"shown: no figure {name!r} is in this study, and no {other.name} beside it",
                    )
                continue
            known = [str(each.get("figure")) for _, each in _tables(TomlFile(other).data, "finding")] if study else own
            text = f"shown: {known.count(figure)} findings have the figure {figure!r}: one is needed"
            if known.count(figure) != 1:
                yield ("finding", i, *place), text if figure in known else "shown: " + unknown("figure", figure, known)


def _selections(table: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    for key in (
        "of",
        "over",
        "where",
        "than",
        "better",
        "order",
        "same",
        "crosses",
        *SHAPES,
        "near",
        "delays",
        "alike",
        "bands",
        "proved",
        "predicts",
        "ranked",
    ):
        for place, value in _values(table, key):
            if isinstance(value, dict):
                yield place, value
    values = table.get("values")
    for name, each in values.items() if isinstance(values, dict) else ():
        for key in ("of", "over"):
            if isinstance(each, dict) and isinstance(each.get(key), dict):
                yield ("values", name, key), each[key]


def _selection_problems(place: Place, selection: dict[str, Any], sweeps: list[str], bases: list[str]) -> list[Problem]:
    problems: list[Problem] = [((*place, key), unknown("label", key, LABELS)) for key in selection if key not in LABELS]
    for value_place, name in _values(selection, "sweep"):
        if name not in sweeps:
            problems.append(((*place, *value_place), unknown("sweep", str(name), dict.fromkeys(sweeps))))
    problems += (((*place, *within), text) for within, text in _base_problems(selection, bases))
    return problems
