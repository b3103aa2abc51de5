// Quantities with a unit. A bare number never crosses a public function: the type is what it counts.
#pragma once

#include <compare>
#include <cstdint>

namespace tradewind {

using Rank = std::int32_t;   // a rank, also a node or a switch by the variable's name
using Index = std::int64_t;  // a grid point along one direction, or a count of points

// A count of bytes.
struct Bytes {
    std::int64_t value = 0;
    friend auto operator<=>(Bytes, Bytes) = default;
    friend Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
    Bytes& operator+=(Bytes b) {
        value += b.value;
        return *this;
    }
};

// Time of the simulator: integer picoseconds, so that a sum does not depend on the order of its terms.
struct Picoseconds {
    std::int64_t value = 0;
    friend auto operator<=>(Picoseconds, Picoseconds) = default;
    friend Picoseconds operator+(Picoseconds a, Picoseconds b) { return {a.value + b.value}; }
    friend Picoseconds operator-(Picoseconds a, Picoseconds b) { return {a.value - b.value}; }
    double seconds() const { return static_cast<double>(value) * 1e-12; }
};

struct BytesPerSecond {
    double value = 0;
    friend auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
};

}  // namespace tradewind
