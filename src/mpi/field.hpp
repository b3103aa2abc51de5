// The arrays that a plan is bound to.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "layout/box.hpp"
#include "mpi/element.hpp"

namespace tradewind::mpi {

class Copier;

// One array of a rank. Any strides, also negative ones.
struct Field {
    std::byte* data = nullptr;      // its element at the lowest x, y and z
    std::array<Index, 3> shape{};   // points along x, y, z
    std::array<Index, 3> stride{};  // bytes from a point to the next one along x, y, z
    // Copies from and to the memory in which the field lies; none: the host's. All fields of a plan lie in one memory.
    std::shared_ptr<Copier> copier{};
};

}  // namespace tradewind::mpi
