"""Cases of diffusion that the ranks of the tests run."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np
from mpi4py import MPI

from tradewind.dwarfs import diffusion
from tradewind.dwarfs.diffusion import Diffusion, DiffusionRun
from tradewind.launch.dwarf import take_part

GRID = (26, 22, 3)
STEPS = 9
"""No multiple of the steps of a round, but of one."""

CHOICES: list[dict[str, Any]] = [
    {"strategy": "exchange"},
    {"strategy": "exchange", "width": 3, "algorithm": "direct"},
    {"strategy": "exchange", "transport": "shared", "packing": "direct"},
    {"strategy": "overlap", "algorithm": "direct"},
    {"strategy": "overlap", "width": 3, "transport": "persistent", "threads": 2},
    {"strategy": "wide", "width": 2, "packing": "datatype"},
    {"strategy": "wide", "width": 4, "transport": "put-fence"},
    {"strategy": "wide", "width": 8, "algorithm": "direct", "threads": 2},
    {"strategy": "exchange", "work": 3, "transport": "even-odd"},
    {"strategy": "barrier", "transport": "send-irecv"},
    {"strategy": "objects"},
    {"strategy": "objects", "width": 3, "work": 2},
]


def digest(field: np.ndarray) -> str:
    """Tells fields apart that differ by a bit."""
    return hashlib.sha256(np.ascontiguousarray(field).tobytes()).hexdigest()


def splits(ranks: int) -> list[tuple[int, int]]:
    return [(a, ranks // a) for a in range(1, ranks + 1) if ranks % a == 0]


def requests(ranks: int) -> list[dict[str, Any]]:
    """Every choice, each with another split and precision."""
    found = []
    for number, choice in enumerate(CHOICES):
        split = splits(ranks)[number % len(splits(ranks))]
        found.append(
            {"ranks": ranks, "grid": GRID, "split": split, "precision": ("f8", "f4")[number // 2 % 2], **choice}
        )
    return found


def random_field(z: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same numbers at a point whatever rank asks for it."""
    nx, ny, _ = GRID
    return np.sin(1e6 * np.sin((z * ny + y) * nx + x + 1.0))


def started(comm: MPI.Intracomm, request: dict[str, Any]) -> DiffusionRun:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in request.items()}
    return Diffusion(**values).on(comm, random_field)


def final_fields(comm: MPI.Intracomm, _: Any) -> list[dict[str, Any]]:
    """By request the final field's digest, what it amounts to, and the number of exchanges."""
    outcomes = []
    for request in requests(comm.Get_size()):
        run = started(comm, request)
        run.advance(STEPS)
        whole = run.gathered()
        outcomes.append(
            {
                "field": None if whole is None else digest(whole),
                "diagnosis": asdict(run.diagnose()),
                "exchanges": run.exchanges,
            }
        )
    return outcomes


def modes(comm: MPI.Intracomm, asked: dict[str, Any]) -> list[float]:
    """By mode, waves along x and along y, the largest error of any point after some steps."""
    nx, ny, _ = grid = tuple(asked["grid"])
    errors = []
    for k, m in asked["modes"]:

        def wave(z: np.ndarray, y: np.ndarray, x: np.ndarray, k: int = k, m: int = m) -> np.ndarray:
            return np.cos(2 * np.pi * (k * x / nx + m * y / ny)) + 0.0 * z

        run = Diffusion(comm.Get_size(), grid, strategy=asked["strategy"]).on(comm, wave)
        before = run.gathered()
        run.advance(asked["steps"])
        after = run.gathered()
        eigenvalue = 4 * (np.sin(np.pi * k / nx) ** 2 + np.sin(np.pi * m / ny) ** 2)
        growth = (1 - eigenvalue**2 / 32) ** asked["steps"]
        errors.append(0.0 if before is None else float(np.abs(after - growth * before).max()))
    return errors


def field_with_a_hole(comm: MPI.Intracomm, value: str) -> None:
    """Rank 1 holds something that is no number; the field is diagnosed two steps later."""
    run = Diffusion(comm.Get_size(), (16, 12, 4), split=(2, 1)).on(comm)
    if comm.Get_rank() == 1:
        run.field[3, 2 + 5, 2 + 4] = float(value)  # x 8 + 4
    run.advance(2)
    run.diagnose()


def checked_with_a_fault_on_rank_1(comm: MPI.Intracomm, payload: dict[str, Any]) -> Any:
    """One point is a little too large after every step."""

    class Faulty(DiffusionRun):
        def finish(self, *result: Any) -> None:
            super().finish()
            self.field[self.own][0, 0, 0] += 1e-15

    if comm.Get_rank() == 1:
        diffusion.DiffusionRun = Faulty
    try:
        return take_part(comm, payload)
    finally:
        diffusion.DiffusionRun = DiffusionRun


def forgotten_exchange(comm: MPI.Intracomm, _: None) -> None:
    """A strategy that forgets to exchange."""
    run = Diffusion(comm.Get_size(), (16, 12, 4)).on(comm)
    run.compute(diffusion.diffuse)
    run.finish()
    run.diagnose()
