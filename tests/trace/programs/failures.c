/* Goes on where MPI reports errors: waits that fail end their requests all the same. In the callback of an attribute it
   frees a datatype, whose handle the library gives to the next one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int failed = 0;

static void expect_failure(int code) {
    if (code == MPI_SUCCESS) abort();
    failed++;
}

static int free_type(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    return MPI_Type_free((MPI_Datatype*)value);
}

/* Each round: a message that is longer than its receive, ended by another function. */
static void truncated(int rank, int round) {
    double out[4] = {0}, in[4];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int index = 0, count = 0, indices[2], flag = 0;
    MPI_Irecv(in, 1, MPI_DOUBLE, 1 - rank, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 4, MPI_DOUBLE, 1 - rank, round, MPI_COMM_WORLD, &requests[1]);
    if (round == 0) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        expect_failure(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    } else if (round == 1) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        expect_failure(MPI_Waitall(1, requests, statuses));
    } else if (round == 2) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        expect_failure(MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE));
    } else if (round == 3) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        expect_failure(MPI_Waitsome(1, requests, &count, indices, statuses));
    } else {
        int code = MPI_SUCCESS;
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        while (code == MPI_SUCCESS && !flag) code = MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        expect_failure(code);
    }
}

int main(int argc, char** argv) {
    int rank, key;
    double out[64] = {0}, in[64];
    MPI_Comm copy;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < 5; round++) truncated(rank, round);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_type, &key, NULL);
    for (int length = 2; length < 34; length += 31) {
        MPI_Type_contiguous(length, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Comm_set_attr(copy, key, &type);
        MPI_Sendrecv(out, 1, type, 1 - rank, 9, in, 1, type, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_free(&copy);
    }
    printf("%d failures on rank %d\n", failed, rank);
    MPI_Finalize();
    return 0;
}
