#include "kernel/spectral/legendre.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "base/error.hpp"
#include "kernel/clones.hpp"

namespace tradewind::kernel {

namespace {

using Long = long double;

struct Root {
    Long value, slope;  // P(theta) and dP/dtheta
};

// The Legendre polynomial of a degree by its three-term recurrence, for the differences P(k+1) - P(k): these keep their
// digits near the pole, where consecutive values are almost equal.
Root polynomial(Index degree, Long theta) {
    const Long half = std::sin(theta / 2), versine = 2 * half * half;
    Long value = 1, difference = -versine, before = 0;
    for (Index k = 1; k <= degree; ++k) {
        before = value;
        value += difference;
        difference = (static_cast<Long>(k) * difference - static_cast<Long>(2 * k + 1) * versine * value) /
                     static_cast<Long>(k + 1);
    }
    const Long slope = -static_cast<Long>(degree) * ((before - value) + versine * value) / std::sin(theta);
    return {value, slope};
}

// Coefficients of a wavenumber: P(n+1) = P(n) + D(n), D(n) = (gamma - alpha versine) P(n) + beta D(n-1). Those of the
// last degree, after which none is computed, are 0.
struct Coefficients {
    std::vector<double> alpha, beta, gamma;  // [n - m]
};

Coefficients coefficients(Index m, Index top) {
    if (m < 0 || top < m)
        throw InputError("Legendre functions of wavenumber " + std::to_string(m) + " to degree " + std::to_string(top) +
                         ": wavenumbers from 0 to the degree are allowed");
    Coefficients out;
    const auto count = static_cast<std::size_t>(top - m + 1);
    out.alpha.reserve(count);
    out.beta.reserve(count);
    out.gamma.reserve(count);
    const auto epsilon = [m](Index n) {
        return std::sqrt(static_cast<Long>((n - m) * (n + m)) / static_cast<Long>(4 * n * n - 1));
    };
    Long here = 0;  // epsilon(m)
    for (Index n = m; n < top; ++n) {
        const Long next = epsilon(n + 1), alpha = 1 / next, beta = here / next;
        out.alpha.push_back(static_cast<double>(alpha));
        out.beta.push_back(static_cast<double>(beta));
        out.gamma.push_back(static_cast<double>(alpha - 1 - beta));
        here = next;
    }
    out.alpha.push_back(0);
    out.beta.push_back(0);
    out.gamma.push_back(0);
    return out;
}

// A number with an exponent of its own, mantissa * 2^exponent, whose mantissa is far from the smallest of its type: a
// product of two is exact but for its rounding.
struct Wide {
    Long mantissa = 1;
    Index exponent = 0;

    static constexpr int far = -std::numeric_limits<Long>::min_exponent / 4;
    static inline const Long smallest = std::ldexp(Long{1}, -far), grown = std::ldexp(Long{1}, far);

    void operator*=(const Wide& other) {
        mantissa *= other.mantissa;
        exponent += other.exponent;
        if (mantissa < smallest) {
            mantissa *= grown;
            exponent -= far;
        }
    }
};

Wide power(Long base, Index exponent) {
    Wide out, square{base, 0};
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2) out *= square;
        square *= Wide(square);
    }
    return out;
}

// P(m, m) = norm sin(theta)^m.
Wide norm(Index m) {
    Wide out;
    for (Index k = 1; k <= m; ++k) out *= {std::sqrt(static_cast<Long>(2 * k + 1) / static_cast<Long>(2 * k)), 0};
    return out;
}

constexpr Index lanes = 32;  // latitudes computed side by side: enough for several vectors under way at a time
constexpr int step = 200;    // numbers below 2^(-step / 2) are kept as multiples of 2^(-step * below)
using LatitudeValues = std::array<double, lanes>;

struct Block {
    alignas(64) LatitudeValues high, low;  // versine
    alignas(64) LatitudeValues value, difference;
    alignas(64) LatitudeValues below;  // whole numbers
    bool small = false;                // some are below
};

void look_for_small(Block& block) {
    block.small = std::any_of(block.below.begin(), block.below.end(), [](double below) { return below > 0; });
}

void start(Block& block, const Gaussian& gaussian, Index first, Index count, Index m, const Wide& norm) {
    for (Index lane = 0; lane < lanes; ++lane) {
        if (lane >= count) {  // computed with the others, and stored nowhere
            block.high[lane] = block.low[lane] = block.value[lane] = block.difference[lane] = block.below[lane] = 0;
            continue;
        }
        const auto latitude = static_cast<std::size_t>(first + lane);
        block.high[lane] = gaussian.versine_high[latitude];
        block.low[lane] = gaussian.versine_low[latitude];
        Wide value = power(gaussian.sine[latitude], m);
        value *= norm;
        int shift = 0;
        const Long mantissa = std::frexp(value.mantissa, &shift);
        const Index exponent = value.exponent + shift, below = std::max<Index>(0, (-exponent + step / 2) / step);
        block.below[lane] = static_cast<double>(below);
        block.value[lane] = static_cast<double>(std::ldexp(mantissa, static_cast<int>(exponent + step * below)));
        block.difference[lane] = 0;
    }
    look_for_small(block);
}

// Latitudes whose numbers have grown are kept with fewer factors of 2^-step.
[[gnu::always_inline]] inline void rescale(Block& block) {
    constexpr double large = 0x1p100, less = 0x1p-200;
    static_assert(step == 200);
    for (Index lane = 0; lane < lanes; ++lane) {
        const bool grown = (block.below[lane] > 0) & (std::abs(block.value[lane]) > large);
        const double factor = grown ? less : 1.0;
        block.value[lane] *= factor;
        block.difference[lane] *= factor;
        block.below[lane] -= grown ? 1.0 : 0.0;
    }
}

[[gnu::always_inline]] inline void advance(Block& block, double alpha, double beta, double gamma) {
    for (Index lane = 0; lane < lanes; ++lane) {
        const double factor = (gamma - alpha * block.high[lane]) - alpha * block.low[lane];
        block.difference[lane] = factor * block.value[lane] + beta * block.difference[lane];
        block.value[lane] += block.difference[lane];
    }
}

// Computes the degrees m + begin..m + end - 1 of the first `count` latitudes of a block. `stride` values from one
// degree to the next but one, which is of the same parity: those of m + begin are `same`, of the next one `other`.
TRADEWIND_WIDE_CLONES void run_block(Block& block, const Coefficients& by, Index begin, Index end, Index count,
                                     double* same, double* other, Index stride) {
    constexpr Index looks = 8;  // degrees between two looks for what is small
    for (Index n = begin; n < end; ++n) {
        double* to = ((n - begin) % 2 ? other : same) + (n - begin) / 2 * stride;
        if (block.small) {
            alignas(64) LatitudeValues shown;
            for (Index lane = 0; lane < lanes; ++lane) shown[lane] = block.below[lane] > 0 ? 0.0 : block.value[lane];
            std::copy_n(shown.begin(), count, to);
        } else if (count == lanes) {
            for (Index lane = 0; lane < lanes; ++lane) to[lane] = block.value[lane];
        } else {
            std::copy_n(block.value.begin(), count, to);
        }
        advance(block, by.alpha[n], by.beta[n], by.gamma[n]);
        if (block.small) {
            rescale(block);
            if (n % looks == 0) look_for_small(block);
        }
    }
}

}  // namespace

Gaussian gaussian_latitudes(Index latitudes) {
    if (latitudes < 1 || latitudes > Index{1} << 20)
        throw InputError("Gaussian latitudes: " + std::to_string(latitudes) +
                         " in a hemisphere; 1 to 1048576 are allowed");
    Gaussian out;
    const Index degree = 2 * latitudes;
    for (Index k = 1; k <= latitudes; ++k) {
        const Long estimate =
            static_cast<Long>(4 * k - 1) * std::numbers::pi_v<Long> / static_cast<Long>(4 * degree + 2);
        Long theta = estimate + 1 / (std::tan(estimate) * 8 * static_cast<Long>(degree * degree));
        Root root = polynomial(degree, theta);
        // Each step squares the error, which is below 1e-4 of the distance of two roots at first.
        for (int iteration = 0; iteration < 3; ++iteration) {
            theta -= root.value / root.slope;
            root = polynomial(degree, theta);
        }
        const Long half = std::sin(theta / 2), versine = 2 * half * half;
        out.colatitude.push_back(theta);
        out.sine.push_back(std::sin(theta));
        out.versine.push_back(versine);
        out.versine_high.push_back(static_cast<double>(versine));
        out.versine_low.push_back(static_cast<double>(versine - static_cast<Long>(out.versine_high.back())));
        out.weight.push_back(static_cast<double>(1 / (root.slope * root.slope)));
    }
    return out;
}

struct LegendreRecurrence::State {
    const Gaussian& gaussian;
    Index m;
    Coefficients by;
    Wide scale;
    Index done = 0, latitudes = 0;  // degrees that are computed, latitudes of the blocks
    std::vector<Block> blocks;
};

LegendreRecurrence::LegendreRecurrence(const Gaussian& gaussian, Index m, Index top) {
    state_ = std::make_unique<State>(State{gaussian, m, coefficients(m, top), norm(m), 0, 0, {}});
}

LegendreRecurrence::~LegendreRecurrence() = default;

void LegendreRecurrence::start(Index first, Index end) {
    if (first < 0 || end < first || end > state_->gaussian.latitudes())
        throw InputError("Legendre functions at latitudes from " + std::to_string(first) + " to before " +
                         std::to_string(end) + ": 0.." + std::to_string(state_->gaussian.latitudes()) + " are allowed");
    state_->done = 0;
    state_->latitudes = end - first;
    state_->blocks.resize(static_cast<std::size_t>((end - first + lanes - 1) / lanes));
    for (Block& block : state_->blocks) {
        kernel::start(block, state_->gaussian, first, std::min(lanes, end - first), state_->m, state_->scale);
        first += lanes;
    }
}

void LegendreRecurrence::next(Index degrees, double* values, Index size) {
    State& s = *state_;
    const Index begin = s.done, end = begin + degrees;
    if (degrees < 0 || end > static_cast<Index>(s.by.alpha.size()) || size != degrees * s.latitudes)
        throw InputError("Legendre functions of wavenumber " + std::to_string(s.m) + ": " + std::to_string(degrees) +
                         " degrees from " + std::to_string(s.m + begin) + " at " + std::to_string(s.latitudes) +
                         " latitudes do not fit " + std::to_string(size) + " numbers");
    double* other = values + (degrees + 1) / 2 * s.latitudes;
    Index left = s.latitudes;
    for (Block& block : s.blocks) {
        run_block(block, s.by, begin, end, std::min(lanes, left), values, other, s.latitudes);
        values += lanes;
        other += lanes;
        left -= lanes;
    }
    s.done = end;
}

void legendre(const Gaussian& gaussian, Index first, Index end, Index m, Index top, double* values, Index size) {
    LegendreRecurrence recurrence(gaussian, m, top);
    recurrence.start(first, end);
    recurrence.next(top - m + 1, values, size);
}

Index negligible_latitudes(const Gaussian& gaussian, Index m, Index top) {
    const Coefficients by = coefficients(m, top);
    const Wide scale = norm(m);
    const Long turning = static_cast<Long>(m) / std::sqrt(static_cast<Long>(top) * static_cast<Long>(top + 1));
    std::vector<double> values(static_cast<std::size_t>(top - m + 1));
    Index begin = 0, end = gaussian.latitudes();  // all before begin are negligible, none from end on
    while (begin < end) {
        const Index middle = (begin + end) / 2;
        bool negligible = gaussian.sine[static_cast<std::size_t>(middle)] <= turning;
        if (negligible) {
            Block block;
            start(block, gaussian, middle, 1, m, scale);
            run_block(block, by, 0, top - m + 1, 1, values.data(), values.data() + (top - m) / 2 + 1, 1);
            negligible = std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
        }
        if (negligible)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

}  // namespace tradewind::kernel
