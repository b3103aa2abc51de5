// A part of a field as loops see it whose rows need not follow each other.
#pragma once

#include <array>

#include "layout/box.hpp"

namespace tradewind::kernel {

// [z][y][x] with points[X] * points[Y] * points[Z] values: those of a row follow each other; `row` values from row to
// row, `level` values from level to level.
template <class Real>
struct View {
    Real* values = nullptr;
    std::array<Index, 3> points{0, 0, 0};
    Index row = 0, level = 0;

    Real* at(Index y, Index z) const { return values + z * level + y * row; }
};

}  // namespace tradewind::kernel
