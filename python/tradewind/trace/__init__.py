"""Time lines: what ranks did and when, of simulations and of real runs in one form, for Perfetto or as a picture."""

from tradewind.trace.files import save
from tradewind.trace.marks import mark
from tradewind.trace.measured import gather

__all__ = ["gather", "mark", "save"]
