#pragma once

#include "base/units.hpp"

namespace tradewind::algorithm {

// 0, 1, -1, 2, -2, ... -> 0, 1, 2, 3, 4, ...
inline Index folded(Index offset) {
    return offset > 0 ? 2 * offset - 1 : -2 * offset;
}

}  // namespace tradewind::algorithm
