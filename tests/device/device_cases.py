"""Dwarfs with their fields on a device, beside the same on the host: cases that the ranks of the tests run."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fake_cupy import fake_cupy
from mpi4py import MPI

from tradewind.dwarfs.diffusion import Diffusion
from tradewind.dwarfs.spherical_harmonics import SphericalHarmonics

DWARFS = Path(__file__).parents[1] / "dwarfs"


def _cases(dwarf: str) -> Any:
    """The cases of a dwarf's own tests, which lie in another folder."""
    sys.path.insert(0, str(DWARFS / dwarf))
    return importlib.import_module(f"{dwarf}_cases")


diffusion_cases, mpdata_cases, semi_lagrangian_cases = map(_cases, ("diffusion", "mpdata", "semi_lagrangian"))

STEPS = 3


def _runs(ranks: int, device: str) -> Iterator[tuple[Any, Any]]:
    """Requests, and what each begins with, of all choices of the dwarfs' own tests that a device can have."""
    for values in diffusion_cases.requests(ranks):
        if values["strategy"] not in Diffusion.host_only:
            yield Diffusion(**values, device=device), diffusion_cases.random_field
    for cases in (mpdata_cases, semi_lagrangian_cases):
        for choice in cases.CHOICES:
            dwarf = cases.request(ranks, choice)
            if dwarf.strategy in dwarf.host_only or getattr(dwarf, "geometry", "") == "octahedral":
                continue
            dwarf = cases.request(ranks, {**choice, "device": device})
            yield dwarf, cases.random_field(dwarf)


def _final(comm: MPI.Intracomm, dwarf: Any, initial: Any) -> dict[str, Any]:
    """The state after some steps, and the bytes copied between device and host in the last of them."""
    run = dwarf.on(comm, initial)
    run.advance(1)
    before = run.copies
    run.advance(STEPS - 1)
    whole = run.gathered()
    return {
        "name": f"{dwarf.name} {dwarf.precision}",
        "strategy": dwarf.strategy,
        "field": None if whole is None else mpdata_cases.digest(whole),
        "field_bytes": dwarf.points * dwarf.element_bytes // dwarf.ranks,
        "is_steady": getattr(getattr(run, "wind", None), "steady", True),
        "diagnosis": asdict(run.diagnose()),
        "copied": asdict(run.copies - before),
    }


SPECTRAL: list[dict[str, Any]] = [
    {"strategy": "exchange"},
    {"strategy": "exchange", "dealt": "split", "precision": "f4"},
    {"strategy": "levels", "gaussian_grid": "F24"},
    {"strategy": "variables"},
    {"strategy": "passes"},
]


def spectral_on_both(comm: MPI.Intracomm, device: str) -> list[tuple[str, float, dict[str, int]]]:
    """By choice its precision, the distance of the state on a device from that on the host, and the bytes copied."""
    found = []
    with fake_cupy(device):
        for choice in SPECTRAL:
            whole = []
            for place in ("host", device):
                dwarf = SphericalHarmonics(comm.Get_size(), truncation=15, levels=4, **choice, device=place)
                run = dwarf.on(comm)
                before = asdict(run.device.copies)
                run.advance(STEPS)
                copied = {name: count - before[name] for name, count in asdict(run.device.copies).items()}
                assert run.diagnose().error < 1e-3
                whole.append(run.gathered())
            apart = 0.0 if whole[0] is None else float(abs(whole[1] - whole[0]).max() / abs(whole[0]).max())
            found.append((dwarf.precision, apart, copied))
    return found


def on_both(comm: MPI.Intracomm, device: str) -> list[list[dict[str, Any]]]:
    """Return the ends of each choice on the host and on a device; those of CuPy are fake ones."""
    with fake_cupy(device):
        both = zip(_runs(comm.Get_size(), "host"), _runs(comm.Get_size(), device), strict=True)
        return [[_final(comm, *each) for each in pair] for pair in both]
