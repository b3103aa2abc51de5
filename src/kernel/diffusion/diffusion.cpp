#include "kernel/diffusion/diffusion.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/clones.hpp"

namespace tradewind::kernel {

namespace {

constexpr Index reach = 2;

// Up to the next multiple of 32 bytes, the size of a vector.
template <class Real>
Index points_before_boundary(const Real* place) {
    return static_cast<Index>((32 - reinterpret_cast<std::uintptr_t>(place) % 32) % 32 / sizeof(Real));
}

// The five-point Laplacian at one point of a row, with the rows below and above.
template <class Real>
[[gnu::always_inline]] inline Real laplacian(const Real* below, const Real* row, const Real* above, Index x) {
    return ((row[x - 1] + row[x + 1]) + (below[x] + above[x])) - Real{4} * row[x];
}

// A row: from the Laplacian of the row before it (`before`) and its own (`own`) and that of the row after it, which is
// computed meanwhile and takes the place of `before`.
template <class Real>
[[gnu::always_inline]] inline void row_of(const Real* __restrict in, Real* __restrict out, Index pitch, Index columns,
                                          Real alpha, Real* __restrict before, const Real* __restrict own) {
    const Real *next = in + pitch, *after_next = next + pitch;
    before[-1] = laplacian(in, next, after_next, -1);
    const auto point = [&](Index x) __attribute__((always_inline)) {
        const Real after = laplacian(in, next, after_next, x);
        out[x] = in[x] - alpha * (((own[x - 1] + own[x + 1]) + (before[x] + after)) - Real{4} * own[x]);
        before[x] = after;
    };
    // The long loop begins where vectors do not cross cache lines, which is faster.
    const Index head = std::min(columns, points_before_boundary(out));
    for (Index x = 0; x < head; ++x) point(x);
#pragma GCC unroll 2
    for (Index x = head; x < columns; ++x) point(x);
    before[columns] = laplacian(in, next, after_next, columns);
}

// A level's part of the region: rows x columns points from `in` on, `pitch` values from row to row. `kept` has room for
// the Laplacian of two rows, one point wider on both sides.
template <class Real>
[[gnu::always_inline]] inline void level(const Real* in, Real* out, Index pitch, Index rows, Index columns, Real alpha,
                                         Real* kept) {
    // As far from a boundary as the rows that are written, so that loads of both cross no cache line at the same time.
    const Index align = 32 / static_cast<Index>(sizeof(Real)), head = points_before_boundary(out);
    Real* before = kept + points_before_boundary(kept) + 2 * align - head;
    Real* own = before + (columns + 2 + align) / align * align + align;
    for (Index x = -1; x <= columns; ++x) {
        before[x] = laplacian(in - 2 * pitch, in - pitch, in, x);
        own[x] = laplacian(in - pitch, in, in + pitch, x);
    }
    for (Index y = 0; y < rows; ++y, std::swap(before, own))
        row_of(in + y * pitch, out + y * pitch, pitch, columns, alpha, before, own);
}

TRADEWIND_CLONES void run_level(const float* in, float* out, Index pitch, Index rows, Index columns, float alpha,
                                float* kept) {
    level(in, out, pitch, rows, columns, alpha, kept);
}

TRADEWIND_CLONES void run_level(const double* in, double* out, Index pitch, Index rows, Index columns, double alpha,
                                double* kept) {
    level(in, out, pitch, rows, columns, alpha, kept);
}

std::string text(const std::array<Index, 3>& points) {
    return std::to_string(points[layout::X]) + " x " + std::to_string(points[layout::Y]) + " x " +
           std::to_string(points[layout::Z]);
}

template <class Real>
void check(Array<const Real> in, Array<Real> out, const layout::Box& region) {
    if (in.points != out.points)
        throw InputError("arrays of " + text(in.points) + " and " + text(out.points) +
                         " points: equal ones are allowed");
    const layout::Box all = in.box();
    if (in.values < out.values + all.volume() && out.values < in.values + all.volume())
        throw InputError("in and out overlap in memory: the loop reads what it has not written");
    for (int axis : {layout::X, layout::Y, layout::Z}) {
        const Index more = axis == layout::Z ? 0 : reach;
        if (region.begin[axis] < all.begin[axis] + more || region.end[axis] > all.end[axis] - more)
            throw InputError(std::string("region ") + layout::axis_names[axis] + " " +
                             std::to_string(region.begin[axis]) + ":" + std::to_string(region.end[axis]) +
                             " of an array of " + text(in.points) + " points: " + std::to_string(more) +
                             " points around it are needed along " + layout::axis_names[axis]);
    }
}

}  // namespace

template <class Real>
void diffuse(Array<const Real> in, Array<Real> out, const layout::Box& region, double alpha, Team& team) {
    if (region.empty()) return;
    check(in, out, region);
    const Index columns = region.width(layout::X), levels = region.width(layout::Z), row = columns + 2;
    const Index room = (2 * row + 7) / 8 * 8 + 64;  // no two threads write to one cache line
    std::vector<Real> kept(static_cast<std::size_t>(room * team.threads()));
    team.run([&](int thread) {
        const Index first = region.begin[layout::Z] + levels * thread / team.threads();
        const Index last = region.begin[layout::Z] + levels * (thread + 1) / team.threads();
        for (Index z = first; z < last; ++z)
            run_level(in.at(region.begin[layout::X], region.begin[layout::Y], z),
                      out.at(region.begin[layout::X], region.begin[layout::Y], z), in.points[layout::X],
                      region.width(layout::Y), columns, static_cast<Real>(alpha), kept.data() + room * thread);
    });
}

template void diffuse(Array<const float>, Array<float>, const layout::Box&, double, Team&);
template void diffuse(Array<const double>, Array<double>, const layout::Box&, double, Team&);

}  // namespace tradewind::kernel
