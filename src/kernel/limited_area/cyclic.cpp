#include "kernel/limited_area/cyclic.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/lanes.hpp"

namespace tradewind::kernel {

namespace {

// Lines are solved several at once, real and imaginary parts side by side, in as many vectors of B bytes as hide the
// time of an operation.
template <int B>
constexpr Index vectors = B == 32 ? 8 : 4;
template <class Real, int B>
constexpr Index lanes = vectors<B> * B / static_cast<Index>(sizeof(Real));

constexpr Index widest = 256;  // bytes of all vectors

double power(double base, Index exponent) {
    double result = 1.0;
    for (; exponent > 0; exponent /= 2, base *= base)
        if (exponent % 2) result *= base;
    return result;
}

// y[j] = f[j] + ratio y[j - step], around the circle, in place; each is multiplied by `gain` as it is written, unless
// there is none. `closing` is 1 / (1 - ratio^n).
template <int B, int step, class Real>
[[gnu::always_inline]] inline void recur(Real* values, Index points, const Real* ratios, const Real* closing,
                                         const Real* gains) {
    using V = Lanes<Real, B>;
    constexpr Index width = B / static_cast<Index>(sizeof(Real)), all = lanes<Real, B>;
    Real* const first = step > 0 ? values : values + (points - 1) * all;
    V y[vectors<B>] = {};
    Real* f = first;
    for (Index j = 0; j < points; ++j, f += step * all)
#pragma GCC unroll 8
        for (Index i = 0; i < vectors<B>; ++i) y[i] = load<V>(f + i * width) + load<V>(ratios + i * width) * y[i];
#pragma GCC unroll 8
    for (Index i = 0; i < vectors<B>; ++i) y[i] *= load<V>(closing + i * width);
    f = first;
    for (Index j = 0; j < points; ++j, f += step * all)
#pragma GCC unroll 8
        for (Index i = 0; i < vectors<B>; ++i) {
            y[i] = load<V>(f + i * width) + load<V>(ratios + i * width) * y[i];
            store(f + i * width, gains ? load<V>(gains + i * width) * y[i] : y[i]);
        }
}

// Lines of a level from column x on, through `kept`, which has room for three numbers and the points of all lanes.
template <class Real>
struct Block {
    Array<const std::complex<Real>> field;
    Array<std::complex<Real>> solution;
    Index x, z;
    const double *ratio, *gain;
    Real* kept;
};

template <int B, class Real>
[[gnu::always_inline]] inline Index solve_lines_by(const Block<Real>& lines) {
    constexpr Index all = lanes<Real, B>;
    const Index count = std::min(all, 2 * (lines.field.points[layout::X] - lines.x));
    const Index points = lines.field.points[layout::Y];
    Real *const ratio = lines.kept, *const gain = ratio + all, *const closing = gain + all, *const kept = closing + all;
    std::fill(ratio, kept, Real{});
    for (Index i = 0; i < count; ++i) {
        ratio[i] = static_cast<Real>(lines.ratio[i / 2]);
        gain[i] = static_cast<Real>(lines.gain[i / 2]);
        closing[i] = static_cast<Real>(1.0 / (1.0 - power(static_cast<double>(ratio[i]), points)));
    }
    for (Index y = 0; y < points; ++y) {
        const Real* const from = reinterpret_cast<const Real*>(lines.field.at(lines.x, y, lines.z));
        Real* const to = kept + y * all;
        std::copy(from, from + count, to);
        std::fill(to + count, to + all, Real{});
    }
    recur<B, 1, Real>(kept, points, ratio, closing, nullptr);
    recur<B, -1, Real>(kept, points, ratio, closing, gain);
    for (Index y = 0; y < points; ++y)
        std::copy_n(kept + y * all, count, reinterpret_cast<Real*>(lines.solution.at(lines.x, y, lines.z)));
    return all / 2;
}

// Return how many lines they solve.
TRADEWIND_BY_WIDTH(Index, solve_lines, (const Block<float>& lines), (lines))
TRADEWIND_BY_WIDTH(Index, solve_lines, (const Block<double>& lines), (lines))

template <class Real>
void check(Array<const std::complex<Real>> field, Array<std::complex<Real>> solution, Array<const double> ratio,
           Array<const double> gain) {
    if (field.points != solution.points) throw InputError("field and solution: arrays of one shape are allowed");
    const std::array<Index, 3> wanted{field.points[layout::X], field.points[layout::Z], 1};
    if (ratio.points != wanted || gain.points != wanted)
        throw InputError("ratio and gain: " + std::to_string(wanted[layout::Y]) + " x " +
                         std::to_string(wanted[layout::X]) + " values, [z][x] of the field, are allowed");
    for (Index i = 0; i < ratio.box().volume(); ++i)
        if (const auto rounded = static_cast<Real>(ratio.values[i]); !(rounded > -1 && rounded < 1))
            throw InputError("ratio " + std::to_string(ratio.values[i]) + ": values between -1 and 1 are allowed");
}

}  // namespace

template <class Real>
void solve_cyclic(Array<const std::complex<Real>> field, Array<std::complex<Real>> solution, Array<const double> ratio,
                  Array<const double> gain, Team& team) {
    check(field, solution, ratio, gain);
    const Index columns = field.points[layout::X], levels = field.points[layout::Z];
    const Index room = widest / static_cast<Index>(sizeof(Real)) * (3 + field.points[layout::Y]);
    std::vector<Real> kept(static_cast<std::size_t>(room * team.threads()));
    team.run([&](int thread) {
        const Index first = levels * thread / team.threads(), last = levels * (thread + 1) / team.threads();
        for (Index z = first; z < last; ++z)
            for (Index x = 0; x < columns;)
                x += solve_lines(Block<Real>{field, solution, x, z, ratio.at(x, z, 0), gain.at(x, z, 0),
                                             kept.data() + room * thread});
    });
}

template void solve_cyclic(Array<const std::complex<float>>, Array<std::complex<float>>, Array<const double>,
                           Array<const double>, Team&);
template void solve_cyclic(Array<const std::complex<double>>, Array<std::complex<double>>, Array<const double>,
                           Array<const double>, Team&);

}  // namespace tradewind::kernel
