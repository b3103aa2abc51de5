// A rank's part of a field as the compiled loops see it.
#pragma once

#include <array>

#include "layout/box.hpp"

namespace tradewind::kernel {

// [z][y][x], x fastest, no gaps: points[X] * points[Y] * points[Z] values.
template <class Real>
struct Array {
    Real* values = nullptr;
    std::array<Index, 3> points{0, 0, 0};

    Real* at(Index x, Index y, Index z) const { return values + (z * points[layout::Y] + y) * points[layout::X] + x; }
    layout::Box box() const { return {{0, 0, 0}, points}; }
};

}  // namespace tradewind::kernel
