// Preloaded, this makes an MPI library take pointers of the fake device: it hands on the address at which the driver
// reaches their memory, at once: MPI knows nothing of streams.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

void* found(void* library, const char* name) {
    void* const function = library ? dlsym(library, name) : nullptr;
    if (!function) {
        std::fprintf(stderr, "fake MPI: no %s\n", name);
        std::abort();
    }
    return function;
}

template <typename Pointer>
Pointer seen(Pointer address) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver || address == MPI_IN_PLACE) return address;
    using Shadow = void* (*)(void*);
    static const auto shadow = reinterpret_cast<Shadow>(found(driver, "fake_shadow"));
    return static_cast<Pointer>(shadow(const_cast<void*>(static_cast<const void*>(address))));
}

void* library() {
    static void* const mpi = [] {
        void* loaded = nullptr;
        for (const char* const name : {"libmpi.so.12", "libmpi.so.40"})  // MPICH, Open MPI
            if (!loaded) loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
        return loaded;
    }();
    return mpi;
}

template <typename Function, typename... Arguments>
int call(Function*, const char* name, Arguments... arguments) {
    return reinterpret_cast<Function*>(found(library(), name))(arguments...);
}

}  // namespace

#define SENDS(name)                                                                                                  \
    extern "C" int MPI_##name(const void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Request* r) { \
        return call(&MPI_##name, "PMPI_" #name, seen(b), n, t, peer, tag, c, r);                                     \
    }
SENDS(Isend)
SENDS(Issend)
SENDS(Send_init)
SENDS(Ssend_init)

extern "C" int MPI_Irecv(void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Request* r) {
    return call(&MPI_Irecv, "PMPI_Irecv", seen(b), n, t, peer, tag, c, r);
}
extern "C" int MPI_Recv_init(void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Request* r) {
    return call(&MPI_Recv_init, "PMPI_Recv_init", seen(b), n, t, peer, tag, c, r);
}
extern "C" int MPI_Send(const void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c) {
    return call(&MPI_Send, "PMPI_Send", seen(b), n, t, peer, tag, c);
}
extern "C" int MPI_Recv(void* b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm c, MPI_Status* s) {
    return call(&MPI_Recv, "PMPI_Recv", seen(b), n, t, peer, tag, c, s);
}
extern "C" int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int to, int tag, void* rb, int rn, MPI_Datatype rt,
                            int from, int rtag, MPI_Comm c, MPI_Status* s) {
    return call(&MPI_Sendrecv, "PMPI_Sendrecv", seen(b), n, t, to, tag, seen(rb), rn, rt, from, rtag, c, s);
}
extern "C" int MPI_Allreduce(const void* b, void* rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
    return call(&MPI_Allreduce, "PMPI_Allreduce", seen(b), seen(rb), n, t, o, c);
}
extern "C" int MPI_Iallreduce(const void* b, void* rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r) {
    return call(&MPI_Iallreduce, "PMPI_Iallreduce", seen(b), seen(rb), n, t, o, c, r);
}

#define EXCHANGES(name, begun)                                                                                     \
    extern "C" int MPI_##name(const void* b, const int* n, const int* d, MPI_Datatype t, void* rb, const int* rn,  \
                              const int* rd, MPI_Datatype rt, MPI_Comm c) {                                        \
        return call(&MPI_##name, "PMPI_" #name, seen(b), n, d, t, seen(rb), rn, rd, rt, c);                        \
    }                                                                                                              \
    extern "C" int MPI_##begun(const void* b, const int* n, const int* d, MPI_Datatype t, void* rb, const int* rn, \
                               const int* rd, MPI_Datatype rt, MPI_Comm c, MPI_Request* r) {                       \
        return call(&MPI_##begun, "PMPI_" #begun, seen(b), n, d, t, seen(rb), rn, rd, rt, c, r);                   \
    }
EXCHANGES(Alltoallv, Ialltoallv)
EXCHANGES(Neighbor_alltoallv, Ineighbor_alltoallv)
