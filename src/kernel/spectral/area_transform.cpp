#include "kernel/spectral/area_transform.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "kernel/spectral/lane_lines.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

namespace {

using layout::X, layout::Y, layout::Z;

// Lines along x of a call: in a cache, with their wavenumbers.
constexpr Index lines_together = 32;

// Wavenumbers of a field along y: those of as many m as there are lanes, from `first` on.
template <class Real>
struct LinesAlongY {
    const LanesFft<Real>* fft;
    std::complex<Real>* waves;  // of y = 0 and m = `first`
    Index pitch;                // from y to y
    Index count;                // of m
    const Index* limits;
    std::complex<Real>* const* middles;  // of each m the coefficient n = 0
    Index step;                          // from n to n
    Real factor;
    Real* scratch;
};

template <int bytes, class Real>
[[gnu::always_inline]] inline void forth_along_y_by(const LinesAlongY<Real>& lines) {
    using V = Lanes<Real, bytes>;
    constexpr Index lanes = bytes / static_cast<Index>(sizeof(Real));
    const LaneRoom<V> room = lane_room<V>(*lines.fft, lines.scratch);
    const Index points = lines.fft->length;
    for (Index y = 0; y < points; ++y) {
        const Real* const from = reinterpret_cast<const Real*>(lines.waves + y * lines.pitch);
        if (lines.count == lanes) {
            room.in[y] = load_pairs<V>(from);
        } else {
            room.in[y] = {V{}, V{}};
            Real* const to = reinterpret_cast<Real*>(room.in + y);
            for (Index lane = 0; lane < lines.count; ++lane) {
                to[lane] = from[2 * lane];
                to[lanes + lane] = from[2 * lane + 1];
            }
        }
    }
    const Real* const found =
        reinterpret_cast<const Real*>(run_passes<V, Real, true>(*lines.fft, room.in, room.out, room.more));
    for (Index lane = 0; lane < lines.count; ++lane) {
        const auto take = [&](Index n, Index at) __attribute__((always_inline)) {
            const Real* const value = found + 2 * lanes * at + lane;
            lines.middles[lane][n * lines.step] = {value[0] * lines.factor, value[lanes] * lines.factor};
        };
        const Index limit = lines.limits[lane];
        for (Index n = -limit; n < 0; ++n) take(n, n + points);
        for (Index n = 0; n <= limit; ++n) take(n, n);
    }
}

template <int bytes, class Real>
[[gnu::always_inline]] inline void back_along_y_by(const LinesAlongY<Real>& lines) {
    using V = Lanes<Real, bytes>;
    constexpr Index lanes = bytes / static_cast<Index>(sizeof(Real));
    const LaneRoom<V> room = lane_room<V>(*lines.fft, lines.scratch);
    const Index points = lines.fft->length;
    std::fill_n(room.in, points, LaneComplex<V>{V{}, V{}});
    Real* const to = reinterpret_cast<Real*>(room.in);
    for (Index lane = 0; lane < lines.count; ++lane) {
        const auto put = [&](Index n, Index at) __attribute__((always_inline)) {  // real and imaginary parts exchanged
            const std::complex<Real> value = lines.middles[lane][n * lines.step];
            to[2 * lanes * at + lane] = value.imag();
            to[2 * lanes * at + lanes + lane] = value.real();
        };
        const Index limit = lines.limits[lane];
        for (Index n = -limit; n < 0; ++n) put(n, n + points);
        for (Index n = 0; n <= limit; ++n) put(n, n);
    }
    const LaneComplex<V>* const found = run_passes<V, Real, true>(*lines.fft, room.in, room.out, room.more);
    for (Index y = 0; y < points; ++y) {
        Real* const row = reinterpret_cast<Real*>(lines.waves + y * lines.pitch);
        if (lines.count == lanes) {
            store_pairs(row, LaneComplex<V>{found[y].im, found[y].re});
        } else {
            const Real* const value = reinterpret_cast<const Real*>(found + y);
            for (Index lane = 0; lane < lines.count; ++lane) {
                row[2 * lane] = value[lanes + lane];
                row[2 * lane + 1] = value[lane];
            }
        }
    }
}

TRADEWIND_BY_WIDTH(void, forth_along_y, (const LinesAlongY<float>& lines), (lines))
TRADEWIND_BY_WIDTH(void, forth_along_y, (const LinesAlongY<double>& lines), (lines))
TRADEWIND_BY_WIDTH(void, back_along_y, (const LinesAlongY<float>& lines), (lines))
TRADEWIND_BY_WIDTH(void, back_along_y, (const LinesAlongY<double>& lines), (lines))

// Blocks of lines that follow each other: work(first, count, scratch) by each thread for those of its share.
template <class Real, class Work>
void each_block(Index lines, Index scratch, Team& team, Work work) {
    const Index room = scratch + 64 / static_cast<Index>(sizeof(Real));
    std::vector<Real> kept(static_cast<std::size_t>(room * team.threads()));
    team.run([&](int thread) {
        const Index end = lines * (thread + 1) / team.threads();
        for (Index first = lines * thread / team.threads(); first < end; first += lines_together)
            work(first, std::min(lines_together, end - first), kept.data() + room * thread);
    });
}

void check_lines(const std::array<Index, 3>& lines, const std::array<Index, 3>& waves, Index nx) {
    if (lines[X] != nx || lines[Y] != waves[Y] || lines[Z] != waves[Z])
        throw InputError("lines and wavenumbers: as many of them, of " + std::to_string(nx) + " points, are allowed");
    if (waves[X] > nx / 2 + 1)
        throw InputError(std::to_string(waves[X]) + " wavenumbers of " + std::to_string(nx) + " points: up to " +
                         std::to_string(nx / 2 + 1) + " are allowed");
}

// Calls work(lines of several m and one field) for all of them; `waves` are written by from_ellipse alone.
template <class Real, class Work>
void each_along_y(const LanesFft<Real>& fft, Array<std::complex<Real>> waves, const std::vector<Index>& limits,
                  Array<std::complex<Real>> ellipse, Real factor, Team& team, Work work) {
    const Index numbers = waves.points[X], fields = waves.points[Z];
    std::vector<Index> middles;  // of each m the place of n = 0
    Index places = 0;
    for (const Index limit : limits) {
        if (limit < 0 || 2 * limit + 1 > fft.length)
            throw InputError("limit " + std::to_string(limit) + " of wavenumbers along y: 0.." +
                             std::to_string((fft.length - 1) / 2) + " are allowed");
        middles.push_back(places + limit);
        places += 2 * limit + 1;
    }
    if (waves.points[Y] != fft.length || static_cast<Index>(limits.size()) != numbers)
        throw InputError("wavenumbers: " + std::to_string(fft.length) +
                         " points along y, and a limit of each, are needed");
    if (ellipse.points != std::array<Index, 3>{fields, 1, places})
        throw InputError("ellipse: " + std::to_string(places) + " coefficients of " + std::to_string(fields) +
                         " fields are needed");
    const Index lanes = width_here() / static_cast<Index>(sizeof(Real)), groups = (numbers + lanes - 1) / lanes;
    const Index room = lane_scratch(fft) + 64 / static_cast<Index>(sizeof(Real));
    std::vector<Real> kept(static_cast<std::size_t>(room * team.threads()));
    team.run([&](int thread) {
        std::array<std::complex<Real>*, 64> at{};  // as many as a vector has bytes, at most
        const Index all = groups * fields;
        for (Index n = all * thread / team.threads(); n < all * (thread + 1) / team.threads(); ++n) {
            const Index m = n / fields * lanes, field = n % fields, count = std::min(lanes, numbers - m);
            for (Index lane = 0; lane < count; ++lane)
                at[static_cast<std::size_t>(lane)] = ellipse.at(field, 0, middles[static_cast<std::size_t>(m + lane)]);
            work(LinesAlongY<Real>{&fft, waves.at(m, 0, field), numbers, count, limits.data() + m, at.data(), fields,
                                   factor, kept.data() + room * thread});
        }
    });
}

// Both directions have one description of their lines, in which nothing is constant; each writes one of the arrays.
template <class Value>
Array<Value> writable(Array<const Value> array) {
    return {const_cast<Value*>(array.values), array.points};
}

}  // namespace

template <class Real>
AreaTransform<Real>::AreaTransform(Index nx, Index ny) : along_x_(nx), along_y_(std::max(ny, Index{1})) {
    if (ny < 1) throw InputError(std::to_string(ny) + " points along y: 1 or more are allowed");
}

template <class Real>
void AreaTransform<Real>::to_waves(Array<const Real> lines, Array<Complex> waves, Real factor, Team& team) const {
    check_lines(lines.points, waves.points, along_x_.points());
    each_block<Real>(
        lines.points[Y] * lines.points[Z], along_x_.scratch(), team, [&](Index first, Index count, Real* at) {
            std::array<const Real*, lines_together> from{};
            for (Index line = 0; line < count; ++line)
                from[static_cast<std::size_t>(line)] = lines.at(0, first + line, 0);
            const Index kept = waves.points[X];
            along_x_.to_fourier(from.data(), {waves.at(0, first, 0), nullptr, count, kept, factor, factor, kept}, at);
        });
}

template <class Real>
void AreaTransform<Real>::to_lines(Array<const Complex> waves, Array<Real> lines, Real factor, Team& team) const {
    check_lines(lines.points, waves.points, along_x_.points());
    each_block<Real>(lines.points[Y] * lines.points[Z], along_x_.scratch(), team,
                     [&](Index first, Index count, Real* at) {
                         std::array<Real*, lines_together> to{};
                         for (Index line = 0; line < count; ++line)
                             to[static_cast<std::size_t>(line)] = lines.at(0, first + line, 0);
                         const Index kept = waves.points[X];
                         Complex* const values = writable(waves).at(0, first, 0);
                         along_x_.to_points({values, nullptr, count, kept, factor, factor, kept}, to.data(), at);
                     });
}

template <class Real>
void AreaTransform<Real>::to_ellipse(Array<const Complex> waves, const std::vector<Index>& limits,
                                     Array<Complex> ellipse, Real factor, Team& team) const {
    each_along_y<Real>(along_y_, writable(waves), limits, ellipse, factor, team,
                       [](const LinesAlongY<Real>& lines) { forth_along_y(lines); });
}

template <class Real>
void AreaTransform<Real>::from_ellipse(Array<const Complex> ellipse, const std::vector<Index>& limits,
                                       Array<Complex> waves, Team& team) const {
    each_along_y<Real>(along_y_, waves, limits, writable(ellipse), Real{1}, team,
                       [](const LinesAlongY<Real>& lines) { back_along_y(lines); });
}

template class AreaTransform<float>;
template class AreaTransform<double>;

}  // namespace tradewind::kernel
