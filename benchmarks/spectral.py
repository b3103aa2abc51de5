"""The spherical-harmonics transform beside ducc0, its stages beside their parts, and that of C, in one run on one core.

``python benchmarks/spectral.py`` takes some minutes and 4 GB of memory. Times are per field and direction, and
results go to arrays that exist. ducc0 computes the same sums on the same grid, and those that rows near the poles leave
out.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ducc0
import numpy as np
from threadpoolctl import threadpool_limits

from tradewind.spectral import Legendre, SpectralTransform, Truncation
from tradewind.spectral.functions import LegendreFunctions

Array = Any
GOALS = {"ducc0": 0.95, "products": 1.5, "on the fly": 1.1, "one field on the fly": 1.5, "library": 1.0, "single": 0.6}


def milliseconds(
    parts: dict[str, Callable[[], object]],
    fields: dict[str, int],
    samples: int,
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, float]:
    """Return the median time per field of each part; they take turns, so that what disturbs one disturbs all.

    All is computed on the caller's thread: its own time does not count what others do on its core.
    """
    taken: dict[str, list[float]] = {name: [] for name in parts}
    for sample in range(samples + 1):
        for name, part in parts.items():
            begin = clock()
            part()
            if sample:  # the first one touches memory and makes plans
                taken[name].append(1e3 * (clock() - begin) / fields.get(name, 1))
    return {name: statistics.median(values) for name, values in taken.items()}


def noise(truncation: Truncation, fields: int) -> Array:
    random = np.random.default_rng(1)
    shape = (truncation.coefficients, fields)
    values = random.normal(size=shape) + 1j * random.normal(size=shape)
    values[: truncation.degree + 1].imag = 0
    return values


def ducc_parts(transform: SpectralTransform, spectral: Array, grid: Array, few: int) -> dict[str, Callable[[], object]]:
    where = transform.grid
    geometry = {
        "theta": np.radians(90 - where.latitudes),
        "nphi": where.rows.astype(np.uint64),
        "phi0": np.zeros(len(where.rows)),
        "ringstart": where.first[:-1].astype(np.uint64),
        "lmax": transform.truncation.degree,
        "mmax": transform.truncation.degree,
        "spin": 0,
        "nthreads": 1,
    }
    alms, maps = np.ascontiguousarray(spectral.T[:few]), grid[:few].copy()
    return {
        "ducc0 inverse": lambda: [
            ducc0.sht.synthesis(alm=a[None], map=b[None], **geometry) for a, b in zip(alms, maps, strict=True)
        ],
        "ducc0 direct": lambda: [
            ducc0.sht.adjoint_synthesis(map=b[None], alm=a[None], **geometry) for a, b in zip(alms, maps, strict=True)
        ],
    }


def products(legendre: Legendre, fourier: Array, spectral: Array, inverse: bool) -> None:
    """The matrix products of a Legendre stage alone."""
    for k, parities, _, degrees in legendre.parts(range(len(legendre.wavenumbers)), fourier, spectral):
        functions = legendre.functions.of(k, legendre.truncation.top)
        for parity in (0, 1):
            if inverse:
                np.matmul(functions[parity].T, degrees[parity::2], out=parities[parity])
            else:
                np.matmul(functions[parity], parities[parity], out=degrees[parity::2])


def whole(name: str, fields: int, few: int, samples: int) -> None:
    """The whole transform beside ducc0, and its Legendre stage beside its matrix products."""
    transform = SpectralTransform(name)
    spectral, legendre = noise(transform.truncation, fields), transform.legendre
    grid, fourier = transform.to_grid(spectral), legendre.to_fourier(spectral)
    scratch = np.empty_like(spectral)

    parts: dict[str, Callable[[], object]] = {
        "inverse": lambda: transform.to_grid(spectral, grid),
        "direct": lambda: transform.to_spectral(grid, scratch),
        "Legendre inverse": lambda: legendre.to_fourier(spectral, fourier),
        "Legendre direct": lambda: legendre.to_spectral(fourier, scratch),
        "products inverse": lambda: products(legendre, fourier, spectral, True),
        "products direct": lambda: products(legendre, fourier, scratch, False),
        **ducc_parts(transform, spectral, grid, few),
    }
    counts = dict.fromkeys(parts, fields) | {"ducc0 inverse": few, "ducc0 direct": few}
    with threadpool_limits(1, "blas"):
        found = milliseconds(parts, counts, samples)
    print(f"{transform.truncation}, {fields} fields, ms per field, median of {samples}")
    for part, value in found.items():
        print(f"  {part}: {value:.3f}")
    theirs = found["ducc0 inverse"] + found["ducc0 direct"]
    ratio = (found["inverse"] + found["direct"]) / theirs
    print(f"  ours: {ratio:.2f} of ducc0, both directions{beside_goal(ratio, 'ducc0')}")
    for direction in ("inverse", "direct"):
        ratio = found[f"Legendre {direction}"] / found[f"products {direction}"]
        print(f"  Legendre stage, {direction}: {ratio:.2f} of its matrix products{beside_goal(ratio, 'products')}")


def on_the_fly(name: str, every: int, batches: tuple[int, ...], samples: int) -> None:
    """Legendre functions computed in each transform beside tables, on some of the wavenumbers."""
    truncation = Truncation(name)
    wavenumbers = np.arange(every // 2, truncation.degree + 1, every)
    stages = {"tables": Legendre(truncation, wavenumbers), "fly": Legendre(truncation, wavenumbers, tables=False)}
    functions = LegendreFunctions(truncation, tables=False)
    share = functions.scratch_bytes / functions.table_bytes
    print(f"{truncation}: tables of {functions.table_bytes / 1e9:.2f} GB, on the fly {share:.4f} of it; goal: 0.05")
    for fields in batches:
        found = milliseconds(stage_parts(stages, fields), {}, samples)
        fly, tables = (sum(found[f"{stage} {way}"] for way in ("inverse", "direct")) for stage in ("fly", "tables"))
        goals = {batches[0]: "one field on the fly", batches[-1]: "on the fly"}
        goal = beside_goal(fly / tables, goals[fields]) if fields in goals else ""
        print(f"  {fields} fields: on the fly {fly / tables:.2f} of the time with tables, both directions{goal}")


def stage_parts(stages: dict[str, Legendre], fields: int) -> dict[str, Callable[[], object]]:
    """Both directions of each stage."""
    spectral = np.ones((int(stages["tables"].spectral_start[-1]), fields), complex)
    fourier = stages["tables"].to_fourier(spectral)
    parts: dict[str, Callable[[], object]] = {}
    for stage, legendre in stages.items():
        parts[f"{stage} inverse"] = partial(legendre.to_fourier, spectral, fourier)
        parts[f"{stage} direct"] = partial(legendre.to_spectral, fourier, spectral)
    return parts


def two_threads(name: str, fields: int, samples: int) -> None:
    one, two = SpectralTransform(name), SpectralTransform(name, threads=2)
    spectral = noise(one.truncation, fields)
    found = milliseconds({"one": lambda: one.to_grid(spectral), "two": lambda: two.to_grid(spectral)}, {}, samples)
    print(f"{one.truncation}, {fields} fields, inverse: 2 threads are {found['one'] / found['two']:.2f} x as fast as 1")


def library(name: str, fields: int, samples: int) -> None:
    """The transforms of C and Fortran beside that of Python, in double and in single precision."""
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "spectral"))
    from library_transform import LibraryTransform
    from mpi4py import MPI

    python = SpectralTransform(name)
    spectral = noise(python.truncation, fields)
    grid, back = python.to_grid(spectral), np.empty_like(spectral)
    parts: dict[str, Callable[[], object]] = {
        "Python inverse": lambda: python.to_grid(spectral, grid),
        "Python direct": lambda: python.to_spectral(grid, back),
    }
    for element, complexes in (("f8", "c16"), ("f4", "c8")):
        ours = LibraryTransform(MPI.COMM_SELF, name, element)
        arrays = [spectral.astype(complexes)], [grid.astype(element)], [back.astype(complexes)]
        parts[f"{element} inverse"] = partial(ours.run, "to_grid", arrays[0], arrays[1])
        parts[f"{element} direct"] = partial(ours.run, "to_spectral", arrays[1], arrays[2])
    with threadpool_limits(1, "blas"):
        found = milliseconds(parts, dict.fromkeys(parts, fields), samples)
    print(f"{python.truncation}, {fields} fields, libtradewind, ms per field, median of {samples}")
    for part, value in found.items():
        print(f"  {part}: {value:.3f}")
    both = {each: found[f"{each} inverse"] + found[f"{each} direct"] for each in ("Python", "f8", "f4")}
    print(f"  f8: {both['f8'] / both['Python']:.2f} of Python{beside_goal(both['f8'] / both['Python'], 'library')}")
    print(f"  f4: {both['f4'] / both['f8']:.2f} of f8{beside_goal(both['f4'] / both['f8'], 'single')}")


def beside_goal(ratio: float, goal: str) -> str:
    most = GOALS[goal]
    return f"; goal: at most {most}{' (missed)' * (ratio > most)}"


def spectral(name: str = "O640", large: str = "O1280", fields: int = 64, samples: int = 5) -> None:
    """Goals of a quiet machine."""
    whole(name, fields, max(1, fields // 8), samples)
    on_the_fly(large, 16, (1, 8, fields), samples)
    two_threads(name, min(fields, 16), samples)
    library(name, fields, samples)


if __name__ == "__main__":
    spectral()
