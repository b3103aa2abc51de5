#pragma once

#include "mpi/field.hpp"

namespace tradewind::mpi {

// Copy a field on a device, whose copier it names, to memory of the host that is as dense as can be, x fastest; and
// back. After the caller's work in the copier's stream, and before its later work. Wait until the host's memory is the
// caller's again.
void copy_to_host(const Field& field, Element element, std::byte* dense);
void copy_from_host(const std::byte* dense, const Field& field, Element element);

}  // namespace tradewind::mpi
