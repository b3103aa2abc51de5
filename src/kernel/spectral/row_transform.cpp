#include "kernel/spectral/row_transform.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/spectral/lane_lines.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

// A row of an even number of points is a complex line of half as many, whose transform is that of the even points and i
// times that of the odd ones.
template <class Real>
struct RowTransform<Real>::Plan {
    explicit Plan(Index row) : points(row), fft(row % 2 ? row : row / 2) {
        for (Index m = 0; row % 2 == 0 && m < fft.length; ++m) {
            const std::complex<double> root = root_of_unity(m, row);
            apart.emplace_back(static_cast<Real>(root.imag() / 2), static_cast<Real>(-root.real() / 2));
        }
    }

    Index points;
    LanesFft<Real> fft;
    std::vector<std::complex<Real>> apart;  // -i exp(-2 pi i m / points) / 2
};

namespace {

template <class Real>
using PlanOf = typename RowTransform<Real>::Plan;

// A call: the fields of a row, and memory.
template <class Real>
struct Call {
    const PlanOf<Real>* plan;
    const Real* const* from;
    Real* const* to;
    const RowCoefficients<Real>* by;
    Real* scratch;
};

// Fields of a group that a call lacks are the last one again.
template <class V, class Real>
[[gnu::always_inline]] inline void load_points(const Call<Real>& call, Index first, Index count, LaneComplex<V>* to) {
    const Index points = call.plan->points, step = points % 2 ? 2 : 1;
    V* const numbers = reinterpret_cast<V*>(to);
    load_lines<Real>([&](Index lane) { return call.from[first + std::min(lane, count - 1)]; }, points, numbers, step);
    for (Index k = 0; step == 2 && k < points; ++k) numbers[2 * k + 1] = V{};
}

template <class V, class Real>
[[gnu::always_inline]] inline void store_points(const Call<Real>& call, Index first, Index count,
                                                const LaneComplex<V>* from) {
    const Index points = call.plan->points;
    const V* const numbers = reinterpret_cast<const V*>(from);  // real and imaginary parts are exchanged
    const auto line = [&](Index lane) { return call.to[first + std::min(lane, count - 1)]; };
    if (points % 2)
        store_lines<Real, V>(line, count, points, [&](Index k) { return numbers + 2 * k + 1; });
    else
        store_lines<Real, V>(line, count, points, [&](Index k) { return numbers + (k ^ 1); });
}

// The coefficient of wavenumber m from the transform of the line.
template <class V, class Real>
[[gnu::always_inline]] inline LaneComplex<V> taken_apart(const PlanOf<Real>& plan, const LaneComplex<V>* line,
                                                         Index m) {
    if (plan.points % 2) return line[m];
    if (m == 0) return {line[0].re + line[0].im, V{}};
    if (m == plan.fft.length) return {line[0].re - line[0].im, V{}};
    constexpr auto half = static_cast<Real>(0.5);
    const LaneComplex<V> one = line[m], other = line[plan.fft.length - m];
    const LaneComplex<V> even{half * (one.re + other.re), half * (one.im - other.im)};
    const LaneComplex<V> odd{one.re - other.re, one.im + other.im};
    return even + times(odd, plan.apart[static_cast<std::size_t>(m)]);
}

// The coefficients of a line of a group, where they follow each other.
template <class Real>
auto coefficient_lines(const RowCoefficients<Real>& by, Index first, Index count) {
    return [&by, first, count](Index lane) {
        return reinterpret_cast<Real*>(by.values + (first + std::min(lane, count - 1)) * by.line_step);
    };
}

template <class V, class Real>
[[gnu::always_inline]] inline void store_coefficients(const Call<Real>& call, Index first, Index count,
                                                      const LaneComplex<V>* from) {
    constexpr Index lanes = sizeof(V) / sizeof(Real);
    const auto& by = *call.by;
    if (!by.places)
        return store_lines<Real, V>(coefficient_lines(by, first, count), count, 2 * by.kept,
                                    [&](Index k) { return reinterpret_cast<const V*>(from) + k; });
    for (Index m = 0; m < by.kept; ++m) {
        Real* to = reinterpret_cast<Real*>(by.values + by.places[m] * by.fields + first);
        const Real* parts = reinterpret_cast<const Real*>(from + m);
        if (count == lanes)
            store_pairs(to, from[m]);
        else
            for (Index lane = 0; lane < count; ++lane) {
                to[2 * lane] = parts[lane];
                to[2 * lane + 1] = parts[lanes + lane];
            }
    }
}

template <int bytes, class Real>
[[gnu::always_inline]] inline void to_fourier_by(const Call<Real>& call) {
    using V = Lanes<Real, bytes>;
    constexpr Index lanes = bytes / static_cast<int>(sizeof(Real));
    const auto& by = *call.by;
    const LaneRoom<V> room = lane_room<V>(call.plan->fft, call.scratch);
    for (Index first = 0; first < by.fields; first += lanes) {
        const Index count = std::min(lanes, by.fields - first);
        load_points(call, first, count, room.in);
        const LaneComplex<V>* line = run_passes<V, Real, true>(call.plan->fft, room.in, room.out, room.more);
        LaneComplex<V>* const found = line == room.in ? room.out : room.in;
        for (Index m = 0; m < by.kept; ++m) {
            const Real factor = m ? by.factor : by.mean_factor;
            const LaneComplex<V> value = taken_apart<V, Real>(*call.plan, line, m);
            found[m] = {value.re * factor, value.im * factor};
        }
        store_coefficients(call, first, count, found);
    }
}

// The coefficients of wavenumbers 0..length of a line, times their factors.
template <class V, class Real>
[[gnu::always_inline]] inline void load_coefficients(const Call<Real>& call, Index first, Index count,
                                                     LaneComplex<V>* to) {
    constexpr Index lanes = sizeof(V) / sizeof(Real);
    const auto& by = *call.by;
    if (!by.places) load_lines<Real>(coefficient_lines(by, first, count), 2 * by.kept, reinterpret_cast<V*>(to), 1);
    for (Index m = 0; by.places && m < by.kept; ++m) {
        const Real* from = reinterpret_cast<const Real*>(by.values + by.places[m] * by.fields + first);
        if (count == lanes) {
            to[m] = load_pairs<V>(from);
            continue;
        }
        to[m] = {V{}, V{}};
        Real* parts = reinterpret_cast<Real*>(to + m);
        for (Index lane = 0; lane < count; ++lane) {
            parts[lane] = from[2 * lane];
            parts[lanes + lane] = from[2 * lane + 1];
        }
    }
    for (Index m = 0; m < by.kept; ++m) {
        const Real factor = m ? by.factor : by.mean_factor;
        to[m] = {to[m].re * factor, to[m].im * factor};
    }
    if (by.kept > 0) to[0].im = V{};
    for (Index m = by.kept; m <= call.plan->fft.length; ++m) to[m] = {V{}, V{}};
}

// The line, real and imaginary parts exchanged, whose transform has the points.
template <class V, class Real>
[[gnu::always_inline]] inline void put_together(const PlanOf<Real>& plan, const LaneComplex<V>* x, LaneComplex<V>* to) {
    const Index length = plan.fft.length;
    if (plan.points % 2) {
        to[0] = {x[0].im, x[0].re};
        for (Index m = 1; 2 * m < length; ++m) {
            to[m] = {x[m].im, x[m].re};
            to[length - m] = {-x[m].im, x[m].re};
        }
        return;
    }
    to[0] = {x[0].re - x[length].re, x[0].re + x[length].re};
    for (Index m = 1; m < length; ++m) {
        const LaneComplex<V> one = x[m], other = x[length - m];
        const LaneComplex<V> sum{one.re + other.re, one.im - other.im};
        const LaneComplex<V> difference{one.re - other.re, one.im + other.im};
        const std::complex<Real> apart = plan.apart[static_cast<std::size_t>(m)];
        const LaneComplex<V> turned =
            times(difference, std::complex<Real>(2 * apart.real(), -2 * apart.imag()));  // i exp(2 pi i m / points)
        to[m] = {sum.im + turned.im, sum.re + turned.re};
    }
}

template <int bytes, class Real>
[[gnu::always_inline]] inline void to_points_by(const Call<Real>& call) {
    using V = Lanes<Real, bytes>;
    constexpr Index lanes = bytes / static_cast<int>(sizeof(Real));
    const Index fields = call.by->fields;
    const LaneRoom<V> room = lane_room<V>(call.plan->fft, call.scratch);
    for (Index first = 0; first < fields; first += lanes) {
        const Index count = std::min(lanes, fields - first);
        load_coefficients(call, first, count, room.out);
        put_together<V, Real>(*call.plan, room.out, room.in);
        store_points(call, first, count, run_passes<V, Real, true>(call.plan->fft, room.in, room.out, room.more));
    }
}

TRADEWIND_BY_WIDTH(void, to_fourier, (const Call<float>& call), (call))
TRADEWIND_BY_WIDTH(void, to_fourier, (const Call<double>& call), (call))
TRADEWIND_BY_WIDTH(void, to_points, (const Call<float>& call), (call))
TRADEWIND_BY_WIDTH(void, to_points, (const Call<double>& call), (call))

void check_kept(Index points, Index kept) {
    if (kept < 0 || kept > points / 2 + 1)
        throw InputError(std::to_string(kept) + " wavenumbers of a row of " + std::to_string(points) +
                         " points: up to " + std::to_string(points / 2 + 1) + " are allowed");
}

}  // namespace

template <class Real>
RowTransform<Real>::RowTransform(Index points) {
    if (points < 2) throw InputError("a row of " + std::to_string(points) + " points: 2 or more are allowed");
    plan_ = std::make_unique<const Plan>(points);
}

template <class Real>
RowTransform<Real>::~RowTransform() = default;
template <class Real>
RowTransform<Real>::RowTransform(RowTransform&&) noexcept = default;

template <class Real>
Index RowTransform<Real>::points() const {
    return plan_->points;
}

template <class Real>
Index RowTransform<Real>::scratch() const {
    return lane_scratch(plan_->fft);
}

template <class Real>
void RowTransform<Real>::to_fourier(const Real* const* lines, const RowCoefficients<Real>& to, Real* scratch) const {
    check_kept(plan_->points, to.kept);
    kernel::to_fourier(Call<Real>{plan_.get(), lines, nullptr, &to, scratch});
}

template <class Real>
void RowTransform<Real>::to_points(const RowCoefficients<Real>& from, Real* const* lines, Real* scratch) const {
    check_kept(plan_->points, from.kept);
    kernel::to_points(Call<Real>{plan_.get(), nullptr, lines, &from, scratch});
}

template class RowTransform<float>;
template class RowTransform<double>;

}  // namespace tradewind::kernel
