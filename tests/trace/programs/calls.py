"""Calls MPI from Python, and prints for each function how often, and how many bytes it sent and received."""

import sys
from collections import defaultdict

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
NEXT, LAST = (RANK + 1) % SIZE, (RANK - 1) % SIZE
COUNTS = defaultdict(lambda: np.zeros(3, int))


def did(name, sent=0, received=0):
    COUNTS[name] += [1, sent, received]


def point_to_point(out, into):
    size = out.nbytes
    if RANK == 0:
        COMM.Send(out, 1, tag=1)
        did("MPI_Send", size)
    elif RANK == 1:
        COMM.Recv(into, MPI.ANY_SOURCE, tag=1)
        did("MPI_Recv", 0, size)
    requests = [COMM.Irecv(into, LAST, tag=2), COMM.Isend(out, NEXT, tag=2)]
    did("MPI_Irecv")
    did("MPI_Isend", size)
    MPI.Request.Waitall(requests)
    did("MPI_Waitall", 0, size)
    COMM.Sendrecv(out, NEXT, 3, into, LAST, 3)
    did("MPI_Sendrecv", size, size)
    receive, send = COMM.Recv_init(into, LAST, 4), COMM.Send_init(out, NEXT, 4)
    did("MPI_Recv_init")
    did("MPI_Send_init", size)
    for _ in range(3):
        MPI.Prequest.Startall([receive, send])
        did("MPI_Startall")
        receive.Wait()
        send.Wait()
        did("MPI_Wait", 0, size)
        did("MPI_Wait")
    for request in (receive, send):
        request.Free()
        did("MPI_Request_free")


def collective(out, into):
    size = out.nbytes
    COMM.Barrier()
    did("MPI_Barrier")
    COMM.Allreduce(out, into)
    did("MPI_Allreduce", size, size)
    request = COMM.Iallreduce(out, into)
    did("MPI_Iallreduce", size, size)
    request.Wait()
    did("MPI_Wait")
    given = [RANK + 1] * SIZE
    taken = [rank + 1 for rank in range(SIZE)]
    COMM.Alltoallv([out, given], [into, taken])
    did("MPI_Alltoallv", 8 * sum(given), 8 * sum(taken))
    half = COMM.Split(RANK % 2)
    did("MPI_Comm_split")
    half.Bcast(out[:2])
    did("MPI_Bcast", 16 if RANK < 2 else 0, 0 if RANK < 2 else 16)
    half.Free()
    did("MPI_Comm_free")


point_to_point(np.ones(24), np.zeros(24))
collective(np.ones(24), np.zeros(24))
lines = [f"{RANK} {name} {calls} {sent} {received}\n" for name, (calls, sent, received) in COUNTS.items()]
sys.stdout.write("".join(lines))  # at once: lines of two ranks are not mixed
