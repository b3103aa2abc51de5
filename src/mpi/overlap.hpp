// Arrays whose strides bring two of their elements to one place.
#pragma once

#include "mpi/field.hpp"

namespace tradewind::mpi {

// Whether two elements of an array share bytes. Strides are whole elements.
bool overlaps_itself(const Field& field, Element element);

}  // namespace tradewind::mpi
