#include "kernel/limited_area/layers.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "kernel/lanes.hpp"

namespace tradewind::kernel {

namespace {

using layout::X, layout::Y, layout::Z;

constexpr Index variables = 3, parts = 2 * variables;  // real and imaginary ones
// Vectors whose sums are added up at a time, and bytes of the widest of them: rows of matrices are padded to these.
constexpr Index tile = 2, padding = 64;

// The part of a step that does not depend on the coefficient, in the precision of the fields. Rows are padded by zeros.
template <class Real>
struct Matrices {
    explicit Matrices(const Layers& layers)
        : levels(layers.speeds.box().volume()),
          padded((levels + lanes - 1) / lanes * lanes),
          forth(static_cast<std::size_t>(levels * padded)),
          back(forth),
          speeds(static_cast<std::size_t>(padded)),
          gains(speeds),
          s(static_cast<Real>(layers.s)) {
        for (Index level = 0; level < levels; ++level)
            for (Index mode = 0; mode < levels; ++mode)
                forth[static_cast<std::size_t>(level * padded + mode)] =
                    back[static_cast<std::size_t>(mode * padded + level)] =
                        static_cast<Real>(*layers.modes.at(mode, level, 0));
        for (std::size_t mode = 0; mode < static_cast<std::size_t>(levels); ++mode) {
            speeds[mode] = static_cast<Real>(layers.speeds.values[mode]);
            gains[mode] = static_cast<Real>(layers.s * layers.speeds.values[mode]);
        }
    }

    static constexpr Index lanes = tile * padding / static_cast<Index>(sizeof(Real));

    Index levels, padded;
    std::vector<Real> forth, back;    // [level][mode], [mode][level]
    std::vector<Real> speeds, gains;  // g, s g
    Real s;
};

// Numbers of one coefficient: k2, and the slopes along x and y.
template <class Real>
struct Numbers {
    std::complex<Real> along, across;
    Real k2;
};

// The fields of one coefficient.
template <class Real>
struct Column {
    const Matrices<Real>* by;
    Numbers<Real> of;
    const Real* fields;  // [variable][level][part]
    Real* modes;         // [variable][part][mode]
    Real* stepped;       // [variable][part][level]
};

// The sums over k of matrix[k] times each of the numbers, which are `step` values apart from k to k + 1.
template <int B, class Real>
[[gnu::always_inline]] inline void multiply(const Matrices<Real>& by, const Real* matrix, const Real* const* numbers,
                                            Index step, Real* out) {
    using V = Lanes<Real, B>;
    constexpr Index width = B / static_cast<Index>(sizeof(Real));
    for (Index first = 0; first < by.padded; first += tile * width) {
        V sums[parts][tile] = {};
        const Real* row = matrix + first;
        for (Index k = 0; k < by.levels; ++k, row += by.padded) {
            const V left = load<V>(row), right = load<V>(row + width);
#pragma GCC unroll 6
            for (Index part = 0; part < parts; ++part) {
                const Real number = numbers[part][k * step];
                sums[part][0] += left * number;
                sums[part][1] += right * number;
            }
        }
#pragma GCC unroll 6
        for (Index part = 0; part < parts; ++part) {
            store(out + part * by.padded + first, sums[part][0]);
            store(out + part * by.padded + first + width, sums[part][1]);
        }
    }
}

// A complex number in each lane.
template <class V>
struct Both {
    V re, im;
};

template <class V, class Real>
[[gnu::always_inline]] inline Both<V> product(const std::complex<Real>& a, const Both<V>& b) {
    return {a.real() * b.re - a.imag() * b.im, a.real() * b.im + a.imag() * b.re};
}

template <int B, class Real>
[[gnu::always_inline]] inline void step_modes(const Matrices<Real>& by, const Numbers<Real>& of, Real* modes) {
    using V = Lanes<Real, B>;
    const Index padded = by.padded;
    const auto at = [&](Index variable, Index mode)
                        __attribute__((always_inline)) { return modes + 2 * variable * padded + mode; };
    const auto get = [&](Index variable, Index mode) __attribute__((always_inline)) {
        return Both<V>{load<V>(at(variable, mode)), load<V>(at(variable, mode) + padded)};
    };
    const auto put = [&](Index variable, Index mode, const Both<V>& value) __attribute__((always_inline)) {
        store(at(variable, mode), value.re);
        store(at(variable, mode) + padded, value.im);
    };
    const Real s = by.s, k2 = of.k2, two = 2;
    for (Index mode = 0; mode < padded; mode += B / static_cast<Index>(sizeof(Real))) {
        const V speed = load<V>(by.speeds.data() + mode), gain = load<V>(by.gains.data() + mode);
        const Both<V> u = get(0, mode), v = get(1, mode), phi = get(2, mode);
        const Both<V> x = product(std::conj(of.along), u), y = product(std::conj(of.across), v);
        const Both<V> divergence{-x.re - y.re, -x.im - y.im};
        const V over = (s * s * k2) * speed + Real{1};
        const Both<V> after{(phi.re - gain * (two * divergence.re + (s * k2) * phi.re)) / over,
                            (phi.im - gain * (two * divergence.im + (s * k2) * phi.im)) / over};
        const Both<V> both{s * (phi.re + after.re), s * (phi.im + after.im)};
        const Both<V> east = product(of.along, both), north = product(of.across, both);
        put(0, mode, {u.re - east.re, u.im - east.im});
        put(1, mode, {v.re - north.re, v.im - north.im});
        put(2, mode, after);
    }
}

template <int B, class Real>
[[gnu::always_inline]] inline void step_column_by(const Column<Real>& column) {
    const Matrices<Real>& by = *column.by;
    const Real *fields[parts], *modes[parts];
    for (Index part = 0; part < parts; ++part) {
        fields[part] = column.fields + part / 2 * 2 * by.levels + part % 2;
        modes[part] = column.modes + part * by.padded;
    }
    multiply<B>(by, by.forth.data(), fields, 2, column.modes);
    step_modes<B>(by, column.of, column.modes);
    multiply<B>(by, by.back.data(), modes, 1, column.stepped);
}

TRADEWIND_BY_WIDTH(void, step_column, (const Column<float>& column), (column))
TRADEWIND_BY_WIDTH(void, step_column, (const Column<double>& column), (column))

template <class Real>
Numbers<Real> numbers_of(const std::complex<double>* slopes) {
    return {std::complex<Real>(slopes[0]), std::complex<Real>(slopes[1]),
            static_cast<Real>(std::norm(slopes[0]) + std::norm(slopes[1]))};
}

template <class Batches>
void check(const Layers& layers, const Batches& batches) {
    const Index levels = layers.speeds.box().volume(), coefficients = layers.slopes.points[Y];
    if (layers.modes.points != std::array<Index, 3>{levels, levels, 1} || layers.slopes.points[X] != 2)
        throw InputError("modes and slopes: " + std::to_string(levels) + " x " + std::to_string(levels) +
                         " values, one mode for each speed, and two slopes of each coefficient, are allowed");
    const auto count = static_cast<Index>(batches.size());
    for (const auto& each : batches)
        if (each.points[Z] != coefficients || each.points[Y] != 1 || each.points[X] * count != variables * levels)
            throw InputError("columns: " + std::to_string(coefficients) + " coefficients of " +
                             std::to_string(variables * levels) + " fields in all are allowed");
}

template <class Real>
void step_all(const Layers& layers, const std::vector<Array<const std::complex<Real>>>& columns,
              const std::vector<Array<std::complex<Real>>>& stepped, Team& team) {
    const Matrices<Real> by(layers);
    const Index fields = variables * by.levels, all = layers.slopes.points[Y];
    const Index each = fields / static_cast<Index>(columns.size());
    const Index room = 2 * fields + 2 * parts * by.padded + Matrices<Real>::lanes;
    std::vector<Real> kept(static_cast<std::size_t>(room * team.threads()));
    team.run([&](int thread) {
        Real* const before = kept.data() + room * thread;
        Real* const modes = before + 2 * fields;
        Real* const after = modes + parts * by.padded;
        for (Index c = all * thread / team.threads(); c < all * (thread + 1) / team.threads(); ++c) {
            for (std::size_t batch = 0; batch < columns.size(); ++batch)
                std::copy_n(reinterpret_cast<const Real*>(columns[batch].at(0, 0, c)), 2 * each,
                            before + 2 * each * static_cast<Index>(batch));
            step_column(Column<Real>{&by, numbers_of<Real>(layers.slopes.at(0, c, 0)), before, modes, after});
            for (Index field = 0; field < fields; ++field) {
                const Real* const value = after + field / by.levels * 2 * by.padded + field % by.levels;
                *stepped[static_cast<std::size_t>(field / each)].at(field % each, 0, c) = {value[0], value[by.padded]};
            }
        }
    });
}

}  // namespace

template <class Real>
void step_layers(const Layers& layers, const std::vector<Array<const std::complex<Real>>>& columns,
                 const std::vector<Array<std::complex<Real>>>& stepped, Team& team) {
    check(layers, columns);
    check(layers, stepped);
    if (columns.size() != stepped.size()) throw InputError("columns: as many arrays before and after are allowed");
    step_all(layers, columns, stepped, team);
}

template void step_layers(const Layers&, const std::vector<Array<const std::complex<float>>>&,
                          const std::vector<Array<std::complex<float>>>&, Team&);
template void step_layers(const Layers&, const std::vector<Array<const std::complex<double>>>&,
                          const std::vector<Array<std::complex<double>>>&, Team&);

}  // namespace tradewind::kernel
