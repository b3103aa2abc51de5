/* With LIBRARY: a library in front of MPI's, which fails to free an object, or frees it and
   lets another thread make one before it returns. Else a program of it: a communicator and a
   window that are freed so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

extern int fails;
extern void* (*make)(void*);

#ifdef LIBRARY

int fails = 0;
void* (*make)(void*) = NULL;

int PMPI_Comm_size(MPI_Comm comm, int* size) { /* by which the recorder finds the library */
    return ((int (*)(MPI_Comm, int*))dlsym(RTLD_NEXT, "PMPI_Comm_size"))(comm, size);
}

static int free_by(const char* name, void* object) {
    pthread_t other;
    if (fails) return MPI_ERR_OTHER;
    const int code = ((int (*)(void*))dlsym(RTLD_NEXT, name))(object);
    if (make != NULL) {
        pthread_create(&other, NULL, make, NULL);
        pthread_join(other, NULL);
    }
    return code;
}

int PMPI_Comm_free(MPI_Comm* comm) {
    return free_by("PMPI_Comm_free", comm);
}

int PMPI_Win_free(MPI_Win* window) {
    return free_by("PMPI_Win_free", window);
}

#else

static MPI_Comm comm;
static MPI_Win window;

static void* make_comm(void* nothing) {
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    return nothing;
}

static void* make_window(void* nothing) {
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
    return nothing;
}

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    make_comm(NULL);
    MPI_Comm old_comm = comm, same_comm = comm;
    fails = 1;
    printf("failed: %d\n", MPI_Comm_free(&old_comm) != MPI_SUCCESS);
    fails = 0;
    MPI_Barrier(comm);
    make = make_comm;
    MPI_Comm_free(&old_comm);
    make = NULL;
    printf("same handle: %d\n", comm == same_comm);
    MPI_Barrier(comm);

    make_window(NULL);
    MPI_Win old_window = window, same_window = window;
    fails = 1;
    printf("failed: %d\n", MPI_Win_free(&old_window) != MPI_SUCCESS);
    fails = 0;
    MPI_Win_fence(0, window);
    make = make_window;
    MPI_Win_free(&old_window);
    make = NULL;
    printf("same handle: %d\n", window == same_window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

#endif
