// The operations of a reduction, element by element.
#pragma once

#include <cstddef>
#include <string>

#include "base/combine.hpp"
#include "mpi/field.hpp"

namespace tradewind::mpi {

Operation parse_operation(const std::string& name);
const char* name_of(Operation operation);

// into[i] = left[i] op right[i]; `into` may be `left` or `right`. Integers wrap around, as NumPy's do.
using Combine = void (*)(std::byte* into, const std::byte* left, const std::byte* right, Index count);

// Throws InputError for the minimum or maximum of complex numbers.
Combine combine_function(Element element, Operation operation);

}  // namespace tradewind::mpi
