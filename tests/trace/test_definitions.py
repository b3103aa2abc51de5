"""Communicators of several ranks are one where they mean the same."""

import json

from tradewind.trace.definitions import Definitions, merge


def of_rank(rank: int, *lines: dict[str, object]) -> Definitions:
    world = {"communicator": 0, "parent": -1, "call": "", "members": [[0, 4]]}
    return Definitions(rank, [b"".join(json.dumps(line).encode() + b"\n" for line in (world, *lines))])


def test_both_groups_of_an_intercommunicator_mean_the_same_one_and_what_they_merge_to() -> None:
    """Each group has made it of a communicator of its own, and has the groups the other way round."""
    groups = ([[0, 1], [2, 1]], [[1, 1], [3, 1]])
    parts = {
        rank: of_rank(
            rank,
            {"communicator": 1, "parent": 0, "call": "MPI_Comm_split", "members": mine},
            {"communicator": 2, "parent": 1, "call": "MPI_Intercomm_create", "members": mine, "remote": others},
            {"communicator": 3, "parent": 2, "call": "MPI_Intercomm_merge", "members": [*groups[0], *groups[1]]},
        )
        for rank, mine, others in ((0, *groups), (1, groups[1], groups[0]))
    }
    communicators, _ = merge(parts)
    first, second = (part.communicator_numbers for part in parts.values())
    assert first[1] != second[1]
    assert (first[2], first[3]) == (second[2], second[3])
    assert len(communicators) == 5
