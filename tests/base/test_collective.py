"""Each function whose docstring says that it is collective goes through the one gate of collective calls."""

from __future__ import annotations

import pytest
from collective_functions import documented

from tradewind.base.collective import is_collective

pytest.importorskip("mpi4py.MPI")

WITHOUT = {
    "tradewind.base.collective.": "the parts of the gate",
    "tradewind.dwarfs.semi_lagrangian.columns.Demand.send_lists": "part of a step: a strategy calls it",
    "tradewind.dwarfs.frame.diagnosis.diagnose": "called by collective methods; begins with an agreement",
    "tradewind.dwarfs.frame.gather.gather": "called by collective methods; begins with an agreement",
    "tradewind.dwarfs.waves.limited_area.LimitedAreaRun.connect": "called while `on` makes a run",
    "tradewind.dwarfs.nekbone.plane.drawn_plane": "called by collective methods; begins with an agreement",
    "tradewind.dwarfs.frame.norms.check_finite": "called by collective methods; is an agreement itself",
    "tradewind.dwarfs.nekbone.coarse.CoarseGrid.__init__": "called while `on` makes a run",
    "tradewind.dwarfs.nekbone.preconditioner.make_preconditioner": "called while `on` makes a run",
    "tradewind.dwarfs.nekbone.run.NekboneRun.add_sum": "called while `on` makes a run",
    "tradewind.dwarfs.nekbone.run.NekboneRun.sum_copies": "called by collective methods and while `on` makes a run",
    "tradewind.dwarfs.frame.norms.norms": "called by collective methods; begins with an agreement",
    "tradewind.dwarfs.diffusion.objects.exchange_objects": "part of a step",
    "tradewind.dwarfs.frame.on_mesh.MeshRunning.": "called by collective methods; begin with an agreement",
    "tradewind.dwarfs.frame.exchanges.Exchanges.": "parts of a step",
    "tradewind.dwarfs.frame.running.Running.map": "that of a dwarf without a map does nothing together",
    "tradewind.dwarfs.frame.running.Running.plan": "goes through the gate of tradewind.mpi.plan",
    "tradewind.fieldserver.model.field_server.Started.wait": "calls are compared by Agreement",
    **dict.fromkeys(
        (
            f"tradewind.fieldserver.{module}."
            for module in (
                *("model.defining", "model.opening", "model.run_figures", "server.delivery", "server.handover"),
                *("server.joining", "server.ordered_server", "server.slots", "server.time_line"),
            )
        ),
        "parts of FieldServer, whose calls are compared by Agreement",
    ),
    **dict.fromkeys(
        (
            f"tradewind.launch.{name}"
            for name in (
                *("dwarf.", "measure.", "output_advice.", "probe.", "probe_files.", "program.", "recorded."),
                *(
                    "energy.EnergyMeter",
                    "quiet.",
                    "trials.circumstances",
                    "trials.try_methods",
                    "trials.tune_exchange",
                    "unexpected.",
                ),
            )
        ),
        "a job of ranks, which an error on one of them ends",
    ),
    "tradewind.mpi.host.host_of": "called by collective functions after they have agreed",
    "tradewind.timeline.clock.compare": "called by collective functions after they have agreed",
}
"""Functions without the gate, by the beginnings of their names, and the reason."""


def test_what_says_that_it_is_collective_goes_through_the_gate():
    unguarded = [name for name, function in documented() if not is_collective(function)]
    assert [name for name in unguarded if not name.startswith(tuple(WITHOUT))] == []
    assert [begin for begin in WITHOUT if not any(name.startswith(begin) for name in unguarded)] == []
