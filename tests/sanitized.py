"""Program of `sanitizers.sh`: what the bindings of Python add to the core, which has tests of its own there.

Not a pytest module: under a sanitizer only the compiled code matters, and the packages around it would take minutes.
"""

import sys
from pathlib import Path

import numpy as np

import tradewind as tw
from tradewind import _core
from tradewind.workload.exchange import Exchange

GRID = (37, 29, 13)
EXCHANGES = (
    Exchange("transpose", 12, GRID, (4, 3), algorithm="ring-2"),
    Exchange("halo", 12, GRID, (4, 3), algorithm="sweep", width=11, periodic="x"),
    Exchange("allreduce", 23, algorithm="recursive-3", count=5, times=3),
    Exchange("fetch", 12, (1, 24, 3), mesh="octahedral", width=2),
    Exchange("gather-scatter", 12, elements=(2, 1, 2), points=4, algorithm="pairwise"),
)


def exchanges() -> None:
    """One of each pattern, verified and simulated by both models."""
    for exchange in EXCHANGES:
        tw.verify(exchange, "isend-irecv")
        for model in ("packet", "loggp"):
            found = {
                tw.simulate(exchange, "dragonfly-MM", ranks_per_node=4, model=model, threads=threads)["time_s"]
                for threads in (1, 2)
            }
            assert len(found) == 1, (exchange, model, found)


def diffusion() -> None:
    """The loops of the dwarf, by regions, on several threads."""
    field = np.random.default_rng(1).random((7, 20, 30))
    outcomes = []
    for threads in (1, 3):
        team, target = _core.Team(threads), np.zeros_like(field)
        for rows in (slice(2, 9), slice(9, 18)):
            _core.diffuse(field, target, (slice(0, 7), rows, slice(2, 28)), 1 / 32, team)
        found = _core.diagnose(target, (slice(0, 7), slice(2, 18), slice(2, 28)), team)
        outcomes.append((list(found.sum), list(found.squares), found.minimum, found.maximum))
    assert outcomes[0] == outcomes[1]


def harmonics() -> None:
    """The loops of the spherical-harmonics transform, on several threads, with tables and without."""
    one, three = (tw.SpectralTransform("O33", threads=threads, tables=threads == 1) for threads in (1, 3))
    random = np.random.default_rng(1)
    for fields in (1, 5):
        spectral = random.normal(size=(one.truncation.coefficients, fields)) + 0j
        grid = one.to_grid(spectral)
        assert (three.to_grid(spectral) == grid).all()
        assert (three.to_spectral(grid) == one.to_spectral(grid)).all()


def scattered_ids() -> None:
    """Dense, sparse and clustered ones, found and not found."""
    for ids in (7 + np.arange(64), 65 * np.arange(70), np.append(np.arange(40), 2**63 - 1)):
        for absent in (ids[0] + 1, ids[-1] - 1, 0, 2**62):
            owned = np.array_split(ids[ids != absent], 3)
            assert tw.Fetch(owned, [ids[ids != absent], [], []]).list_of(0)[0].size == ids[ids != absent].size
            try:
                tw.Fetch(owned, [[absent], [], []])
            except tw.InputError:
                continue
            raise AssertionError(f"{absent} was found")


def main() -> None:
    assert Path(_core.__file__).parent == Path(tw.__file__).parent
    exchanges()
    diffusion()
    harmonics()
    scattered_ids()
    sys.stdout.write("the bindings are used\n")


main()
