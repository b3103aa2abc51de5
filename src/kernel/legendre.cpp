#include "kernel/legendre.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

// Coefficients of a wavenumber: P(n+1) = P(n) + D(n), D(n) = (gamma - alpha versine) P(n) + beta D(n-1).
struct Coefficients {
    std::vector<double> alpha, beta, gamma;  // [n - m]
};

Coefficients coefficients(Index m, Index top) {
    Coefficients out;
    const auto count = static_cast<std::size_t>(std::max<Index>(0, top - m));
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
    return out;
}

// A number with an exponent of its own: mantissa * 2^exponent.
struct Wide {
    Long mantissa = 1;
    Index exponent = 0;

    void operator*=(const Wide& other) {
        int shift = 0;
        mantissa = std::frexp(mantissa * other.mantissa, &shift);
        exponent += other.exponent + shift;
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
using Lanes = std::array<double, lanes>;

struct Block {
    alignas(64) Lanes high, low;  // versine
    alignas(64) Lanes value, difference;
    std::array<int, lanes> below{};
    bool small = false;  // some are below
};

void start(Block& block, const Gaussian& gaussian, Index first, Index count, Index m, const Wide& norm) {
    for (Index lane = 0; lane < lanes; ++lane) {
        const auto latitude = static_cast<std::size_t>(first + std::min(lane, count - 1));
        block.high[lane] = gaussian.versine_high[latitude];
        block.low[lane] = gaussian.versine_low[latitude];
        Wide value = power(gaussian.sine[latitude], m);
        value *= norm;
        block.below[lane] = static_cast<int>(std::max<Index>(0, (-value.exponent + step / 2) / step));
        block.value[lane] = static_cast<double>(
            std::ldexp(value.mantissa, static_cast<int>(value.exponent + step * block.below[lane])));
        block.difference[lane] = 0;
    }
    block.small = std::any_of(block.below.begin(), block.below.end(), [](int below) { return below > 0; });
}

// Latitudes whose numbers have grown are kept with fewer factors of 2^-step.
void rescale(Block& block) {
    block.small = false;
    for (Index lane = 0; lane < lanes; ++lane) {
        if (block.below[lane] > 0 && std::abs(block.value[lane]) > std::ldexp(1.0, step / 2)) {
            block.value[lane] = std::ldexp(block.value[lane], -step);
            block.difference[lane] = std::ldexp(block.difference[lane], -step);
            --block.below[lane];
        }
        block.small |= block.below[lane] > 0;
    }
}

void store(const Block& block, double* out, Index count) {
    for (Index lane = 0; lane < count; ++lane) out[lane] = block.below[lane] > 0 ? 0.0 : block.value[lane];
}

[[gnu::always_inline]] inline void advance(Block& block, double alpha, double beta, double gamma) {
    for (Index lane = 0; lane < lanes; ++lane) {
        const double factor = (gamma - alpha * block.high[lane]) - alpha * block.low[lane];
        block.difference[lane] = factor * block.value[lane] + beta * block.difference[lane];
        block.value[lane] += block.difference[lane];
    }
}

// out(n): where the values of a degree belong.
template <class Out>
[[gnu::always_inline]] inline void degrees(Block& block, const Coefficients& by, Index count, const Out& out) {
    const auto end = static_cast<Index>(by.alpha.size());
    Index n = 0;
    for (; n < end && block.small; ++n) {
        store(block, out(n), count);
        advance(block, by.alpha[n], by.beta[n], by.gamma[n]);
        rescale(block);
    }
    if (count == lanes) {
        for (; n < end; ++n) {
            double* to = out(n);
            for (Index lane = 0; lane < lanes; ++lane) to[lane] = block.value[lane];
            advance(block, by.alpha[n], by.beta[n], by.gamma[n]);
        }
    }
    for (; n < end; ++n) {
        store(block, out(n), count);
        advance(block, by.alpha[n], by.beta[n], by.gamma[n]);
    }
    store(block, out(end), count);
}

// Computes one block of latitudes; `stride` values from one degree to the next of the same parity.
TRADEWIND_WIDE_CLONES void run_block(Block& block, const Coefficients& by, Index count, double* even, double* odd,
                                     Index stride) {
    degrees(block, by, count, [=](Index n) { return (n % 2 ? odd : even) + n / 2 * stride; });
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

void legendre(const Gaussian& gaussian, Index first, Index end, Index m, Index top, double* values, Index size) {
    const Index latitudes = end - first;
    if (first < 0 || latitudes < 0 || end > gaussian.latitudes() || m < 0 || top < m ||
        size != (top - m + 1) * latitudes)
        throw InputError("Legendre functions of wavenumber " + std::to_string(m) + " to degree " + std::to_string(top) +
                         " at latitudes from " + std::to_string(first) + " to before " + std::to_string(end) +
                         ": they do not fit " + std::to_string(size) + " numbers");
    const Coefficients by = coefficients(m, top);
    const Wide scale = norm(m);
    double* odd = values + (top - m) / 2 * latitudes + latitudes;
    Block block;
    for (Index at = 0; at < latitudes; at += lanes) {
        const Index count = std::min(lanes, latitudes - at);
        start(block, gaussian, first + at, count, m, scale);
        run_block(block, by, count, values + at, odd + at, latitudes);
    }
}

Index negligible_latitudes(const Gaussian& gaussian, Index m, Index top) {
    if (m < 0 || top < m)
        throw InputError("Legendre functions of wavenumber " + std::to_string(m) + " to degree " + std::to_string(top) +
                         ": there are none");
    const Coefficients by = coefficients(m, top);
    const Wide scale = norm(m);
    const Long turning = static_cast<Long>(m) / std::sqrt(static_cast<Long>(top) * static_cast<Long>(top + 1));
    std::vector<double> values(static_cast<std::size_t>(top - m + 2));
    Index begin = 0, end = gaussian.latitudes();  // all before begin are negligible, none from end on
    while (begin < end) {
        const Index middle = (begin + end) / 2;
        bool negligible = gaussian.sine[static_cast<std::size_t>(middle)] <= turning;
        if (negligible) {
            Block block;
            start(block, gaussian, middle, 1, m, scale);
            run_block(block, by, 1, values.data(), values.data() + (top - m) / 2 + 1, 1);
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
