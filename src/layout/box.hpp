// A rectangular set of grid points.
#pragma once

#include <algorithm>
#include <array>

#include "base/units.hpp"

namespace tradewind::layout {

enum Axis { X = 0, Y = 1, Z = 2 };
inline constexpr std::array<char, 3> axis_names{'x', 'y', 'z'};

// Points begin[a] <= p < end[a] along each axis a = x, y, z.
struct Box {
    std::array<Index, 3> begin{0, 0, 0};
    std::array<Index, 3> end{0, 0, 0};

    friend bool operator==(const Box&, const Box&) = default;

    Index width(int axis) const { return end[axis] - begin[axis]; }
    Index volume() const { return empty() ? 0 : width(X) * width(Y) * width(Z); }
    bool empty() const { return width(X) <= 0 || width(Y) <= 0 || width(Z) <= 0; }
    bool contains(const Box& other) const {
        for (int a = 0; a < 3; ++a)
            if (other.begin[a] < begin[a] || other.end[a] > end[a]) return false;
        return true;
    }
};

inline Box intersection(const Box& a, const Box& b) {
    Box c;
    for (int i = 0; i < 3; ++i) {
        c.begin[i] = std::max(a.begin[i], b.begin[i]);
        c.end[i] = std::max(c.begin[i], std::min(a.end[i], b.end[i]));
    }
    return c;
}

inline Box shifted(Box box, int axis, Index by) {
    box.begin[axis] += by;
    box.end[axis] += by;
    return box;
}

}  // namespace tradewind::layout
