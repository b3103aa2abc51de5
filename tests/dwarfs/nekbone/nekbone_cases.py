"""Cases of Nekbone that the ranks of the tests run."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict
from typing import Any

import numpy as np
from mpi4py import MPI

from tradewind.dwarfs.nekbone import Nekbone
from tradewind.dwarfs.nekbone.run import NekboneRun
from tradewind.dwarfs.nekbone.spectral_elements import Brick

ITERATIONS = 20

CHOICES: list[dict[str, Any]] = [
    {"strategy": "pairwise"},
    {"strategy": "pairwise", "own": "strides", "transport": "persistent"},
    {"strategy": "cartesian-blocking", "deformation": 0.1},
    {"strategy": "cartesian", "mask": "nekbone", "work": 2},
    {"strategy": "overlap", "threads": 2, "deformation": 0.1},
    {"strategy": "overlap", "transport": "shared", "mask": "nekbone", "sum_method": "ring,,"},
    {"strategy": "pipelined", "factors": "stored", "deformation": 0.2},
    {"strategy": "pipelined", "mass": True, "side": "wave", "algorithm": "pairwise", "transport": "neighbor"},
    {"strategy": "pipelined", "replace": 5, "deformation": 0.1},
    {"strategy": "cartesian", "sums": "reproducible", "side": "global"},
    {"strategy": "pairwise", "sums": "reproducible", "side": "int64"},
    {"strategy": "pairwise", "algorithm": "cartesian"},
    {"strategy": "overlap", "sums": "reproducible", "mask": "nekbone"},
    {"precision": "f4", "deformation": 0.1},
    {"precision": "f4", "strategy": "cartesian", "mask": "nekbone", "sums": "reproducible"},
    {"precision": "f4", "strategy": "overlap", "factors": "stored", "mass": True, "transport": "shared"},
    {"precision": "f4", "strategy": "pipelined", "deformation": 0.1},
    {"preconditioner": "jacobi", "deformation": 0.1, "sums": "reproducible"},
    {"preconditioner": "jacobi", "strategy": "overlap", "mass": True, "precision": "f4"},
    {"preconditioner": "schwarz", "deformation": 0.1, "threads": 2},
    {"preconditioner": "schwarz", "strategy": "cartesian", "mass": True, "layers_method": "pairwise,persistent,"},
    {"preconditioner": "schwarz", "strategy": "overlap", "precision": "f4", "transport": "shared"},
    {"partition": "hilbert", "whole": (3, 2, 3), "preconditioner": "schwarz", "coarse": True},
    {"preconditioner": "schwarz", "coarse": True, "elements": (2, 2, 2), "strategy": "overlap", "precision": "f4"},
    {"partition": "hilbert", "whole": (3, 3, 1), "strategy": "overlap", "mask": "nekbone"},
    {"partition": "hilbert", "whole": (1, 3, 3), "strategy": "pipelined", "deformation": 0.2},
    {"partition": "hilbert", "sums": "reproducible", "preconditioner": "jacobi"},
]


def request(ranks: int, choice: dict[str, Any]) -> Nekbone:
    return Nekbone(ranks, **{"elements": (2, 1, 3), "nx1": 5, **choice})


def outcomes(comm: MPI.Intracomm, choices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By choice the state before and after, how far the solver has come, and what each rank has sent."""
    found = []
    for choice in choices:
        run = request(comm.Get_size(), choice).on(comm)
        before = run.gathered()
        run.reset()
        run.advance(ITERATIONS)
        sent = comm.gather([run.messages, run.bytes_sent])
        after = run.gathered()
        diagnosis = asdict(run.diagnose())
        if before is not None and after is not None:
            found.append({"before": before.tolist(), "after": after.tolist(), "diagnosis": diagnosis, "sent": sent})
    return found


def residuals(comm: MPI.Intracomm, dwarf: dict[str, Any]) -> list[float]:
    """The norms of all residuals from the first on."""
    run = Nekbone(comm.Get_size(), **dwarf).on(comm)
    found = [norm(run)]
    for _ in range(100):
        run.advance(1)
        found.append(norm(run))
    return found


def norm(run: NekboneRun) -> float:
    parts = np.zeros(run.brick.count)
    run.elements.dot(run.r, run.r, parts, run.team)
    return math.sqrt(run.comm.allreduce(parts.sum()))


def bits(comm: MPI.Intracomm, asked: dict[str, Any]) -> dict[str, Any]:
    """The same problem on some ranks: digests of its state, and the diagnosis. Other ranks rest."""
    ranks = math.prod(asked["brick"])
    part = comm.Split(0 if comm.Get_rank() < ranks else 1)
    found: dict[str, Any] = {}
    if comm.Get_rank() < ranks:
        count = tuple(all // some for all, some in zip(asked["elements"], asked["brick"], strict=True))
        for strategy in asked["strategies"]:
            run = Nekbone(
                ranks,
                elements=count,
                brick=tuple(asked["brick"]),
                nx1=4,
                strategy=strategy,
                sums="reproducible",
                side="global",
                deformation=0.2,
                threads=asked["threads"],
            ).on(part)
            run.advance(30)
            whole = run.gathered()
            found[strategy] = [asdict(run.diagnose()), None if whole is None else digest(whole)]
    part.Free()
    return found


def state(comm: MPI.Intracomm, dwarf: dict[str, Any]) -> list[Any]:
    """Digests of the state after some iterations, and of its map."""
    run = Nekbone(comm.Get_size(), **{**dwarf, "whole": tuple(dwarf["whole"])}).on(comm)
    run.advance(20)
    return [asdict(run.diagnose()), *(None if each is None else digest(each) for each in (run.gathered(), run.map()))]


def digest(field: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(field + 0.0).tobytes()).hexdigest()


def not_finite(comm: MPI.Intracomm, _: None) -> None:
    def side(brick: Brick) -> np.ndarray:
        values = np.ones(brick.shape)
        if brick.rank == 1:
            values[1, 2, 1, 3] = np.nan
        return values

    run = Nekbone(comm.Get_size(), elements=(2, 1, 1), nx1=5).on(comm, side)
    run.diagnose()


def not_finite_later(comm: MPI.Intracomm, options: list[str]) -> None:
    strategy, sums = options
    run = Nekbone(comm.Get_size(), elements=(2, 1, 1), nx1=5, strategy=strategy, sums=sums).on(comm)
    run.advance(1)
    if comm.Get_rank() == 1:
        run.r[1, 2, 1, 3] = np.nan
    run.advance(3)


def not_converged(comm: MPI.Intracomm, steps: int) -> int:
    run = Nekbone(comm.Get_size(), elements=(2, 1, 1), nx1=5, reduction=1e-6).on(comm)
    run.advance(steps)
    return run.diagnose().iterations
