#include "kernel/semi_lagrangian/semi_lagrangian.hpp"

#include "base/error.hpp"
#include "kernel/clones.hpp"
#include "kernel/semi_lagrangian/cells.hpp"
#include "kernel/semi_lagrangian/levels.hpp"
#include "kernel/semi_lagrangian/stencils.hpp"

namespace tradewind::kernel {

namespace {

struct Axes {
    CellAxis x, y;
};

// Places of all columns; of those that lie by rows the first is known. Returns whether the window has them.
template <class Real>
[[gnu::always_inline]] inline bool look_up(const Interpolation& what, const Rows& rows, Placement placement,
                                           const std::int32_t* x, const std::int32_t* y, Index n,
                                           Stencils<Real>& stencils) {
    std::int32_t missing = 0;
    for (int k = all_columns - 1; k >= 0; --k) {
        if (!what.full && is_corner(k / 4, k % 4)) continue;
        if (placement == Placement::scattered) {
            missing |= look_up_columns(what.window, k % 4, k / 4, x, y, n, stencils.place[k]);
            continue;
        }
        const std::int32_t further = k / 4 * rows.pitch + k % 4;
#pragma GCC ivdep
        for (Index i = 0; i < n; ++i) stencils.place[k][i] = stencils.place[0][i] + further;
    }
    return missing >= 0;
}

// The stencils of some points of a row. Returns whether the window has them.
template <class Real>
[[gnu::always_inline]] inline bool prepare(const Interpolation& what, const Axes& axes, const Rows& rows, Index row,
                                           Index n, Index stride, Stencils<Real>& stencils) {
    const Index volume = what.block.points[0] * what.block.points[1] * what.block.levels;
    alignas(64) std::int32_t x[departure_chunk], y[departure_chunk], low[departure_chunk];
    alignas(64) double fx[departure_chunk], fy[departure_chunk], fz[departure_chunk];
    bool there = locate(what.departures + row, n, axes.x, x, fx);
    there = locate(what.departures + volume + row, n, axes.y, y, fy) && there;
    if (what.lifted) there = locate_level(what.departures + 2 * volume + row, n, what.block.levels, low, fz) && there;
    if (!there) return false;
    const Placement placement = placement_of(rows, 4, 4, x, y, n, stencils.place[0]);
    stencils.pitch = rows.pitch;
    stencils.first = placement == Placement::contiguous && !what.lifted ? stencils.place[0][0] : -1;
    if (stencils.first < 0 && !look_up(what, rows, placement, x, y, n, stencils)) return false;
    weigh(fx, n, stencils.x);
    weigh(fy, n, stencils.y);
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        stencils.fx[i] = static_cast<Real>(fx[i]);
        stencils.fy[i] = static_cast<Real>(fy[i]);
    }
    if (what.lifted) weigh_levels(low, fz, n, what.block.levels, stride, stencils);
    return true;
}

template <class Real>
[[gnu::always_inline]] inline bool level_of(const Interpolation& what, const Rows& rows, Layered<Real> field, Index z,
                                            Index first, Index last, Real* scratch, Index apart) {
    const Block& block = what.block;
    const Axes axes{cell_axis(block, what.window, 0, 1, 2), cell_axis(block, what.window, 1, 1, 2)};
    // Cells are counted from the first that a stencil may have: its western or southern column.
    Stencils<Real> stencils;
    bool there = true;
    for (Index y = 0; y < block.points[1]; ++y)
        each_chunk(block.points[0], [&](Index begin, Index n) __attribute__((always_inline)) {
            const Index row = (z * block.points[1] + y) * block.points[0] + begin;
            if (!prepare(what, axes, rows, row, n, field.stride, stencils)) {
                there = false;
                return;
            }
            Real* const to = scratch + y * block.points[0] + begin;
            for (Index tracer = first; tracer < last; ++tracer) {
                const Real* const values = field.values + tracer * block.levels * field.stride;
                Real* const result = to + (tracer - first) * apart;
                by_kind(what, [&](auto full, auto limited) __attribute__((always_inline)) {
                    if (what.lifted)
                        lifted<full(), limited()>(values, stencils, n, result);
                    else if (stencils.first < 0)
                        flat<full(), limited()>(values + z * field.stride, Anywhere<Real>{stencils}, stencils, n,
                                                result);
                    else
                        flat<full(), limited()>(values + z * field.stride, InLine<Real>{stencils.first, stencils.pitch},
                                                stencils, n, result);
                });
            }
        });
    return there;
}

// Levels of tracers first..last - 1 into scratch memory, `apart` values from a tracer to the next one.
TRADEWIND_CLONES bool run_level(const Interpolation& what, const Rows& rows, Layered<float> field, Index z, Index first,
                                Index last, float* scratch, Index apart) {
    return level_of(what, rows, field, z, first, last, scratch, apart);
}

TRADEWIND_CLONES bool run_level(const Interpolation& what, const Rows& rows, Layered<double> field, Index z,
                                Index first, Index last, double* scratch, Index apart) {
    return level_of(what, rows, field, z, first, last, scratch, apart);
}

// Whether the columns or rows of all n stencils that begin in these cells lie in the block.
[[gnu::always_inline]] inline bool within(const std::int32_t* cell, Index n, Index from, Index to) {
    int outside = 0;
    for (Index i = 0; i < n; ++i) outside |= (cell[i] < from) | (cell[i] > to) ? 1 : 0;
    return outside == 0;
}

// Returns whether the window has all stencils.
TRADEWIND_CLONES bool mark_all(const double* departures, const Block& block, const Window& window, Reach reach,
                               std::uint8_t* marks, const Chunks* chunks, int done) {
    const Index before = reach == Reach::linear ? 0 : 1, width = reach == Reach::linear ? 2 : 4;
    const CellAxis along_x = cell_axis(block, window, 0, before, width - 1 - before);
    const CellAxis along_y = cell_axis(block, window, 1, before, width - 1 - before);
    const Index volume = block.points[0] * block.points[1] * block.levels;
    const Index from_x = -window.first[0], to_x = from_x + block.points[0] - width;
    const Index from_y = -window.first[1], to_y = from_y + block.points[1] - width;
    const auto far = [&](const Chunk& chunk) __attribute__((always_inline)) {
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const double first = chunk.low[axis] - static_cast<double>(before);
            const double last = chunk.high[axis] + static_cast<double>(width - 1 - before);
            if (!(first >= 0 && last < static_cast<double>(block.points[axis]))) return true;
        }
        return false;
    };
    alignas(64) std::int32_t x[departure_chunk], y[departure_chunk];
    alignas(64) double rest[departure_chunk];
    bool there = true;
    std::size_t number = 0;
    for (Index row = 0; row < volume; row += block.points[0])
        each_chunk(block.points[0], [&](Index begin, Index n) __attribute__((always_inline)) {
            if (chunks != nullptr) {
                const Chunk& chunk = chunks->all[number++];
                if (chunk.done != done || !far(chunk)) return;
                // The next one is often that of the next row.
                const double* const next = departures + row + block.points[0] + begin;
                for (Index i = 0; i < n && row + block.points[0] < volume; i += 8) {
                    __builtin_prefetch(next + i);
                    __builtin_prefetch(next + volume + i);
                }
            }
            const bool in_x = locate(departures + row + begin, n, along_x, x, rest);
            const bool in_y = locate(departures + volume + row + begin, n, along_y, y, rest);
            there = there && in_x && in_y;
            if (!there || (within(x, n, from_x, to_x) && within(y, n, from_y, to_y))) return;
            for (Index i = 0; i < n; ++i) {
                if ((x[i] >= from_x) & (x[i] <= to_x) & (y[i] >= from_y) & (y[i] <= to_y)) continue;
                for (Index line = 0; line < width; ++line) {
                    std::uint8_t* const to = marks + (y[i] + line) * window.cells[0] + x[i];
                    const bool outer = reach == Reach::quasi_cubic && (line == 0 || line == 3);
                    for (Index column = outer ? 1 : 0; column < (outer ? 3 : width); ++column) to[column] = 1;
                }
            }
        });
    return there;
}

}  // namespace

void mark(const double* departures, const Block& block, const Window& window, Reach reach, std::uint8_t* marks,
          const Chunks* chunks, int done) {
    if (!mark_all(departures, block, window, reach, marks, chunks, done))
        throw InputError("departure points: the window does not have the stencil of one of them");
}

template <class Real>
Index interpolate(const Interpolation& what, Layered<Real> field, Team& team) {
    const Rows rows = rows_of(what.window, what.block);
    return interpolate_levels(what, field, team, [&](Index z, Index first, Index last, Real* scratch, Index apart) {
        return run_level(what, rows, field, z, first, last, scratch, apart);
    });
}

template Index interpolate(const Interpolation&, Layered<float>, Team&);
template Index interpolate(const Interpolation&, Layered<double>, Team&);

}  // namespace tradewind::kernel
