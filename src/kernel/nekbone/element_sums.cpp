#include "kernel/nekbone/element_sums.hpp"

#include "kernel/nekbone/element_loops.hpp"

namespace tradewind::kernel {

namespace {

// The points of an element along an axis that no other rank has.
struct Own {
    int begin, end;
};

Own own(const ElementBrick& brick, int axis, Index element) {
    const bool low = element == 0 && brick.beyond[axis][0];
    const bool high = element == brick.elements[axis] - 1 && brick.beyond[axis][1];
    return {low ? 1 : 0, brick.points - (high ? 1 : 0)};
}

template <class Real>
[[gnu::always_inline]] inline void sum_pair(Real& one, Real& other) {
    one = other = one + other;
}

template <class Real>
Real* place(const ElementBrick& brick, Real* values, Index x, Index y, Index z) {
    const Index n = brick.points;
    return values + ((z * brick.elements[1] + y) * brick.elements[0] + x) * n * n * n;
}

// Between elements that follow each other along x and along y, of one layer of elements: it stays in the cache.
template <class Real>
void sum_layer(const ElementBrick& brick, Real* values, Index z) {
    const int n = brick.points, plane = n * n;
    const Own k = own(brick, 2, z);
    for (Index y = 0; y < brick.elements[1]; ++y) {
        const Own j = own(brick, 1, y);
        for (Index x = 0; x + 1 < brick.elements[0]; ++x) {
            Real *left = place(brick, values, x, y, z) + n - 1, *right = place(brick, values, x + 1, y, z);
            for (int level = k.begin; level < k.end; ++level)
                for (int row = j.begin; row < j.end; ++row)
                    sum_pair(left[level * plane + row * n], right[level * plane + row * n]);
        }
    }
    for (Index y = 0; y + 1 < brick.elements[1]; ++y)
        for (Index x = 0; x < brick.elements[0]; ++x) {
            const Own i = own(brick, 0, x);
            Real *front = place(brick, values, x, y, z) + plane - n, *back = place(brick, values, x, y + 1, z);
            for (int level = k.begin; level < k.end; ++level)
                for (int column = i.begin; column < i.end; ++column)
                    sum_pair(front[level * plane + column], back[level * plane + column]);
        }
}

// Between the elements of a row of two layers that follow each other.
template <class Real>
void sum_layers(const ElementBrick& brick, Real* values, Index y, Index z) {
    const int n = brick.points, plane = n * n;
    const Own j = own(brick, 1, y);
    for (Index x = 0; x < brick.elements[0]; ++x) {
        const Own i = own(brick, 0, x);
        Real *below = place(brick, values, x, y, z) + (n - 1) * plane, *above = place(brick, values, x, y, z + 1);
        for (int row = j.begin; row < j.end; ++row)
            for (int column = i.begin; column < i.end; ++column)
                sum_pair(below[row * n + column], above[row * n + column]);
    }
}

}  // namespace

template <class Real>
void sum_shared_by_strides(const ElementBrick& brick, Real* values, Team& team) {
    split_work(team, brick.elements[2], [&](int, Index begin, Index end) {
        for (Index z = begin; z < end; ++z) sum_layer(brick, values, z);
    });
    // Threads have rows of their own, in all layers, as a layer takes part in two sums.
    split_work(team, brick.elements[1], [&](int, Index begin, Index end) {
        for (Index z = 0; z + 1 < brick.elements[2]; ++z)
            for (Index y = begin; y < end; ++y) sum_layers(brick, values, y, z);
    });
}

template <class Real>
void sum_shared_by_lists(std::span<const std::int64_t> offsets, std::span<const std::int32_t> places, Real* values,
                         Team& team) {
    const Index groups = offsets.empty() ? 0 : static_cast<Index>(offsets.size()) - 1;
    split_work(team, groups, [&](int, Index begin, Index end) {
        for (Index group = begin; group < end; ++group) {
            const std::int32_t *first = places.data() + offsets[group], *last = places.data() + offsets[group + 1];
            Real sum = values[*first];
            for (const std::int32_t* at = first + 1; at < last; ++at) sum += values[*at];
            for (const std::int32_t* at = first; at < last; ++at) values[*at] = sum;
        }
    });
}

#define TRADEWIND_NEKBONE(Real)                                             \
    template void sum_shared_by_strides(const ElementBrick&, Real*, Team&); \
    template void sum_shared_by_lists(std::span<const std::int64_t>, std::span<const std::int32_t>, Real*, Team&);
TRADEWIND_NEKBONE(float)
TRADEWIND_NEKBONE(double)
#undef TRADEWIND_NEKBONE

}  // namespace tradewind::kernel
