// The loops of a semi-Lagrangian step on blocks of columns, see src/kernel/semi_lagrangian: formulas and order of
// operations are those of the loops there. A thread takes a point: all its iterations, or all its tracers, whose
// weights it computes once.
#include "threads.hpp"

namespace tradewind_device {

constexpr double pi = 3.14159265358979323846;
constexpr double snap = 1e-10;

// A rank's block of columns, [z][y][x]; `period` cells around along x, or 0.
struct Block {
    Index first_x, first_y, columns, rows, levels, period;
    TRADEWIND_MEMBER Index volume() const { return columns * rows * levels; }
};

// The places of columns around it, [y][x]; below 0 for one that the rank does not have.
struct Window {
    Index first_x, first_y, columns, rows;
    const int* place;
};

// Findings of a loop, kept for the host: the first and last cells of departure points, -1 or the first point (of
// the first tracer) that is no number, and whether the window lacked a column.
enum Finding { low_x, high_x, low_y, high_y, not_a_number, outside };

// Cells along an axis: those that may be looked up are begin..last.
struct CellAxis {
    double first, period, low, per_period, begin, last;
};

TRADEWIND_DEVICE CellAxis cell_axis_x(const Block& block, const Window& window, Index before, Index after) {
    CellAxis axis{static_cast<double>(block.first_x), 0, 0, 0, 0, 0};
    if (block.period > 0) {
        axis.period = static_cast<double>(block.period);
        axis.per_period = 1 / axis.period;
        axis.low = floor(static_cast<double>(block.columns - block.period) / 2);
    }
    axis.begin = static_cast<double>(window.first_x + before);
    axis.last = static_cast<double>(window.first_x + window.columns - 1 - after);
    return axis;
}

TRADEWIND_DEVICE CellAxis cell_axis_y(const Block& block, const Window& window, Index before, Index after) {
    return {static_cast<double>(block.first_y),
            0,
            0,
            0,
            static_cast<double>(window.first_y + before),
            static_cast<double>(window.first_y + window.rows - 1 - after)};
}

TRADEWIND_DEVICE double cell_of(double low, const CellAxis& axis) {
    const double cell = low - axis.first;
    return axis.period > 0 ? cell - axis.period * floor((cell - axis.low + 0.5) * axis.per_period) : cell;
}

// A cell, counted from the first that may be looked up, and the rest of the coordinate.
struct Located {
    int cell;
    double rest;
    bool inside;
};

TRADEWIND_DEVICE Located locate(double coordinate, const CellAxis& axis) {
    const double low = floor(coordinate), found = cell_of(low, axis);
    const bool inside = found >= axis.begin && found <= axis.last;
    return {static_cast<int>(inside ? found - axis.begin : 0.0), coordinate - low, inside};
}

TRADEWIND_DEVICE Located locate_level(double height, Index levels) {
    const double last = static_cast<double>(levels - 2);
    const bool inside = height >= 0 && height <= last + 1;
    const double z = inside ? height : 0.0, low = floor(z) < last ? floor(z) : last;
    return {static_cast<int>(low), z - low, inside};
}

TRADEWIND_DEVICE bool is_number(double value) {
    return fabs(value) <= 1.7976931348623157e308;
}
TRADEWIND_DEVICE bool is_number(float value) {
    return fabs(value) <= 3.40282347e38F;
}

TRADEWIND_DEVICE double snapped(double coordinate) {
    const double nearest = floor(coordinate + 0.5);
    return fabs(coordinate - nearest) < snap ? nearest : coordinate;
}

// The angle of (x, y) from the x axis.
TRADEWIND_DEVICE double angle_of(double y, double x) {
    const double middle = 0.41421356237309504880, below = 0.19891236737965800691, above = 0.66817863791929891999;
    const double ax = fabs(x), ay = fabs(y), large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
    const bool first = small < below * large, second = small < above * large;
    const double near = first ? 0.0 : second ? middle : 1.0, there = first ? 0.0 : second ? pi / 8 : pi / 4;
    const double t = large > 0 ? (small - near * large) / (large + near * small) : large, q = t * t;
    double sum = 1.0 / 23;
    for (int k = 21; k > 0; k -= 2) sum = 1.0 / k - q * sum;
    double found = there + t * sum;
    found = ay > ax ? pi / 2 - found : found;
    found = x < 0 ? pi - found : found;
    return y < 0 ? -found : found;
}

TRADEWIND_DEVICE double curvature(double p) {
    return 1 + p * (1.0 / 12 + p * (7.0 / 240 + p * (23.0 / 1680 + p * (5351.0 / 725760 + p * 137387.0 / 31933440))));
}

// Trajectories of a block; see src/kernel/semi_lagrangian/semi_lagrangian.hpp for what is what.
template <class Real>
struct Trajectories {
    Block block;
    Window window;
    bool on_sphere, lifted;
    double half_step, scale, per_x, per_y, middle;
    const double *cos_x, *sin_x, *cos_y, *sin_y;
    const Real* wind;
    const Real* extrapolated;
    Index stride;
    double* departures;
    TRADEWIND_MEMBER int components() const { return (on_sphere ? 3 : 2) + (lifted ? 1 : 0); }
};

// Twice the wind of a point, or the sum of its own and of that where it comes from. Returns whether the winds are
// there.
template <class Real>
TRADEWIND_DEVICE bool sum_of_winds(const Trajectories<Real>& what, Index point, Index z, bool guess, double* sum) {
    const Index volume = what.block.volume();
    if (guess) {
        for (int c = 0; c < what.components(); ++c) sum[c] = 2 * static_cast<double>(what.wind[c * volume + point]);
        return true;
    }
    const Located x = locate(what.departures[point], cell_axis_x(what.block, what.window, 0, 1));
    const Located y = locate(what.departures[volume + point], cell_axis_y(what.block, what.window, 0, 1));
    Located height{0, 0.0, true};
    if (what.lifted) height = locate_level(what.departures[2 * volume + point], what.block.levels);
    if (!x.inside || !y.inside || !height.inside) return false;
    const int* const place = what.window.place + y.cell * what.window.columns + x.cell;
    const int p0 = place[0], p1 = place[1], p2 = place[what.window.columns], p3 = place[what.window.columns + 1];
    if ((p0 | p1 | p2 | p3) < 0) return false;
    for (int c = 0; c < what.components(); ++c) {
        const Real* const level =
            what.extrapolated + (c * what.block.levels + (what.lifted ? height.cell : z)) * what.stride;
        double between[2] = {0, 0};
        for (int k = 0; k < (what.lifted ? 2 : 1); ++k) {
            const Real* const values = level + k * what.stride;
            const double a = values[p0], b = values[p1], southern = a + x.rest * (b - a);
            const double e = values[p2], d = values[p3], northern = e + x.rest * (d - e);
            between[k] = southern + y.rest * (northern - southern);
        }
        const double there = what.lifted ? between[0] + height.rest * (between[1] - between[0]) : between[0];
        sum[c] = static_cast<double>(what.wind[c * volume + point]) + there;
    }
    return true;
}

template <class Real>
TRADEWIND_DEVICE void depart(const Trajectories<Real>& what, Index point, Index x, Index y, Index z,
                             const double* sum) {
    const Index volume = what.block.volume();
    double* const to = what.departures + point;
    if (!what.on_sphere) {
        const double step = what.half_step * what.scale;
        to[0] = snapped((static_cast<double>(what.block.first_x) + static_cast<double>(x)) - step * sum[0]);
        to[volume] = snapped(static_cast<double>(what.block.first_y + y) - step * sum[1]);
    } else {
        const double px = what.half_step * sum[0], py = what.half_step * sum[1], pz = what.half_step * sum[2];
        const double longer = curvature(px * px + py * py + pz * pz);
        const double dx = what.cos_y[y] * what.cos_x[x] - longer * px;
        const double dy = what.cos_y[y] * what.sin_x[x] - longer * py, dz = what.sin_y[y] - longer * pz;
        to[0] = snapped(what.per_x * angle_of(dy, dx));
        to[volume] = snapped(what.per_y * angle_of(dz, sqrt(dx * dx + dy * dy)) + what.middle);
    }
    if (what.lifted) {
        const double top = static_cast<double>(what.block.levels - 1);
        const double height = snapped(static_cast<double>(z) - what.half_step * sum[what.components() - 1]);
        to[2 * volume] = height < 0 ? 0.0 : height > top ? top : height;
    }
}

// A first guess, where it is wanted, and some iterations of all points.
template <class Real>
TRADEWIND_DEVICE void trace(const Trajectories<Real>& what, bool guess, int iterations, Index* findings) {
    const Index nothing = 0x7fffffffffffffffLL, volume = what.block.volume();
    Index from_x = nothing, to_x = -nothing, from_y = nothing, to_y = -nothing, wrong = nothing, missing = 0;
    const CellAxis along_x = cell_axis_x(what.block, what.window, 0, 0);
    const CellAxis along_y = cell_axis_y(what.block, what.window, 0, 0);
    for (Index point = this_thread(); point < volume; point += all_threads()) {
        const Split line = Split::of(point, what.block.columns), plane = Split::of(line.row, what.block.rows);
        double sum[4];
        for (int done = guess ? -1 : 0; done < iterations && missing == 0; ++done) {
            if (!sum_of_winds(what, point, plane.row, done < 0, sum))
                missing = 1;
            else
                depart(what, point, line.rest, plane.rest, plane.row, sum);
        }
        const double x = what.departures[point], y = what.departures[volume + point];
        const bool finite =
            is_number(x) && is_number(y) && (!what.lifted || is_number(what.departures[2 * volume + point]));
        if (!finite) wrong = point < wrong ? point : wrong;
        if (fabs(x) < 1e15 && fabs(y) < 1e15) {
            const Index cell_x = static_cast<Index>(cell_of(floor(x), along_x));
            const Index cell_y = static_cast<Index>(cell_of(floor(y), along_y));
            from_x = cell_x < from_x ? cell_x : from_x;
            to_x = cell_x > to_x ? cell_x : to_x;
            from_y = cell_y < from_y ? cell_y : from_y;
            to_y = cell_y > to_y ? cell_y : to_y;
        }
    }
    lower(findings + low_x, from_x);
    raise(findings + high_x, to_x);
    lower(findings + low_y, from_y);
    raise(findings + high_y, to_y);
    lower(findings + not_a_number, wrong);
    raise(findings + outside, missing);
}

// Where the columns of a stencil are, and their weights.
template <class Real>
struct Stencil {
    int place[16];
    Real x[4], y[4], z[4], fx, fy;
    Index level[4];
};

template <class Real>
TRADEWIND_DEVICE void weigh(double t, Real* weight) {
    const double a = t + 1, b = t, c = t - 1, d = t - 2;
    weight[0] = static_cast<Real>(b * c * d * (-1.0 / 6));
    weight[1] = static_cast<Real>(a * c * d * 0.5);
    weight[2] = static_cast<Real>(a * b * d * -0.5);
    weight[3] = static_cast<Real>(a * b * c * (1.0 / 6));
}

template <class Real>
TRADEWIND_DEVICE void weigh_levels(int low, double t, Index levels, Index stride, Stencil<Real>& stencil) {
    const int top = static_cast<int>(levels - 2), a = low;
    const int c = a == 0 ? 2 : a == top ? top - 2 : a - 1, d = a == 0 ? 3 : a == top ? top - 1 : a + 2;
    const double at[4] = {0.0, 1.0, static_cast<double>(c - a), static_cast<double>(d - a)};
    const int level[4] = {a, a + 1, c, d};
    for (int k = 0; k < 4; ++k) {
        double weight = 1;
        for (int other = 0; other < 4; ++other) weight *= other == k ? 1.0 : (t - at[other]) / (at[k] - at[other]);
        stencil.z[k] = static_cast<Real>(weight);
        stencil.level[k] = level[k] * stride;
    }
}

template <class Real>
TRADEWIND_DEVICE Real linear(const Real* values, const Stencil<Real>& s, int row) {
    const Real a = values[s.place[4 * row + 1]], b = values[s.place[4 * row + 2]];
    return a + s.fx * (b - a);
}

template <class Real>
TRADEWIND_DEVICE Real cubic(const Real* values, const Stencil<Real>& s, int row) {
    const int* const place = s.place + 4 * row;
    return (s.x[0] * values[place[0]] + s.x[1] * values[place[1]]) +
           (s.x[2] * values[place[2]] + s.x[3] * values[place[3]]);
}

template <class Real>
TRADEWIND_DEVICE Real in_level(const Real* values, const Stencil<Real>& s, bool full) {
    const Real south = full ? cubic(values, s, 0) : linear(values, s, 0);
    const Real north = full ? cubic(values, s, 3) : linear(values, s, 3);
    return (s.y[0] * south + s.y[1] * cubic(values, s, 1)) + (s.y[2] * cubic(values, s, 2) + s.y[3] * north);
}

template <class Real>
TRADEWIND_DEVICE Real bilinear(const Real* values, const Stencil<Real>& s) {
    const Real south = linear(values, s, 1), north = linear(values, s, 2);
    return south + s.fy * (north - south);
}

template <class Real>
struct Extremes {
    Real low, high;
};

template <class Real>
TRADEWIND_DEVICE Extremes<Real> nearest(const Real* values, const Stencil<Real>& s) {
    const Real a = values[s.place[5]], b = values[s.place[6]], c = values[s.place[9]], d = values[s.place[10]];
    const Real low = a < b ? a : b, high = a < b ? b : a, low2 = c < d ? c : d, high2 = c < d ? d : c;
    return {low < low2 ? low : low2, high > high2 ? high : high2};
}

template <class Real>
TRADEWIND_DEVICE Real interpolated(const Real* values, Index z_offset, const Stencil<Real>& s, bool full, bool limiter,
                                   bool lifted) {
    if (!lifted) {
        const Real value = in_level(values + z_offset, s, full);
        if (!limiter) return value;
        const Extremes<Real> range = nearest(values + z_offset, s);
        return value < range.low ? range.low : value > range.high ? range.high : value;
    }
    const Real *const below = values + s.level[0], *const above = values + s.level[1];
    const Real *const third = values + s.level[2], *const fourth = values + s.level[3];
    const Real beyond = full ? in_level(third, s, full) : bilinear(third, s);
    const Real further = full ? in_level(fourth, s, full) : bilinear(fourth, s);
    const Real value =
        (s.z[0] * in_level(below, s, full) + s.z[1] * in_level(above, s, full)) + (s.z[2] * beyond + s.z[3] * further);
    if (!limiter) return value;
    const Extremes<Real> a = nearest(below, s), b = nearest(above, s);
    const Real low = a.low < b.low ? a.low : b.low, high = a.high > b.high ? a.high : b.high;
    return value < low ? low : value > high ? high : value;
}

// The stencil of a departure point. Returns whether the window has it.
template <class Real>
TRADEWIND_DEVICE bool prepare(const Block& block, const Window& window, const double* departures, Index point,
                              bool full, bool lifted, Index stride, Stencil<Real>& stencil) {
    const Index volume = block.volume();
    const Located x = locate(departures[point], cell_axis_x(block, window, 1, 2));
    const Located y = locate(departures[volume + point], cell_axis_y(block, window, 1, 2));
    Located height{0, 0.0, true};
    if (lifted) height = locate_level(departures[2 * volume + point], block.levels);
    if (!x.inside || !y.inside || !height.inside) return false;
    int missing = 0;
    for (int k = 0; k < 16; ++k) {
        const bool corner = (k / 4 == 0 || k / 4 == 3) && (k % 4 == 0 || k % 4 == 3);
        const int found = full || !corner ? window.place[(y.cell + k / 4) * window.columns + x.cell + k % 4] : 0;
        missing |= found;
        stencil.place[k] = found < 0 ? 0 : found;
    }
    weigh(x.rest, stencil.x);
    weigh(y.rest, stencil.y);
    stencil.fx = static_cast<Real>(x.rest);
    stencil.fy = static_cast<Real>(y.rest);
    if (lifted) weigh_levels(height.cell, height.rest, block.levels, stride, stencil);
    return missing >= 0;
}

// The values [tracer][z][y][x] at the departure points.
template <class Real>
TRADEWIND_DEVICE void interpolate(const Block& block, const Window& window, const double* departures, bool full,
                                  bool limiter, bool lifted, Index tracers, const Real* field, Index stride, Real* out,
                                  Index* findings) {
    const Index volume = block.volume();
    Index missing = 0;
    for (Index point = this_thread(); point < volume; point += all_threads()) {
        const Index z = Split::of(Split::of(point, block.columns).row, block.rows).row;
        Stencil<Real> stencil;
        if (!prepare(block, window, departures, point, full, lifted, stride, stencil)) {
            missing = 1;
            continue;
        }
        for (Index tracer = 0; tracer < tracers; ++tracer)
            out[tracer * volume + point] =
                interpolated(field + tracer * block.levels * stride, z * stride, stencil, full, limiter, lifted);
    }
    raise(findings + outside, missing);
}

// Puts these values into the block, row by row, of each tracer.
template <class Real>
TRADEWIND_DEVICE void put_back(const Block& block, Index tracers, const Real* from, Real* field, Index stride,
                               Index own_first, Index own_pitch, Index* findings) {
    Index wrong = 0x7fffffffffffffffLL;
    for (Index i = this_thread(); i < tracers * block.volume(); i += all_threads()) {
        const Split line = Split::of(i, block.columns), plane = Split::of(line.row, block.rows);
        field[plane.row * stride + own_first + plane.rest * own_pitch + line.rest] = from[i];
        if (!is_number(from[i])) wrong = i < wrong ? i : wrong;
    }
    lower(findings + not_a_number, wrong);
}

}  // namespace tradewind_device

#define TRADEWIND_BLOCK \
    long long first_x, long long first_y, long long columns, long long rows, long long levels, long long period
#define TRADEWIND_THE_BLOCK                             \
    tradewind_device::Block {                           \
        first_x, first_y, columns, rows, levels, period \
    }
#define TRADEWIND_WINDOW \
    long long window_x, long long window_y, long long window_columns, long long window_rows, const int *place
#define TRADEWIND_THE_WINDOW                                   \
    tradewind_device::Window {                                 \
        window_x, window_y, window_columns, window_rows, place \
    }

#define TRADEWIND_TRACE(Real)                                                                                  \
    (TRADEWIND_BLOCK, TRADEWIND_WINDOW, long long on_sphere, long long lifted, double half_step, double scale, \
     double per_x, double per_y, double middle, const double* cos_x, const double* sin_x, const double* cos_y, \
     const double* sin_y, const Real* wind, const Real* extrapolated, long long stride, double* departures,    \
     long long guess, long long iterations, long long* findings)
TRADEWIND_BOTH(trace, TRADEWIND_TRACE,
               ({TRADEWIND_THE_BLOCK, TRADEWIND_THE_WINDOW, on_sphere != 0, lifted != 0, half_step, scale, per_x, per_y,
                 middle, cos_x, sin_x, cos_y, sin_y, wind, extrapolated, stride, departures},
                guess != 0, static_cast<int>(iterations), findings))
#undef TRADEWIND_TRACE
#define TRADEWIND_INTERPOLATE(Real)                                                                                    \
    (TRADEWIND_BLOCK, TRADEWIND_WINDOW, const double* departures, long long full, long long limiter, long long lifted, \
     long long tracers, const Real* field, long long stride, Real* out, long long* findings)
TRADEWIND_BOTH(interpolate, TRADEWIND_INTERPOLATE,
               (TRADEWIND_THE_BLOCK, TRADEWIND_THE_WINDOW, departures, full != 0, limiter != 0, lifted != 0, tracers,
                field, stride, out, findings))
#undef TRADEWIND_INTERPOLATE

#define TRADEWIND_PUT_BACK(Real)                                                                               \
    (TRADEWIND_BLOCK, long long tracers, const Real* from, Real* field, long long stride, long long own_first, \
     long long own_pitch, long long* findings)
TRADEWIND_BOTH(put_back, TRADEWIND_PUT_BACK,
               (TRADEWIND_THE_BLOCK, tracers, from, field, stride, own_first, own_pitch, findings))
#undef TRADEWIND_PUT_BACK
#undef TRADEWIND_BLOCK
#undef TRADEWIND_THE_BLOCK
#undef TRADEWIND_WINDOW
#undef TRADEWIND_THE_WINDOW
