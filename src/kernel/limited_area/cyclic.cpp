#include "kernel/limited_area/cyclic.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace tradewind::kernel {

namespace {

// Lines are solved several at once, real and imaginary parts side by side: full vectors, always of the same operations.
constexpr Index lines = 8, lanes = 2 * lines;

using LineValues = std::array<double, lanes>;

// Ratio and gain of each lane, and 1 / (1 - ratio^n).
struct Factors {
    LineValues ratio, gain, closing;
};

double power(double base, Index exponent) {
    double result = 1.0;
    for (; exponent > 0; exponent /= 2, base *= base)
        if (exponent % 2) result *= base;
    return result;
}

// y[j] = f[j] + ratio y[j - step], around the circle, in place; each is multiplied by `gain` as it is written.
[[gnu::always_inline]] inline void recur(double* values, Index points, Index step, const Factors& by,
                                         const LineValues& gain) {
    double* const first = step > 0 ? values : values + (points - 1) * lanes;
    LineValues y{};
    double* f = first;
    for (Index j = 0; j < points; ++j, f += step * lanes)
        for (Index i = 0; i < lanes; ++i) y[i] = f[i] + by.ratio[i] * y[i];
    for (Index i = 0; i < lanes; ++i) y[i] *= by.closing[i];
    f = first;
    for (Index j = 0; j < points; ++j, f += step * lanes)
        for (Index i = 0; i < lanes; ++i) {
            y[i] = f[i] + by.ratio[i] * y[i];
            f[i] = gain[i] * y[i];
        }
}

void solve_lines(double* values, Index points, const Factors& by) {
    LineValues one;
    one.fill(1.0);
    recur(values, points, 1, by, one);
    recur(values, points, -1, by, by.gain);
}

// A level's lines, from a column on, through `kept`, which has room for the points of all lanes.
void solve_block(Array<const std::complex<double>> field, Array<std::complex<double>> solution, Index z, Index x,
                 const double* ratio, const double* gain, double* kept) {
    const Index count = std::min(lines, field.points[layout::X] - x), points = field.points[layout::Y];
    Factors by{};
    by.closing.fill(1.0);
    for (Index i = 0; i < 2 * count; ++i) {
        by.ratio[i] = ratio[i / 2];
        by.gain[i] = gain[i / 2];
        by.closing[i] = 1.0 / (1.0 - power(by.ratio[i], points));
    }
    for (Index y = 0; y < points; ++y) {
        const double* const from = reinterpret_cast<const double*>(field.at(x, y, z));
        double* const to = kept + y * lanes;
        std::copy(from, from + 2 * count, to);
        std::fill(to + 2 * count, to + lanes, 0.0);
    }
    solve_lines(kept, points, by);
    for (Index y = 0; y < points; ++y)
        std::copy(kept + y * lanes, kept + y * lanes + 2 * count, reinterpret_cast<double*>(solution.at(x, y, z)));
}

void check(Array<const std::complex<double>> field, Array<std::complex<double>> solution, Array<const double> ratio,
           Array<const double> gain) {
    if (field.points != solution.points) throw InputError("field and solution: arrays of one shape are allowed");
    const std::array<Index, 3> wanted{field.points[layout::X], field.points[layout::Z], 1};
    if (ratio.points != wanted || gain.points != wanted)
        throw InputError("ratio and gain: " + std::to_string(wanted[layout::Y]) + " x " +
                         std::to_string(wanted[layout::X]) + " values, [z][x] of the field, are allowed");
    for (Index i = 0; i < ratio.box().volume(); ++i)
        if (!(ratio.values[i] > -1.0 && ratio.values[i] < 1.0))
            throw InputError("ratio " + std::to_string(ratio.values[i]) + ": values between -1 and 1 are allowed");
}

}  // namespace

void solve_cyclic(Array<const std::complex<double>> field, Array<std::complex<double>> solution,
                  Array<const double> ratio, Array<const double> gain, Team& team) {
    check(field, solution, ratio, gain);
    const Index columns = field.points[layout::X], levels = field.points[layout::Z];
    const Index room = lanes * field.points[layout::Y];
    std::vector<double> kept(static_cast<std::size_t>(room * team.threads()));
    team.run([&](int thread) {
        const Index first = levels * thread / team.threads(), last = levels * (thread + 1) / team.threads();
        for (Index z = first; z < last; ++z)
            for (Index x = 0; x < columns; x += lines)
                solve_block(field, solution, z, x, ratio.at(x, z, 0), gain.at(x, z, 0), kept.data() + room * thread);
    });
}

}  // namespace tradewind::kernel
