from __future__ import annotations

from typing import Any

import altair as alt
import pytest


@pytest.fixture(autouse=True)
def _valid_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check all charts against the schema of Vega-Lite, for which reports do not take the time."""
    to_dict = alt.TopLevelMixin.to_dict

    def checked(chart: Any, **options: Any) -> dict[str, Any]:
        whole = (options.get("context") or {}).get("top_level", True)  # a part may lack what the whole has
        return to_dict(chart, **({**options, "validate": True} if whole else options))

    monkeypatch.setattr(alt.TopLevelMixin, "to_dict", checked)
