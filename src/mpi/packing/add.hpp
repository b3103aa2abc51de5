#pragma once

#include "mpi/field.hpp"
#include "mpi/packing/copy.hpp"

namespace tradewind::mpi {

// Makes a copy add to what is there, element by element. Integers wrap around, as NumPy's do.
void make_adding(StridedCopy& copy, Element element);

}  // namespace tradewind::mpi
