/* Preloaded in front of the recorder: counts calls and the bytes that each gives, by the rules of
   docs/reference/trace.md, with the header of the MPI library. MPI_Finalize writes them, one line each (RANK NAME CALLS
   BYTES), into a file in the folder TRADEWIND_COUNTS. LARGE: functions with large counts, too. Names nothing of the
   library but functions: the launcher, into which this is loaded as well, has none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 64 };
static struct {
    const char* name;
    long long calls, bytes;
} counts[FUNCTIONS];

static void did(const char* name, long long bytes) {
    int n = 0;
    while (n < FUNCTIONS && counts[n].name != NULL && strcmp(counts[n].name, name) != 0) n++;
    if (n == FUNCTIONS) abort();
    counts[n].name = name;
    counts[n].calls++;
    counts[n].bytes += bytes;
}

/* A function that is not recorded, and so no other library has: Python loads MPI privately, programs are linked to it.
 */
#define FOUND(FUNCTION) ((__typeof__(&FUNCTION))found(#FUNCTION))
static void* found(const char* name) {
    void* library = dlopen("libmpi.so.12", RTLD_LAZY | RTLD_NOLOAD);
    return dlsym(library != NULL ? library : RTLD_DEFAULT, name);
}

static long long bytes_of(long long count, MPI_Datatype type) {
    int size = 0;
    FOUND(PMPI_Type_size)(type, &size);
    return count * size;
}

static int size_of(MPI_Comm comm) {
    int size = 0;
    FOUND(PMPI_Comm_size)(comm, &size);
    return size;
}

static int is_root(int root, MPI_Comm comm) {
    int rank = 0;
    FOUND(PMPI_Comm_rank)(comm, &rank);
    return rank == root;
}

/* A function MPI_X: NAME, its symbol, parameters, arguments, bytes. */
#define COUNTED(NAME, SYMBOL, PARAMETERS, ARGUMENTS, BYTES) \
    int MPI_##SYMBOL PARAMETERS {                           \
        did("MPI_" NAME, BYTES);                            \
        return PMPI_##SYMBOL ARGUMENTS;                     \
    }

#define TYPE MPI_Datatype type
#define COMM MPI_Comm comm
#define INTO void *into, C many, MPI_Datatype kind
#define IN into, many, kind

#define TYPED(C, _c)                                                                                                 \
    COUNTED("Send", Send##_c, (const void* b, C n, TYPE, int to, int tag, COMM), (b, n, type, to, tag, comm),        \
            bytes_of(n, type))                                                                                       \
    COUNTED("Isend", Isend##_c, (const void* b, C n, TYPE, int to, int tag, COMM, MPI_Request* r),                   \
            (b, n, type, to, tag, comm, r), bytes_of(n, type))                                                       \
    COUNTED("Send_init", Send_init##_c, (const void* b, C n, TYPE, int to, int tag, COMM, MPI_Request* r),           \
            (b, n, type, to, tag, comm, r), bytes_of(n, type))                                                       \
    COUNTED("Recv", Recv##_c, (void* b, C n, TYPE, int from, int tag, COMM, MPI_Status* s),                          \
            (b, n, type, from, tag, comm, s), 0)                                                                     \
    COUNTED("Irecv", Irecv##_c, (void* b, C n, TYPE, int from, int tag, COMM, MPI_Request* r),                       \
            (b, n, type, from, tag, comm, r), 0)                                                                     \
    COUNTED("Recv_init", Recv_init##_c, (void* b, C n, TYPE, int from, int tag, COMM, MPI_Request* r),               \
            (b, n, type, from, tag, comm, r), 0)                                                                     \
    COUNTED("Sendrecv", Sendrecv##_c,                                                                                \
            (const void* b, C n, TYPE, int to, int tag, void* into, C many, MPI_Datatype kind, int from, int its,    \
             COMM, MPI_Status* s),                                                                                   \
            (b, n, type, to, tag, IN, from, its, comm, s), bytes_of(n, type))                                        \
    COUNTED("Bcast", Bcast##_c, (void* b, C n, TYPE, int root, COMM), (b, n, type, root, comm),                      \
            is_root(root, comm) ? bytes_of(n, type) : 0)                                                             \
    COUNTED("Reduce", Reduce##_c, (const void* b, void* into, C n, TYPE, MPI_Op op, int root, COMM),                 \
            (b, into, n, type, op, root, comm), bytes_of(n, type))                                                   \
    COUNTED("Allreduce", Allreduce##_c, (const void* b, void* into, C n, TYPE, MPI_Op op, COMM),                     \
            (b, into, n, type, op, comm), bytes_of(n, type))                                                         \
    COUNTED("Iallreduce", Iallreduce##_c, (const void* b, void* into, C n, TYPE, MPI_Op op, COMM, MPI_Request* r),   \
            (b, into, n, type, op, comm, r), bytes_of(n, type))                                                      \
    COUNTED("Scan", Scan##_c, (const void* b, void* into, C n, TYPE, MPI_Op op, COMM), (b, into, n, type, op, comm), \
            bytes_of(n, type))                                                                                       \
    COUNTED("Gather", Gather##_c, (const void* b, C n, TYPE, void* into, C many, MPI_Datatype kind, int root, COMM), \
            (b, n, type, IN, root, comm), bytes_of(n, type))                                                         \
    COUNTED("Allgather", Allgather##_c, (const void* b, C n, TYPE, void* into, C many, MPI_Datatype kind, COMM),     \
            (b, n, type, IN, comm), b == MPI_IN_PLACE ? bytes_of(many, kind) : bytes_of(n, type))                    \
    COUNTED("Alltoall", Alltoall##_c, (const void* b, C n, TYPE, void* into, C many, MPI_Datatype kind, COMM),       \
            (b, n, type, IN, comm), size_of(comm) * (b == MPI_IN_PLACE ? bytes_of(many, kind) : bytes_of(n, type)))

TYPED(int, )
COUNTED("Allgatherv", Allgatherv,
        (const void* b, int n, TYPE, void* into, const int* many, const int* at, MPI_Datatype kind, COMM),
        (b, n, type, into, many, at, kind, comm), bytes_of(n, type))
#ifdef LARGE
TYPED(MPI_Count, _c)
COUNTED("Allgatherv", Allgatherv_c,
        (const void* b, MPI_Count n, TYPE, void* into, const MPI_Count* many, const MPI_Aint* at, MPI_Datatype kind,
         COMM),
        (b, n, type, into, many, at, kind, comm), bytes_of(n, type))
#endif

COUNTED("Startall", Startall, (int n, MPI_Request* r), (n, r), 0)
COUNTED("Request_free", Request_free, (MPI_Request * r), (r), 0)
COUNTED("Cancel", Cancel, (MPI_Request * r), (r), 0)
COUNTED("Wait", Wait, (MPI_Request * r, MPI_Status* s), (r, s), 0)
COUNTED("Waitall", Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s), 0)
COUNTED("Waitany", Waitany, (int n, MPI_Request* r, int* index, MPI_Status* s), (n, r, index, s), 0)
COUNTED("Test", Test, (MPI_Request * r, int* flag, MPI_Status* s), (r, flag, s), 0)
COUNTED("Testany", Testany, (int n, MPI_Request* r, int* index, int* flag, MPI_Status* s), (n, r, index, flag, s), 0)
COUNTED("Iprobe", Iprobe, (int from, int tag, COMM, int* flag, MPI_Status* s), (from, tag, comm, flag, s), 0)
COUNTED("Barrier", Barrier, (COMM), (comm), 0)
COUNTED("Comm_dup", Comm_dup, (COMM, MPI_Comm* made), (comm, made), 0)
COUNTED("Comm_split", Comm_split, (COMM, int color, int key, MPI_Comm* made), (comm, color, key, made), 0)
COUNTED("Comm_free", Comm_free, (MPI_Comm * freed), (freed), 0)
COUNTED("Cart_create", Cart_create, (COMM, int n, const int* dims, const int* periodic, int reorder, MPI_Comm* made),
        (comm, n, dims, periodic, reorder, made), 0)

int MPI_Finalize(void) {
    const char *folder = getenv("TRADEWIND_COUNTS"), *rank = getenv("PMI_RANK");
    char path[4096];
    FILE* file;
    if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
    if (folder == NULL || rank == NULL) abort();
    snprintf(path, sizeof path, "%s/rank-%s", folder, rank);
    file = fopen(path, "w");
    if (file == NULL) abort();
    for (int n = 0; n < FUNCTIONS && counts[n].name != NULL; n++) {
        fprintf(file, "%s %s %lld %lld\n", rank, counts[n].name, counts[n].calls, counts[n].bytes);
    }
    if (fclose(file) != 0) abort();
    return PMPI_Finalize();
}
