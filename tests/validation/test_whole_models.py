"""The questions about published times of whole models, the predictions, and the published values beside them."""

import hashlib

import pytest
from validation.published import MARKS, filled
from validation.whole_models import compare
from validation.whole_models.experiments import ATS, CHANGES
from validation.whole_models.predictions import FILE, asked, prediction, read, simulate
from validation.whole_models.questions import MODELS, content, device_settings, questions

from tradewind.machine import load_machine
from tradewind.model import load_model

DIGEST = "86785835e4ca5962205cdec007173f2f595d7ccc627d7a96dc33292b9c6d8e31"
NAMES = sorted(path.stem for path in MODELS.glob("*.toml"))
ASKED = {(question.id, question.what, nodes): question for question in questions() for nodes in question.nodes}


def test_questions_name_files_and_sources_that_are_there():
    entries = [*content()["question"], *content()["not_askable"]]
    assert {entry["source"] for entry in entries} <= set(content()["sources"])
    assert {question.model for question in questions()} == set(NAMES)
    for machine in {question.machine for question in questions()}:
        load_machine(machine, device_settings(machine))
    assert set(content()["devices"]) <= {question.machine for question in questions()}
    assert not {entry["id"] for entry in content()["question"]} & {entry["id"] for entry in content()["not_askable"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_has_its_parts_and_assumed_numbers_have_others_beside_them(name):
    model = load_model(MODELS / f"{name}.toml")
    assert not [key for key, each in model.table.numbers.items() if each.assumed and not each.varied]
    parts = set(model.program(16, every=None).parts)
    without = {part for question in questions() if question.model == name for part in question.without}
    assert without < parts


def test_the_predictions_are_those_that_were_committed_before_the_answers():
    """A later prediction needs a file of its own."""
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == DIGEST
    assert set(read()) <= set(ASKED)


def test_a_prediction_is_reproduced():
    """A machine file or the simulator that changes leaves the predictions of before it wrong."""
    case, (question, *_) = next((case, found) for case, found in asked().items() if case.model == "nemo-gyre150")
    made = prediction(question, case, simulate(case))
    assert made.figure == pytest.approx(read()[made.at].figure, rel=1e-4)


def test_a_published_value_is_of_a_prediction_and_has_a_source():
    predicted = {at: each.unit for at, each in read().items()}
    for each in compare.measured():
        assert predicted[each.at] == each.unit
        assert each.source.split(":")[0] == ASKED[each.at].source
        assert not each.known or ASKED[each.at].known, "nothing was known of it"
    assert len({(each.at, each.variant) for each in compare.measured()}) == len(compare.measured())


def test_factors_are_of_times():
    """Days per day count by their inverse: P86 was predicted at 295.581 and published as 48."""
    factors = {row.prediction.at: row.factor for row in compare.compared()}
    assert factors["P86", "whole model", 1024] == pytest.approx(48 / 295.581)


def test_the_page_has_the_factors():
    text = compare.PAGE.read_text(encoding="utf-8")
    assert text == filled(text, compare.SECTIONS), "run  python -m validation.whole_models compare"
    assert {name for _, name, _ in MARKS.findall(text)} == {*compare.SECTIONS, "experiments"}


def test_a_change_is_of_what_the_machines_and_models_have():
    for change in CHANGES:
        for machine, settings in change.settings.items():
            load_machine(machine, device_settings(machine) | settings)
        for name, numbers in change.numbers.items():
            load_model(MODELS / f"{name}.toml", numbers).program(16)
    assert set(ATS) <= set(ASKED)
