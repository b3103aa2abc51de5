// Tries whether MPI takes pointers to the memory of a device, in a process of its own: see src/mpi/device/trial.hpp.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "mpi/device/trial.hpp"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const rlimit no_core{0, 0};  // an end by a signal is a result
    setrlimit(RLIMIT_CORE, &no_core);
    try {
        return tradewind::mpi::try_device_mpi(tradewind::mpi::parse_driver(argv[1]), std::atoi(argv[2])) == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
