"""Whole models: time steps as files with parameters, which make programs for any number of ranks."""

from __future__ import annotations

from tradewind.model.coupled_tables import COMPONENTS
from tradewind.model.file import model_names
from tradewind.model.grid import MAX_RANKS
from tradewind.model.model import CHANGEABLE, AnyModel, Model, load_model, load_plain_model

__all__ = [
    "CHANGEABLE",
    "COMPONENTS",
    "MAX_RANKS",
    "AnyModel",
    "Model",
    "load_model",
    "load_plain_model",
    "model_names",
]
