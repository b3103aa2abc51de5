#pragma once

#include <string>

#include "mpi/device/driver.hpp"

namespace tradewind::mpi {

// Whether MPI takes pointers to the memory of a device, and how that is known.
struct DeviceMpi {
    bool takes = false;
    std::string reason;
};

// Found by trying, once per process: a child process sends itself messages in the device's memory, so that an MPI
// library that cannot do that ends the child alone. TRADEWIND_DEVICE_MPI, "direct" or "staged", takes the place of the
// trial. Throws InputError for another value.
const DeviceMpi& device_mpi(DriverKind kind, int device);

// The work of the child, see bindings/c/program/device_trial.cpp. Returns 0 where all messages arrived.
int try_device_mpi(DriverKind kind, int device);

}  // namespace tradewind::mpi
