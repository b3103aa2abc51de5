/* Calls functions with large counts by name, as programs do that look for them when they run; counts above an int. Rank
   0 prints which of the calls have returned MPI_ERR_COUNT, how often an error handler was called, and how many calls of
   all ranks failed whose large counts mean nothing there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static int handled = 0, rank = 0;

static void handle_comm(MPI_Comm* comm, int* error, ...) {
    (void)comm;
    handled += *error == MPI_ERR_COUNT;
}
static void handle_window(MPI_Win* window, int* error, ...) {
    (void)window;
    handled += *error == MPI_ERR_COUNT;
}
static void handle_file(MPI_File* file, int* error, ...) {
    (void)file;
    handled += *error == MPI_ERR_COUNT;
}

#define CALL(name, ...) ((int (*)())dlsym(RTLD_DEFAULT, "MPI_" #name "_c"))(__VA_ARGS__)
#define TRY(name, ...) \
    if (CALL(name, __VA_ARGS__) == MPI_ERR_COUNT && rank == 0) printf(#name "\n")

/* At a root that takes part in place, in place everywhere, and where only the root's counts mean something. */
static int without_meaning(int64_t large) {
    const int64_t one = 1, send = rank == 0 ? one : large, receive = rank == 0 ? large : one;
    int two[2] = {0, 0}, in = 0, failed = 0;
    void* const out = rank == 0 ? MPI_IN_PLACE : &in;
    failed += CALL(Scatter, two, send, MPI_INT, out, receive, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
    failed += CALL(Gather, out, receive, MPI_INT, two, send, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
    failed += CALL(Allgather, MPI_IN_PLACE, large, MPI_INT, two, one, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS;
    failed += CALL(Alltoall, MPI_IN_PLACE, large, MPI_INT, two, one, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS;
    return failed;
}

int main(int argc, char** argv) {
    const int64_t large = ((int64_t)1 << 32) + 1, one = 1, zero = 0, none = -large;
    int in = 0, out = 7, failed = 0, all_failed = 0, *shared;
    MPI_Errhandler handlers[3];
    MPI_Request request;
    MPI_Win window, other;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(handle_comm, &handlers[0]);
    MPI_Win_create_errhandler(handle_window, &handlers[1]);
    MPI_File_create_errhandler(handle_file, &handlers[2]);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handlers[0]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[0]);
    MPI_Win_allocate(sizeof in, 1, MPI_INFO_NULL, MPI_COMM_SELF, &shared, &window);
    MPI_Win_set_errhandler(window, handlers[1]);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, handlers[2]);

    TRY(Send, &out, large, MPI_INT, 0, 0, MPI_COMM_SELF);
    TRY(Alltoallv, &out, &one, &zero, MPI_INT, &in, &one, &none, MPI_INT, MPI_COMM_SELF);
    TRY(Ialltoallv, &out, &large, &zero, MPI_INT, &in, &one, &zero, MPI_INT, MPI_COMM_SELF, &request);
    TRY(Win_create, &in, (int64_t)sizeof in, large, MPI_INFO_NULL, MPI_COMM_SELF, &other);
    TRY(Put, &out, one, MPI_INT, 0, zero, large, MPI_INT, window);
    TRY(File_write, file, &out, large, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == 0) printf("%d handled\n", handled);

    CALL(Alltoallv, &out, &zero, &large, MPI_INT, &in, &zero, &none, MPI_INT, MPI_COMM_SELF);
    CALL(Alltoallv, &out, &one, &zero, MPI_INT, &in, &one, &zero, MPI_INT, MPI_COMM_SELF);
    if (rank == 0) printf("%d received\n", in);
    failed = without_meaning(large);
    MPI_Reduce(&failed, &all_failed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d failed\n", all_failed);
    MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
