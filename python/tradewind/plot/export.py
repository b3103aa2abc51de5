"""Turns specifications into pictures for papers, and into the one script that a page needs to draw them itself."""

from __future__ import annotations

import io
from typing import Any

import altair as alt
import vl_convert as vlc

VEGA_LITE = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
"""The version of Vega-Lite that the specifications are written for."""


def to_svg(specification: dict[str, Any]) -> str:
    return str(vlc.vegalite_to_svg(specification, vl_version=VEGA_LITE))


def to_png(specification: dict[str, Any]) -> bytes:
    return bytes(vlc.vegalite_to_png(specification, vl_version=VEGA_LITE, scale=1.5))


def to_pdf(specification: dict[str, Any]) -> bytes:
    return bytes(vlc.vegalite_to_pdf(specification, vl_version=VEGA_LITE))


def rendered(chart: alt.TopLevelMixin, suffix: str, **options: Any) -> bytes:
    """A chart of Altair as SVG, PNG, PDF or HTML, by the suffix of a file; `options` as `Chart.save` takes them."""
    stream: Any = io.StringIO() if suffix in (".svg", ".html") else io.BytesIO()
    kind: Any = suffix.removeprefix(".")
    chart.save(stream, format=kind, **options)
    content = stream.getvalue()
    return content if isinstance(content, bytes) else content.encode()


def script() -> str:
    """Vega, Vega-Lite and vega-embed as one script, safe to stand inside a page."""
    return str(vlc.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)).replace(
        "</script", "<\\/script"
    )


def to_html(specification: dict[str, Any]) -> str:
    """A page that draws it, with all that it needs inside."""
    return str(vlc.vegalite_to_html(specification, vl_version=VEGA_LITE, bundle=True))
