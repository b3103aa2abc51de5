#pragma once

#include "mpi/packing/copy.hpp"

namespace tradewind::mpi {

// The host's function for a copy that adds. Integers wrap around, as NumPy's do.
void choose_adding(StridedCopy& copy);

}  // namespace tradewind::mpi
