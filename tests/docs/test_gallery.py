"""Each picture of the gallery stands above the whole command that draws it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from document_blocks import ROOT, Block, Page

from tradewind.base.data import data_folder

PICTURE = re.compile(r"^-   \[!\[[^\]]+\]\((\S+)\)\]", re.MULTILINE)
FENCED = re.compile(r"^    ```(\w+)\n(.*?)^    ```$", re.DOTALL | re.MULTILINE)
CARDS = (ROOT / "docs" / "gallery.md").read_text().split("\n-   ")[1:]
BLOCKS = {
    PICTURE.findall(f"-   {card}")[0]: Block(language, None, textwrap.dedent(text), 0)
    for card in CARDS
    for language, text in FENCED.findall(card)
}
RUN = {name: block for name, block in BLOCKS.items() if block.language in ("console", "python")}


def test_each_picture_has_one_whole_command() -> None:
    assert len(BLOCKS) == len(CARDS) == sum(len(FENCED.findall(card)) for card in CARDS)
    for block in BLOCKS.values():
        assert "..." not in block.text
        assert block.text.count("\n") == 1 or block.language == "python"


def test_commands_that_take_long_or_write_into_the_clone_name_what_is_there() -> None:
    named = [block.text.split("  #")[0].split() for block in BLOCKS.values() if block.language == "sh"]
    assert len(named) == len(BLOCKS) - len(RUN)
    for program, *arguments in named:
        if program == "tradewind":
            assert arguments[0] == "study"
            assert (data_folder("studies") / f"{arguments[1]}.toml").is_file()
        elif arguments[0] == "-m":
            assert (ROOT / arguments[1].replace(".", "/") / "__main__.py").is_file()
            assert arguments[2] in (ROOT / arguments[1].replace(".", "/") / "__main__.py").read_text()
        else:
            assert (ROOT / arguments[0]).exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, id=Path(name).stem) for name in RUN])
def test_a_command_draws_a_picture(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    Page(tmp_path).run(RUN[name])
    drawn = {each.suffix for each in tmp_path.rglob("*") if each.is_file()}
    assert Path(name).suffix in drawn
