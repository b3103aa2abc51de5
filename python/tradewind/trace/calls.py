"""The MPI functions that a trace may hold, and what each of them is: the one list that readers of traces share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Kinds of MPI functions. Those of a kind fill the same columns of an operation."""

    SEND = "send"
    """Sends to `peer` with `tag`: `bytes`."""
    RECEIVE = "receive"
    """Receives from `source` with `source_tag`; `received` as the status has it, or the buffer's size if it started."""
    SENDRECV = "sendrecv"
    """Both."""
    START = "start"
    """Starts the persistent or partitioned requests `asked`."""
    PARTITION = "partition"
    """Marks or tests the partition `argument` of the request in `asked`."""
    PROBE = "probe"
    """Looks for a message from `source`; `argument` is 1 if there is one."""
    WAIT = "wait"
    """Waits for the requests `asked`; those that ended, in the order of the call's result, are in `ended`."""
    TEST = "test"
    """As a wait, without waiting; `argument` is 1 if the call returned true, or some requests ended."""
    CANCEL = "cancel"
    """Cancels the request in `asked`."""
    FREE = "free"
    """Frees the request in `asked`."""
    COLLECTIVE = "collective"
    """All ranks of `communicator`; the root, if any, is `peer`."""
    NEIGHBOR = "neighbor"
    """A collective operation of the neighbors of a rank in `communicator`."""
    ONE_SIDED = "one-sided"
    """Accesses the window `window` of rank `peer`: writes `bytes`, reads `received`."""
    EPOCH = "epoch"
    """Opens, ends or flushes an epoch of `window`."""
    MAKE = "make"
    """Makes the communicator or the window `created`."""
    ENVIRONMENT = "environment"
    """Begins or ends MPI."""
    OTHER = "other"
    """Everything else: counted, with its time."""


class Form(Enum):
    """Ways to complete: in the call, by a request that the call starts, or by one that it only prepares."""

    BLOCKING = "blocking"
    NONBLOCKING = "nonblocking"
    PERSISTENT = "persistent"


@dataclass(frozen=True)
class Call:
    """An MPI function; those with large counts (`_c`) have the name of the others."""

    name: str
    kind: Kind
    form: Form = Form.BLOCKING
    base: str = ""
    """The name of the blocking function of a collective operation without MPI_, as Allreduce; the mode of a send."""


MODES = {"": "standard", "B": "buffered", "S": "synchronous", "R": "ready"}
"""The modes of sends, by the letter in their names."""
COLLECTIVES = (
    *("Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall"),
    *("Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"),
)
"""Collective operations; each has a nonblocking and a persistent form."""
NEIGHBOR_COLLECTIVES = tuple(
    f"Neighbor_{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
)
"""Collective operations of neighbors; each has a nonblocking and a persistent form."""
_ONE_SIDED = (
    *("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"),
    *("Rput", "Rget", "Raccumulate", "Rget_accumulate"),
)
_EPOCHS = (
    *("fence", "start", "complete", "post", "wait", "test", "lock", "unlock", "lock_all", "unlock_all"),
    *("flush", "flush_local", "flush_all", "flush_local_all", "sync"),
)
_MADE = (
    *("Comm_dup", "Comm_dup_with_info", "Comm_idup", "Comm_idup_with_info", "Comm_split", "Comm_split_type"),
    *("Comm_create", "Comm_create_group", "Comm_create_from_group", "Cart_create", "Cart_sub", "Graph_create"),
    *("Dist_graph_create", "Dist_graph_create_adjacent", "Intercomm_create", "Intercomm_merge"),
    *("Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic"),
)


def _forms(base: str, kind: Kind) -> list[Call]:
    """Return the three forms of a collective operation."""
    return [
        Call(f"MPI_{base}", kind, Form.BLOCKING, base),
        Call(f"MPI_I{base[0].lower()}{base[1:]}", kind, Form.NONBLOCKING, base),
        Call(f"MPI_{base}_init", kind, Form.PERSISTENT, base),
    ]


def _point_to_point() -> list[Call]:
    calls = []
    for letter, mode in MODES.items():
        name = f"{letter}send" if letter else "Send"
        calls += [
            Call(f"MPI_{name}", Kind.SEND, Form.BLOCKING, mode),
            Call(f"MPI_I{letter.lower()}send", Kind.SEND, Form.NONBLOCKING, mode),
            Call(f"MPI_{name}_init", Kind.SEND, Form.PERSISTENT, mode),
        ]
    return [
        *calls,
        Call("MPI_Psend_init", Kind.SEND, Form.PERSISTENT, "partitioned"),
        Call("MPI_Recv", Kind.RECEIVE),
        Call("MPI_Mrecv", Kind.RECEIVE),
        Call("MPI_Irecv", Kind.RECEIVE, Form.NONBLOCKING),
        Call("MPI_Imrecv", Kind.RECEIVE, Form.NONBLOCKING),
        Call("MPI_Recv_init", Kind.RECEIVE, Form.PERSISTENT),
        Call("MPI_Precv_init", Kind.RECEIVE, Form.PERSISTENT, "partitioned"),
        Call("MPI_Sendrecv", Kind.SENDRECV),
        Call("MPI_Sendrecv_replace", Kind.SENDRECV),
        Call("MPI_Isendrecv", Kind.SENDRECV, Form.NONBLOCKING),
        Call("MPI_Isendrecv_replace", Kind.SENDRECV, Form.NONBLOCKING),
    ]


def _all_calls() -> list[Call]:
    named = {
        Kind.START: ("Start", "Startall"),
        Kind.PARTITION: ("Pready", "Pready_range", "Pready_list", "Parrived"),
        Kind.PROBE: ("Probe", "Iprobe", "Mprobe", "Improbe"),
        Kind.WAIT: ("Wait", "Waitall", "Waitany", "Waitsome"),
        Kind.TEST: ("Test", "Testall", "Testany", "Testsome", "Request_get_status"),
        Kind.CANCEL: ("Cancel",),
        Kind.FREE: ("Request_free",),
        Kind.EPOCH: tuple(f"Win_{name}" for name in _EPOCHS),
        Kind.MAKE: _MADE,
        Kind.ENVIRONMENT: ("Init", "Init_thread", "Finalize", "Abort"),
        Kind.OTHER: ("Comm_free", "Comm_disconnect", "Win_free"),
    }
    return [
        *_point_to_point(),
        *(call for base in COLLECTIVES for call in _forms(base, Kind.COLLECTIVE)),
        *(call for base in NEIGHBOR_COLLECTIVES for call in _forms(base, Kind.NEIGHBOR)),
        *(
            Call(f"MPI_{name}", Kind.ONE_SIDED, Form.NONBLOCKING if name[0] == "R" else Form.BLOCKING)
            for name in _ONE_SIDED
        ),
        *(Call(f"MPI_{name}", kind) for kind, names in named.items() for name in names),
    ]


CALLS: tuple[Call, ...] = tuple(_all_calls())
"""All functions; the column `call` of an operation is an index into this."""
NUMBERS: dict[str, int] = {call.name: number for number, call in enumerate(CALLS)}
"""The number of each function, by its name as MPI_Isend."""
