"""Studies that come with Tradewind, by name."""

from pathlib import Path

import pytest

from tradewind.base.data import data_folder
from tradewind.base.errors import InputError
from tradewind.study.plan.catalogue import find_study, named_studies, shadowed_by, study_files, study_folders

STUDIES = data_folder("studies")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_all_studies_have_a_name_and_no_machine_has_one():
    names = list(study_files())
    assert names.index("quickstart") < names.index("zheng2018/figure-9a") < names.index("zheng2018/figure-10a")
    assert not any("machines" in name for name in names)
    assert set(study_folders()) == {path.name for path in STUDIES.iterdir() if any(path.glob("*.toml"))}
    assert set(study_folders()).isdisjoint(names)
    assert all(path.exists() for path in named_studies().values())


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("quickstart", "quickstart.toml"),
        ("zheng2018/figure-5a", "zheng2018/figure-5a.toml"),
        ("zheng2018", "zheng2018"),
        ("zheng2018/", "zheng2018"),
    ],
)
def test_a_name_is_found(given, found):
    assert find_study(Path(given)) == STUDIES / found
    assert shadowed_by(Path(given)) is None


def test_a_path_goes_before_a_name():
    Path("quickstart").mkdir()
    Path("zheng2018.toml").touch()
    assert find_study(Path("quickstart")) == Path("quickstart")
    assert shadowed_by(Path("quickstart")) == STUDIES / "quickstart.toml"
    assert find_study(Path("zheng2018.toml")) == Path("zheng2018.toml")
    assert find_study(Path("zheng2018")) == STUDIES / "zheng2018"
    assert find_study(Path("quickstart.toml")) == Path("quickstart.toml"), "what ends in .toml is a path"


def test_in_their_own_folder_names_are_paths_of_the_same(monkeypatch):
    monkeypatch.chdir(STUDIES)
    assert find_study(Path("zheng2018")) == Path("zheng2018")
    assert shadowed_by(Path("zheng2018")) is None


def test_a_name_that_no_file_can_have():
    with pytest.raises(InputError, match=r"^cannot read x+.*: File name too long$"):
        find_study(Path("x" * 5000))


@pytest.mark.parametrize("name", ["", "..", "/", "zheng2018/../quickstart", "/quickstart", "ZHENG2018"])
def test_other_spellings_are_no_names(name):
    if Path(name).exists():
        assert find_study(Path(name)) == Path(name)
        return
    with pytest.raises(InputError, match="neither a file or folder nor a study that comes with Tradewind"):
        find_study(Path(name))
