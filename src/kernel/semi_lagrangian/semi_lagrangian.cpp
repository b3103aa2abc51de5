#include "kernel/semi_lagrangian/semi_lagrangian.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "kernel/clones.hpp"
#include "kernel/semi_lagrangian/cells.hpp"

namespace tradewind::kernel {

namespace {

// Columns of the full stencil, of which the quasi-cubic one has all but its corners.
constexpr int all_columns = 16;

[[gnu::always_inline]] inline bool is_corner(int row, int column) {
    return (row == 0 || row == 3) && (column == 0 || column == 3);
}

// Where the values of some points are, and their weights.
template <class Real>
struct Stencils {
    alignas(64) std::int32_t place[all_columns][departure_chunk];
    alignas(64) Real x[4][departure_chunk], y[4][departure_chunk], z[4][departure_chunk], fx[departure_chunk],
        fy[departure_chunk];
    alignas(64) Index level[4][departure_chunk];  // in values: the two around the point, then the two beyond
    Index first = -1, pitch = 0;                  // where the stencils lie in line, their first column; else -1
};

// Values of the columns of a stencil wherever they lie.
template <class Real>
struct Anywhere {
    const Stencils<Real>& s;
    [[gnu::always_inline]] Real operator()(const Real* values, int column, Index i) const {
        return values[s.place[column][i]];
    }
};

template <class Real>
struct InLine {
    Index first, pitch;
    [[gnu::always_inline]] Real operator()(const Real* values, int column, Index i) const {
        return values[first + (column / 4 * pitch + column % 4) + i];
    }
};

// Cubic weights of Lagrange at t, of points at -1, 0, 1 and 2.
template <class Real>
[[gnu::always_inline]] inline void weigh(const double* t, Index n, Real (*weight)[departure_chunk]) {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double a = t[i] + 1, b = t[i], c = t[i] - 1, d = t[i] - 2;
        weight[0][i] = static_cast<Real>(b * c * d * (-1.0 / 6));
        weight[1][i] = static_cast<Real>(a * c * d * 0.5);
        weight[2][i] = static_cast<Real>(a * b * d * -0.5);
        weight[3][i] = static_cast<Real>(a * b * c * (1.0 / 6));
    }
}

// Cubic weights in the vertical, of the two levels around a point and two more: those beyond them, or, at the bottom
// and the top, the next two.
template <class Real>
[[gnu::always_inline]] inline void weigh_levels(const std::int32_t* low, const double* t, Index n, Index levels,
                                                Index stride, Stencils<Real>& stencils) {
    const auto top = static_cast<std::int32_t>(levels - 2);
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const std::int32_t a = low[i];
        const std::int32_t c = a == 0 ? 2 : a == top ? top - 2 : a - 1;
        const std::int32_t d = a == 0 ? 3 : a == top ? top - 1 : a + 2;
        const double at[4] = {0.0, 1.0, static_cast<double>(c - a), static_cast<double>(d - a)};
        const std::int32_t level[4] = {a, a + 1, c, d};
        for (int k = 0; k < 4; ++k) {
            double weight = 1;
            for (int other = 0; other < 4; ++other)
                weight *= other == k ? 1.0 : (t[i] - at[other]) / (at[k] - at[other]);
            stencils.z[k][i] = static_cast<Real>(weight);
            stencils.level[k][i] = level[k] * stride;
        }
    }
}

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

template <class Real, class At>
[[gnu::always_inline]] inline Real linear(const Real* values, At at, const Stencils<Real>& s, int row, Index i) {
    const Real a = at(values, 4 * row + 1, i), b = at(values, 4 * row + 2, i);
    return a + s.fx[i] * (b - a);
}

template <class Real, class At>
[[gnu::always_inline]] inline Real cubic(const Real* values, At at, const Stencils<Real>& s, int row, Index i) {
    const int first = 4 * row;
    return (s.x[0][i] * at(values, first, i) + s.x[1][i] * at(values, first + 1, i)) +
           (s.x[2][i] * at(values, first + 2, i) + s.x[3][i] * at(values, first + 3, i));
}

// The value of a level at point i, by 12 or 16 of its columns.
template <bool full, class Real, class At>
[[gnu::always_inline]] inline Real in_level(const Real* values, At at, const Stencils<Real>& s, Index i) {
    const Real south = full ? cubic(values, at, s, 0, i) : linear(values, at, s, 0, i);
    const Real north = full ? cubic(values, at, s, 3, i) : linear(values, at, s, 3, i);
    return (s.y[0][i] * south + s.y[1][i] * cubic(values, at, s, 1, i)) +
           (s.y[2][i] * cubic(values, at, s, 2, i) + s.y[3][i] * north);
}

// The value of a level by the four columns around point i.
template <class Real, class At>
[[gnu::always_inline]] inline Real bilinear(const Real* values, At at, const Stencils<Real>& s, Index i) {
    const Real south = linear(values, at, s, 1, i), north = linear(values, at, s, 2, i);
    return south + s.fy[i] * (north - south);
}

template <class Real>
struct Range {
    Real low, high;
};

template <class Real, class At>
[[gnu::always_inline]] inline Range<Real> nearest(const Real* values, At at, Index i) {
    const Real a = at(values, 5, i), b = at(values, 6, i), c = at(values, 9, i), d = at(values, 10, i);
    const Real low = a < b ? a : b, high = a < b ? b : a, low2 = c < d ? c : d, high2 = c < d ? d : c;
    return {low < low2 ? low : low2, high > high2 ? high : high2};
}

template <bool full, bool limited, class Real, class At>
[[gnu::always_inline]] inline void flat(const Real* values, At at, const Stencils<Real>& s, Index n, Real* to) {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        Real value = in_level<full>(values, at, s, i);
        if constexpr (limited) {
            const Range<Real> range = nearest(values, at, i);
            value = value < range.low ? range.low : value > range.high ? range.high : value;
        }
        to[i] = value;
    }
}

template <bool full, bool limited, class Real>
[[gnu::always_inline]] inline void lifted(const Real* values, const Stencils<Real>& s, Index n, Real* to) {
    const Anywhere<Real> at{s};
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const Real *below = values + s.level[0][i], *above = values + s.level[1][i];
        const Real *third = values + s.level[2][i], *fourth = values + s.level[3][i];
        const Real beyond = full ? in_level<full>(third, at, s, i) : bilinear(third, at, s, i);
        const Real further = full ? in_level<full>(fourth, at, s, i) : bilinear(fourth, at, s, i);
        Real value = (s.z[0][i] * in_level<full>(below, at, s, i) + s.z[1][i] * in_level<full>(above, at, s, i)) +
                     (s.z[2][i] * beyond + s.z[3][i] * further);
        if constexpr (limited) {
            const Range<Real> a = nearest(below, at, i), b = nearest(above, at, i);
            const Real low = a.low < b.low ? a.low : b.low, high = a.high > b.high ? a.high : b.high;
            value = value < low ? low : value > high ? high : value;
        }
        to[i] = value;
    }
}

// Calls run(full, limited) with constants. What comes before does not depend on them, and is compiled once.
template <class Run>
[[gnu::always_inline]] inline void by_kind(const Interpolation& what, Run run) {
    using Yes = std::true_type;
    using No = std::false_type;
    if (what.full)
        what.limiter ? run(Yes{}, Yes{}) : run(Yes{}, No{});
    else
        what.limiter ? run(No{}, Yes{}) : run(No{}, No{});
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

// Puts a level of a tracer back. Returns the first place that is no number, or -1.
template <class Real>
Index put_back(const Interpolation& what, const Real* from, Real* level) {
    Index wrong = -1;
    for (Index y = 0; y < what.block.points[1]; ++y) {
        Real* const to = level + what.own_first + y * what.own_pitch;
        const Real* const row = from + y * what.block.points[0];
        std::copy_n(row, what.block.points[0], to);
        if (all_finite(row, what.block.points[0]) || wrong >= 0) continue;
        for (Index x = 0; x < what.block.points[0] && wrong < 0; ++x)
            if (!std::isfinite(row[x])) wrong = y * what.block.points[0] + x;
    }
    return wrong;
}

void keep_least(std::atomic<Index>& least, Index place) {
    Index before = least.load();
    while ((before < 0 || place < before) && !least.compare_exchange_weak(before, place)) {
    }
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
    const Index level = what.block.points[0] * what.block.points[1], levels = what.block.levels;
    // Tracers of a batch share their weights. In two dimensions a level is put back at once; in three the next ones
    // need what was there.
    const Index batch = std::min<Index>(what.tracers, what.lifted ? 2 : 8);
    const Index room = batch * level * (what.lifted ? levels : team.threads());
    const Rows rows = rows_of(what.window, what.block);
    const auto scratch = std::make_unique_for_overwrite<Real[]>(static_cast<std::size_t>(room));
    std::atomic<bool> there{true};
    std::atomic<Index> wrong{-1};
    for (Index first = 0; there && first < what.tracers; first += batch) {
        const Index last = std::min(first + batch, what.tracers);
        const auto put = [&](Index z, const Real* from, Index apart) {
            for (Index tracer = first; tracer < last; ++tracer) {
                const Index number = tracer * levels + z;
                const Index place =
                    put_back(what, from + (tracer - first) * apart, field.values + number * field.stride);
                if (place >= 0) keep_least(wrong, number * level + place);
            }
        };
        const auto each_level = [&](int thread, auto work) {
            for (Index z = levels * thread / team.threads(); z < levels * (thread + 1) / team.threads(); ++z) work(z);
        };
        team.run([&](int thread) {
            each_level(thread, [&](Index z) {
                Real* const to = scratch.get() + level * (what.lifted ? z : batch * thread);
                const Index apart = what.lifted ? level * levels : level;
                if (!run_level(what, rows, field, z, first, last, to, apart))
                    there = false;
                else if (!what.lifted)
                    put(z, to, apart);
            });
        });
        if (there && what.lifted)
            team.run([&](int thread) {
                each_level(thread, [&](Index z) { put(z, scratch.get() + level * z, level * levels); });
            });
    }
    if (!there) throw InputError("departure points: the window does not have the stencil of one of them");
    return wrong;
}

template Index interpolate(const Interpolation&, Layered<float>, Team&);
template Index interpolate(const Interpolation&, Layered<double>, Team&);

}  // namespace tradewind::kernel
