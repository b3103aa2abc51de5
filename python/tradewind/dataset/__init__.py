"""The results of a study as one xarray Dataset, and as NetCDF."""

from __future__ import annotations

from tradewind.dataset.results import open_results

__all__ = ["open_results"]
