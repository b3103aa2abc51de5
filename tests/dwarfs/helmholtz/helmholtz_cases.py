"""Cases of the dwarf helmholtz that the ranks of the tests run."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tradewind.dwarfs.helmholtz import Helmholtz, solver
from tradewind.dwarfs.helmholtz.operator import SOUND_M_PER_S, STRATIFICATION_PER_M

STEPS = 2


def outcomes(comm: Any, asked: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """By name of a request the state after some steps, what all ranks have sent, and how the last solver fared."""
    found = {}
    for name, options in asked.items():
        run = Helmholtz(ranks=comm.Get_size(), **options).on(comm)
        run.reset()
        run.advance(STEPS)
        sent = comm.allreduce(run.messages), comm.allreduce(run.bytes_sent)
        diagnosis, whole = run.diagnose(), run.gathered()
        if whole is not None:
            found[name] = {
                "state": whole.tolist(),
                "digest": hashlib.sha256((whole + 0.0).tobytes()).hexdigest(),
                "sent": sent,
                "pokes": run.pokes,
                "iterations": [run.solved, run.iterations],
                "history": run.history,
                "residual": diagnosis.residual,
                "mass": diagnosis.mass,
            }
    return found


def initial(comm: Any, options: dict[str, Any]) -> list[Any]:
    """The state that a request begins with."""
    whole = Helmholtz(ranks=comm.Get_size(), **options).on(comm).gathered()
    assert whole is not None
    return whole.tolist()


def not_a_number(comm: Any, options: dict[str, Any]) -> None:
    """A field that is not finite at a point of the last rank."""
    run = Helmholtz(ranks=comm.Get_size(), **options).on(comm)
    run.advance(1)
    if comm.Get_rank() == comm.Get_size() - 1:
        run.x.own[2, 1, 3] = np.nan
    run.advance(1)


def without_end(comm: Any, options: dict[str, Any]) -> None:
    """A solver that does not converge."""
    Helmholtz(ranks=comm.Get_size(), **options).on(comm).advance(1)


def krylov(comm: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The vectors r, A M r, (A M)^2 r, ... of the first step's problem, and the residuals of the solver."""
    run = Helmholtz(ranks=comm.Get_size(), **options).on(comm)
    solver.begin(run, "first")
    found = [run.vector("first").own.reshape(-1).tolist()]
    norm = float(np.sqrt((run.vector("b").own ** 2).sum()))
    solver.combine(run, "w", (1.0, "first"))
    for _ in range(options["directions"] + 1):
        solver.precondition(run, "w", "u")
        solver.operate(run, "u", "w")
        found.append(run.vector("w").own.reshape(-1).tolist())
    run.vector("phi before").own[...] = run.x.own  # as at first: at rest
    run.advance(1)
    return {"vectors": found, "norm": norm, "history": run.history}


def manufactured(comm: Any, asked: dict[str, Any]) -> list[float]:
    """By grid the largest error of the solver's solution of a problem whose solution is known in closed form."""
    errors = []
    for grid in asked["grids"]:
        # The domain is the same for each grid.
        dwarf = Helmholtz(
            ranks=comm.Get_size(), grid=tuple(grid), spacing_m=asked["length_m"] / grid[0], **asked["options"]
        )
        run = dwarf.on(comm)
        z, y, x = run.indices()
        nx, ny, nz = grid
        at = x / nx, y / ny, (z + 0.5) / nz
        run.x.own[...] = 0.0
        run.vector("phi before").own[...] = -right_side(dwarf, asked["length_m"], *at) / dwarf.sigma
        run.advance(1)
        error = float(np.abs(run.x.own - solution(*at)[0]).max())
        errors.append(comm.allreduce(error, max))
    return errors


def solution(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any, Any]:
    """phi, and its derivatives along x, y (both 0..1) and z; nothing of it flows through ground and top."""
    around = 2 * np.pi
    flat = np.sin(around * x) * np.cos(around * y) + 0.5 * np.cos(around * (x + y))
    along_x = around * (np.cos(around * x) * np.cos(around * y) - 0.5 * np.sin(around * (x + y)))
    along_y = around * (-np.sin(around * x) * np.sin(around * y) - 0.5 * np.sin(around * (x + y)))
    up, rise = 16 * (z * (1 - z)) ** 2, 32 * z * (1 - z) * (1 - 2 * z)
    return flat * up, along_x * up, along_y * up, flat * rise


def right_side(dwarf: Helmholtz, length_m: float, x: Any, y: Any, z: Any) -> Any:
    """A phi by the equation: fluxes in closed form, whose derivatives are imaginary parts (complex steps)."""

    def fluxes(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any, Any]:
        around, quarter = 2 * np.pi, dwarf.hill_m / 4
        hill = quarter * (1 - np.cos(around * x)) * (1 - np.cos(around * y))
        hill_x = quarter * around / length_m * np.sin(around * x) * (1 - np.cos(around * y))
        hill_y = quarter * around / length_m * np.sin(around * y) * (1 - np.cos(around * x))
        thickness = dwarf.top_m - hill
        kappa = 1 - 0.25 * z + 0.1 * (1 - z) * np.sin(around * x) * np.cos(around * y)
        g, e = (-(1 - z) * slope / thickness for slope in (hill_x, hill_y))
        phi, phi_x, phi_y, phi_z = solution(x, y, z)
        flow_x, flow_y = phi_x / length_m + g * phi_z, phi_y / length_m + e * phi_z
        rise = thickness * kappa * (g * flow_x + e * flow_y) + kappa * (phi_z / thickness + STRATIFICATION_PER_M * phi)
        return thickness * kappa * flow_x, thickness * kappa * flow_y, rise, thickness

    tiny = 1e-30
    along_x = fluxes(x + 1j * tiny, y, z)[0].imag / tiny / length_m
    along_y = fluxes(x, y + 1j * tiny, z)[1].imag / tiny / length_m
    along_z = fluxes(x, y, z + 1j * tiny)[2].imag / tiny
    thickness = fluxes(x, y, z)[3]
    s = SOUND_M_PER_S * dwarf.step_s
    return dwarf.sigma * solution(x, y, z)[0] - s * s / thickness * (along_x + along_y + along_z)
