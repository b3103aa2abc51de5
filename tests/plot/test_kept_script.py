"""The script of pages is bundled once for a user, and where that cannot be kept for each process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tradewind.plot import export

SCRIPT = 'text("<\\/script>")'


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each time that the script is bundled."""
    times: list[str] = []

    def bundle(snippet: str, **_: Any) -> str:
        times.append(snippet)
        return 'text("</script>")'

    monkeypatch.setattr(export.vlc, "javascript_bundle", bundle)
    return times


def fresh() -> str:
    """The script as a new process finds it."""
    return export.script.__wrapped__()


def test_it_is_bundled_once(bundled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert [fresh(), fresh()] == [SCRIPT, SCRIPT]
    assert len(bundled) == 1
    monkeypatch.setattr(export, "version", lambda _: "another")
    assert fresh() == SCRIPT
    assert len(bundled) == 2
    assert len(list((tmp_path / "cache" / "tradewind").iterdir())) == 2


def test_the_cache_is_in_the_home(bundled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    fresh()
    assert [path.suffix for path in (tmp_path / ".cache" / "tradewind").iterdir()] == [".js"]


@pytest.mark.parametrize("cache", ["a file", "relative"])
def test_without_a_place_it_is_bundled_each_time(
    bundled: list[str], cache: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", cache if cache == "relative" else str(tmp_path / cache))
    assert [fresh(), fresh()] == [SCRIPT, SCRIPT]
    assert len(bundled) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]
