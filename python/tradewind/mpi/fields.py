"""The arrays that a plan is bound to: their checks, and their description for the core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.arrays import host_array, is_array
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.mpi.device import device_array, has_copier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Described = tuple[Array, Sequence[int], Sequence[int]]
    """An array, its points along x, y and z, and the bytes from one to the next along each."""

ELEMENTS = {np.dtype(name): name for name in DTYPES}
"""Element types in native byte order -> their names."""


def checked(what: str, fields: Array | Sequence[Array], *, writable: bool) -> list[Array]:
    """The arrays of a plan. Raises InputError for what is none, or none that can be sent from or written into."""
    arrays = plan_arrays(what, fields)
    if not arrays:
        raise InputError(f"no {what} field: one array or more are allowed")
    for number, array in enumerate(arrays):
        if problem := _problem(array, arrays[0], writable):
            raise InputError(f"{what} field {number} {problem}")
    return arrays


def plan_arrays(what: str, fields: Any) -> list[Array]:
    """One array or several as NumPy's, of whatever library they are, also of a device (see `device_array`).

    Raises InputError for what is in memory that plans do not take. What is no array stays as it is.
    """
    return [
        device_array(f"{what} field {number}", field) if has_copier(field) else _on_host(what, number, field)
        for number, field in enumerate(_listed(what, fields))
    ]


def host_arrays(what: str, fields: Any) -> list[Array]:
    """The same of arrays in the host's memory alone."""
    return [_on_host(what, number, field) for number, field in enumerate(_listed(what, fields))]


def _listed(what: str, fields: Any) -> list[Any]:
    if is_array(fields):
        return [fields]
    if not isinstance(fields, Iterable):
        raise InputError(f"{what} field {_problem(fields, fields, False)}")
    return list(fields)


def _on_host(what: str, number: int, field: Any) -> Any:
    array = host_array(f"{what} field {number}", field)
    return field if array is None else array


def _problem(array: Any, first: Array, writable: bool) -> str:
    """Return the problem of an array; "" if there is none. Fast, since plans are made on demand, too."""
    if not isinstance(array, np.ndarray):
        return f"is a {type(array).__name__}: an array is allowed, NumPy's or one with DLPack or the buffer protocol"
    if array.dtype not in ELEMENTS:
        return f"has the type {array.dtype}: {', '.join(DTYPES)} in native byte order are allowed"
    if array.dtype != first.dtype:
        return f"has the type {array.dtype}, field 0 {first.dtype}: all fields of a plan have one type"
    flags = array.flags
    if writable and not flags.writeable:
        return "is read-only, but the plan writes into it"
    if flags.c_contiguous and flags.aligned:
        return ""
    if not flags.aligned or any(s % array.itemsize for s in array.strides):
        return f"is not aligned: strides of whole elements are allowed, not {array.strides} bytes"
    if writable and array.size and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        return f"repeats elements (strides {array.strides} bytes), but the plan writes into it"
    return ""


def checked_targets(
    pattern: _core.Pattern, sources: list[Array], target: Array | Sequence[Array] | None
) -> list[Array]:
    """Return the arrays that a plan writes. Raises InputError if they do not fit those that it reads."""
    if pattern.in_place or (target is None and pattern.one_array):
        if target is not None:
            raise InputError(f"a {pattern.name} works in place: give no target")
        _check_apart(sources, [])
        return sources
    if target is None:
        raise InputError(f"a {pattern.name} needs target arrays")
    targets = checked("target", target, writable=True)
    if targets[0].dtype != sources[0].dtype:
        raise InputError(f"the source has the type {sources[0].dtype}, the target {targets[0].dtype}: one is allowed")
    _check_apart(targets, sources)
    return targets


def _check_apart(written: list[Array], read: list[Array]) -> None:
    """No array may share memory with one that is written."""
    both = [*written, *read]
    for n, array in enumerate(written):
        for m in range(n + 1, len(both)):
            if np.may_share_memory(array, both[m]) and _share(array, both[m]):
                names = [f"field {i}" for i in range(len(written))]
                if read:
                    names = [f"target {name}" for name in names] + [f"source field {i}" for i in range(len(read))]
                raise InputError(f"{names[n]} and {names[m]} overlap in memory: the plan writes into the first")


def _share(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=10**6)  # type: ignore[arg-type]  # the stubs of NumPy know -1 and 0 only
    except np.exceptions.TooHardError:
        return True


def checked_dims(dims: str) -> str:
    """Raises InputError for what is no order of the three directions."""
    if sorted(dims) != ["x", "y", "z"]:
        raise InputError(f"dims {dims!r}: an order of the three letters x, y, z is allowed, like 'zyx'")
    return dims


def described_box(array: Array, pattern: _core.Pattern, dims: str) -> Described:
    """Describe an array of any pattern but a fetch; the core checks the shape."""
    if isinstance(pattern, _core.Redistribution) and pattern.from_layout.grid.points[1] == 1:
        array, dims = _in_one_row(array, dims), "zyx"
    if pattern.reduces and array.ndim == 1:
        return array, (array.shape[0], 1, 1), (array.strides[0], array.nbytes, array.nbytes)
    if array.ndim != 3:
        wanted = "one dimension" if pattern.reduces else f"three dimensions, ({', '.join('n' + d for d in dims)}),"
        raise InputError(f"a field of shape {array.shape}: {wanted} are allowed")
    order = [dims.index(axis) for axis in "xyz"]
    return array, [array.shape[i] for i in order], [array.strides[i] for i in order]


def _in_one_row(array: Array, dims: str) -> Array:
    """An array of bands as [z][1][point]: from [z][point], or from rows that follow each other in memory."""
    if array.ndim == 2:
        return array[:, None, :] if dims.index("z") < dims.index("x") else array.T[:, None, :]
    if array.ndim != 3:
        return array
    rows = array.transpose([dims.index(axis) for axis in "zyx"])
    nz, ny, nx = rows.shape
    if ny == 1 or not rows.size:
        return rows
    if nx > 1 and rows.strides[1] != nx * rows.strides[2]:
        raise InputError(
            f"a field of shape {array.shape} and strides {array.strides} bytes: bands of it are sent, so its rows must "
            "follow each other in memory"
        )
    step = rows.strides[2] if nx > 1 else rows.strides[1]
    return np.lib.stride_tricks.as_strided(
        rows, (nz, 1, nx * ny), (rows.strides[0], 0, step), subok=True, writeable=rows.flags.writeable
    )
