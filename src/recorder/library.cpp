#include "recorder/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "recorder/objects.hpp"

namespace tradewind::recorder {
namespace {

constexpr Abi MPICH{.name = "mpich",
                    .handle_size = 4,
                    .status_size = 20,
                    .status_source = 8,
                    .status_tag = 12,
                    .status_bytes = StatusBytes::SPLIT,
                    .any_source = -2,
                    .any_tag = -1,
                    .proc_null = -1,
                    .root = -3,
                    .status_ignore = 1,
                    .in_place = static_cast<Word>(-1),
                    .byte = 0x4c00010d,
                    .world = 0x44000000,
                    .self = 0x44000001,
                    .null_communicator = 0x04000000,
                    .null_request = 0x2c000000,
                    .null_type = 0x0c000000,
                    .combiner_named = 1,
                    .cart = 2,
                    .graph = 1,
                    .dist_graph = 3,
                    .lock_exclusive = 234,
                    .thread_funneled = 1,
                    .thread_serialized = 2,
                    .thread_multiple = 3,
                    .unsupported = 44};

constexpr Abi MPI5{.name = "mpi5",
                   .handle_size = 8,
                   .status_size = 32,
                   .status_source = 0,
                   .status_tag = 4,
                   .status_bytes = StatusBytes::ASK,
                   .any_source = -1,
                   .any_tag = -2,
                   .proc_null = -3,
                   .root = -4,
                   .status_ignore = 0,
                   .in_place = 1,
                   .byte = 0x247,
                   .world = 0x101,
                   .self = 0x102,
                   .null_communicator = 0x100,
                   .null_request = 0x180,
                   .null_type = 0x200,
                   .combiner_named = 101,
                   .cart = 211,
                   .graph = 212,
                   .dist_graph = 213,
                   .lock_exclusive = 301,
                   .thread_funneled = 1024,
                   .thread_serialized = 2048,
                   .thread_multiple = 4096,
                   .unsupported = 55};

constexpr Abi OPEN_MPI{.name = "openmpi",
                       .handle_size = 8,
                       .status_size = 24,
                       .status_source = 0,
                       .status_tag = 4,
                       .status_bytes = StatusBytes::WHOLE,
                       .any_source = -1,
                       .any_tag = -1,
                       .proc_null = -2,
                       .root = -4,
                       .status_ignore = 0,
                       .in_place = 1,
                       .byte = 0,  // addresses of objects of the library, see below
                       .world = 0,
                       .self = 0,
                       .null_communicator = 0,
                       .null_request = 0,
                       .null_type = 0,
                       .combiner_named = 0,
                       .cart = 1,
                       .graph = 2,
                       .dist_graph = 3,
                       .lock_exclusive = 1,
                       .thread_funneled = 1,
                       .thread_serialized = 2,
                       .thread_multiple = 3,
                       .unsupported = 52};

struct Loaded {
    void* library = nullptr;
    Abi abi{};
};
Loaded loaded;

/// Returns the address of an object of the library. A program that names it has its own copy, which the library then
/// uses, too, and which is what the whole process finds first.
Word object(void* library, const char* name) {
    void* of_process = dlsym(RTLD_DEFAULT, name);
    return reinterpret_cast<Word>(of_process != nullptr ? of_process : dlsym(library, name));
}

/// Returns the constants of a library by what it exports: each implementation has objects of its own.
Abi abi_of(void* library, const char* path) {
    if (dlsym(library, "ompi_mpi_comm_world") != nullptr) {
        const auto address = [library](const char* name) { return object(library, name); };
        Abi abi = OPEN_MPI;
        abi.world = address("ompi_mpi_comm_world");
        abi.self = address("ompi_mpi_comm_self");
        abi.null_communicator = address("ompi_mpi_comm_null");
        abi.null_request = address("ompi_request_null");
        abi.null_type = address("ompi_mpi_datatype_null");
        abi.byte = address("ompi_mpi_byte");
        return abi;
    }
    return std::strstr(path, "libmpi_abi") != nullptr ? MPI5 : MPICH;
}

/// Opens the loaded object if it is an MPI library. Python loads MPI privately, so that it is not among what dlsym
/// finds by itself; the name of an object may be anything (libmpi_gnu_91.so.12 on a Cray).
int open_if_mpi(dl_phdr_info* info, std::size_t, void*) {
    const char* path = info->dlpi_name;
    if (path == nullptr || *path == 0) return 0;
    const char* name = file_name(path);
    if (!is_mpi_name(name)) return 0;
    void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_LOCAL);
    if (library == nullptr) return 0;
    if (dlsym(library, "PMPI_Comm_size") == nullptr) {
        dlclose(library);
        return 0;
    }
    // dlsym also looks in what a library needs: libmpifort finds the functions of libmpi, which is taken by itself.
    Dl_info where{};
    if (dladdr(dlsym(library, "PMPI_Comm_size"), &where) == 0 || std::strcmp(where.dli_fname, path) != 0) {
        dlclose(library);
        return 0;
    }
    loaded = {library, abi_of(library, name)};
    return 1;
}

}  // namespace

const Abi& abi() {
    return loaded.abi;
}

void* find(const char* name) {
    if (loaded.library == nullptr && dl_iterate_phdr(open_if_mpi, nullptr) == 0) return nullptr;
    return dlsym(loaded.library, name);
}

}  // namespace tradewind::recorder
