"""Lists of points that each rank wants: by their global ids, or by owner and index, as the core takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tradewind.base import memory
from tradewind.base.arrays import host_array
from tradewind.base.deferred import Deferred
from tradewind.base.errors import InputError, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Described = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]
    """Owners, indices, places and the points of the target array of one rank."""
else:
    np = Deferred("numpy")


_MANY = 2**24
"""Numbers of a list from which on memory is asked for before it is taken."""


def ids(what: str, values: Any) -> NDArray[np.int64]:
    """A list of whole numbers as the core takes it. Raises InputError for anything else."""
    array = host_array(what, values)
    if array is None:
        if hasattr(values, "__len__"):
            _require(what, len(values))
        try:
            array = np.asarray(values)
        except (TypeError, ValueError):
            raise InputError(f"{what} {quoted(values)}: a list of whole numbers is allowed") from None
        if array.ndim == 1 and array.dtype.kind == "f":  # so does NumPy convert whole numbers that no type of its holds
            _check_largest(what, array, values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim == 1 and array.dtype.kind in "uO":
        _check_largest(what, array, array.tolist())
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"{what}: an array of shape {array.shape} and type {array.dtype}; a list of whole numbers is allowed"
        )
    if array.dtype != np.int64 or not array.flags.c_contiguous:
        _require(what, array.size)
    return np.ascontiguousarray(array, dtype=np.int64)


def _require(what: str, count: int) -> None:
    """Raises InputError where memory does not suffice for a list of `count` numbers."""
    if count > _MANY:
        memory.require(f"{what}: a list of {count} numbers", 8 * count, "list fewer on each rank")


def _check_largest(what: str, array: NDArray[Any], values: Any) -> None:
    """NumPy keeps whole numbers beyond the core's as unsigned ones, as objects or as floating-point numbers."""
    if array.dtype.kind == "u" and array.max() <= np.iinfo(np.int64).max:
        return
    for entry, number in enumerate(values):
        if isinstance(number, int) and number > np.iinfo(np.int64).max:
            raise InputError(f"{what}: entry {entry} is {number}: up to 2^63 - 1 are allowed")
        if isinstance(number, int) and number < np.iinfo(np.int64).min:
            raise InputError(f"{what}: entry {entry} is {number}: -2^63 and more are allowed")


def listed(what: str, lists: Sequence[ArrayLike]) -> list[NDArray[np.int64]]:
    """The lists of all ranks. Raises InputError that names the rank, as `ids` does."""
    if not isinstance(lists, Iterable) or getattr(lists, "shape", None) == ():
        raise InputError(f"{what}: {quoted(lists)}: a list for each rank is allowed")
    return [ids(f"{what}, rank {rank}", values) for rank, values in enumerate(lists)]


def of_owners(
    counts: Sequence[int],
    lists: Sequence[tuple[ArrayLike, ArrayLike]],
    places: Sequence[ArrayLike] | None,
    one_array: bool,
) -> tuple[list[int], list[Described]]:
    """Points of the source array and the lists of each rank; the arguments are those of `Fetch.of_owners`.

    Raises InputError for lists of another number than `counts`, and as `ids` does.
    """
    for what, given in (("lists", lists), ("places", places)):
        if given is not None and len(given) != len(counts):
            raise InputError(f"{len(given)} {what} for {len(counts)} counts: one for each rank is allowed")
    described: list[Described] = []
    for rank, (owner_list, index_list) in enumerate(lists):
        owner, index = ids("owner", owner_list), ids("index", index_list)
        begin = counts[rank] if one_array and places is None else 0
        place = np.arange(begin, begin + owner.size) if places is None else places[rank]
        target = counts[rank] + owner.size if one_array and places is None else None
        places_here = ids("place", place)
        if target is None:
            target = counts[rank] if one_array else int(np.max(places_here, initial=-1)) + 1
        described.append((owner, index, places_here, target))
    sources = [d[3] if one_array else count for d, count in zip(described, counts, strict=True)]
    return sources, described
