/* Calls functions with large counts by name, as programs do that look for them when they run; counts above an int. Prints
   which of the calls have returned MPI_ERR_COUNT, and how often an error handler was called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static int handled = 0;

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
    if (CALL(name, __VA_ARGS__) == MPI_ERR_COUNT) printf(#name "\n")

int main(int argc, char** argv) {
    const int64_t large = ((int64_t)1 << 32) + 1, one = 1, zero = 0, none = -large;
    int in = 0, out = 7, *shared;
    MPI_Errhandler handlers[3];
    MPI_Request request;
    MPI_Win window, other;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(handle_comm, &handlers[0]);
    MPI_Win_create_errhandler(handle_window, &handlers[1]);
    MPI_File_create_errhandler(handle_file, &handlers[2]);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handlers[0]);
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
    printf("%d handled\n", handled);

    CALL(Alltoallv, &out, &zero, &large, MPI_INT, &in, &zero, &none, MPI_INT, MPI_COMM_SELF);
    CALL(Alltoallv, &out, &one, &zero, MPI_INT, &in, &one, &zero, MPI_INT, MPI_COMM_SELF);
    printf("%d received\n", in);
    MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
