"""Time lines: what ranks did and when, of simulations and of real runs in one form, for Perfetto or as a picture."""

from tradewind.timeline.files import save
from tradewind.timeline.marks import mark
from tradewind.timeline.measured import gather

__all__ = ["gather", "mark", "save"]
