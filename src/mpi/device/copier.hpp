#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "mpi/device/driver.hpp"
#include "mpi/packing/copier.hpp"

namespace tradewind::mpi {

// A copier for one plan on arrays in the memory of a device, with streams of its own. `stream`: that of the caller's
// work; none: the driver's default stream. Throws InputError where there is no such device.
std::shared_ptr<Copier> make_device_copier(DriverKind kind, int device, std::optional<std::uintptr_t> stream);

}  // namespace tradewind::mpi
