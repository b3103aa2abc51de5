"""Flows and tracers on meshes of finite volumes, with their exact solutions: what MPDATA is held against.

And the options that dwarfs of advection have in common.

On the sphere the flow is the solid-body rotation of Williamson et al. 1992 (doi:10.1016/S0021-9991(05)80016-6), test 1,
once around in 12 days; on a flat mesh a uniform wind of 1 m/s over squares of 1 m.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.workload.options import option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.layout.median_dual import MedianDual

    Reals = NDArray[np.float64]

DAY_S = 86400.0
ROTATION_S = 12 * DAY_S
"""Seconds of a rotation of the sphere."""
BELL_HEIGHT, BELL_RADIUS = 1000.0, 1 / 3
"""Height in m, and radius in radii of the sphere, of the cosine bell."""
HILL_WIDTH = 5.0
"""The Gaussian hill is exp(-5 r2), r the straight distance in radii."""


def stream_fluxes(mesh: MedianDual, alpha: float) -> Reals:
    """Face fluxes [edge] from differences of a stream function between the ends of each face, in volume per second.

    What flows out of a dual adds up to nothing but rounding, whatever the mesh. `alpha`: radians, between the axis of
    the rotation and the poles; on a plane between the wind and the x axis.
    """
    if not mesh.on_sphere:
        return np.asarray(mesh.normal @ np.array([np.cos(alpha), np.sin(alpha)]))
    speed = 2 * np.pi * mesh.radius / ROTATION_S
    x, y = mesh.corner_x, mesh.corner_y
    stream = -mesh.radius * speed * (np.sin(y) * np.cos(alpha) - np.cos(x) * np.cos(y) * np.sin(alpha))
    return np.asarray(stream[mesh.corners[:, 1]] - stream[mesh.corners[:, 0]])


def averaged_fluxes(mesh: MedianDual, alpha: float) -> Reals:
    """Face fluxes [edge] from the mean of the velocities of a face's two nodes, with cos(latitude) in the velocity.

    On the sphere what flows out of a dual does not add up to nothing.
    """
    if not mesh.on_sphere:
        return stream_fluxes(mesh, alpha)
    speed = 2 * np.pi * mesh.radius / ROTATION_S
    x, y = mesh.x, mesh.y
    u = speed * (np.cos(y) * np.cos(alpha) + np.cos(x) * np.sin(y) * np.sin(alpha))
    v = -speed * np.sin(x) * np.sin(alpha) * np.cos(y)
    velocity = np.stack([u, v], axis=1)
    return np.asarray(mesh.radius * (velocity[mesh.edges].mean(axis=1) * mesh.normal).sum(axis=1))


FLUXES: dict[str, Callable[[MedianDual, float], Reals]] = {"stream": stream_fluxes, "averaged": averaged_fluxes}


def at_start(mesh: MedianDual, nodes: NDArray[np.int64], alpha: float, t: float | Reals) -> tuple[Reals, ...]:
    """Return the places at the start of what is at nodes at time `t`: unit vectors, or x and y.

    On the sphere `t` may be a time for each node and level, [node][level], as are the places then.
    """
    x, y = mesh.x[nodes], mesh.y[nodes]
    if not mesh.on_sphere:
        return (x - t * np.cos(alpha)) % mesh.periods[0], (y - t * np.sin(alpha)) % mesh.periods[1]
    place = np.stack([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)])
    axis = np.array([-np.sin(alpha), 0.0, np.cos(alpha)])
    angle = -2 * np.pi * t / ROTATION_S
    along, across = axis @ place, np.cross(axis, place, axisb=0).T
    if np.ndim(t):
        place, along, across = place[..., None], along[..., None], across[..., None]
    turned = np.cos(angle) * place + np.sin(angle) * across
    return tuple(turned + (1 - np.cos(angle)) * along * axis.reshape(3, *[1] * (turned.ndim - 1)))


def _distance(mesh: MedianDual, start: tuple[Reals, ...]) -> Reals:
    """Straight distance from the centre: of (3 pi/2, 0) in radii; of a plane's middle, half a shorter side is 1."""
    if mesh.on_sphere:
        x, y, z = start
        return np.asarray(np.sqrt(x**2 + (y + 1) ** 2 + z**2))
    x, y = start
    nx, ny = mesh.periods
    return np.asarray(np.hypot(x - nx / 2, y - ny / 2) / (min(nx, ny) / 2))


def bell(mesh: MedianDual, start: tuple[Reals, ...]) -> Reals:
    """The cosine bell of Williamson's test 1, whose slope is not smooth at its foot."""
    away = _distance(mesh, start)
    if mesh.on_sphere:
        away = 2 * np.arcsin(np.minimum(1.0, away / 2))  # along a great circle
        inside = away < BELL_RADIUS
        return np.where(inside, BELL_HEIGHT / 2 * (1 + np.cos(np.pi * away / BELL_RADIUS)), 0.0)
    return np.where(away < 1 / 2, BELL_HEIGHT / 2 * (1 + np.cos(np.pi * away * 2)), 0.0)


def hill(mesh: MedianDual, start: tuple[Reals, ...]) -> Reals:
    """A Gaussian hill of height 1, smooth everywhere."""
    width = HILL_WIDTH if mesh.on_sphere else 4 * HILL_WIDTH
    return np.exp(-width * _distance(mesh, start) ** 2)


def uniform(mesh: MedianDual, start: tuple[Reals, ...]) -> Reals:
    """The same everywhere."""
    del mesh
    return np.ones_like(start[0])


TRACERS: dict[str, Callable[[MedianDual, tuple[Reals, ...]], Reals]] = {"bell": bell, "hill": hill, "uniform": uniform}


def exact(mesh: MedianDual, nodes: NDArray[np.int64], tracer: str, alpha: float, times: Reals) -> Reals:
    """The exact solution [node][level]; `times`: seconds that the flow of each level has taken, slower flows fewer."""
    distinct, level = np.unique(times, return_inverse=True)
    columns = [TRACERS[tracer](mesh, at_start(mesh, nodes, alpha, t)) for t in distinct]
    return np.ascontiguousarray(np.stack(columns, axis=1)[:, level])


def outflow_rates(edges: NDArray[np.integer], fluxes: Reals, inverse_volume: Reals) -> Reals:
    """Share of each node's volume that flows out of it per second; `edges` may lead to nodes beyond those."""
    total = np.zeros(int(edges.max(initial=-1)) + 1)
    outward = np.stack([np.maximum(fluxes, 0), np.maximum(-fluxes, 0)], axis=1)
    np.add.at(total, edges.ravel(), outward.ravel())
    return np.asarray(total[: len(inverse_volume)] * inverse_volume)


DIAGNOSTICS = {
    "mass": "mass",
    "minimum": "minimum",
    "maximum": "maximum",
    "l1": "error l1",
    "l2": "l2",
    "linf": "linf",
}
"""Diagnostics of a dwarf of advection, with their labels: norms of errors are those of Williamson et al. 1992."""


def shear_option(moving: str) -> Any:
    """The option `shear` of a dwarf; `moving`: the flow or wind."""
    help = f"How much slower the {moving} is in the last level, as a share."
    return option(help, 0.0, minimum=0.0, maximum=1.0, swept=False)


def step_option(example: str, **more: Any) -> Any:
    """The option `dt_s` of a dwarf, like `example`; `more`: further arguments of `option`."""
    help = f"Time step, like {example}, in place of the Courant number."
    return option(help, None, flag="--dt", unit="s", what="dt", minimum=1e-9, maximum=1e9, shown="by --courant", **more)
