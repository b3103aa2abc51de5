#include "program/imbalance.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind::program {

namespace {

constexpr const char* names[] = {"", "normal", "uniform", "lognormal", "exponential"};

// Box & Muller 1958: two uniform numbers make one of the standard normal distribution.
double standard_normal(std::uint64_t random) {
    const double radius = std::sqrt(-2 * std::log(unit_interval(random)));
    return radius * std::cos(2 * std::numbers::pi * unit_interval(mix(random)));
}

}  // namespace

double Imbalance::factor(std::uint64_t random) const {
    switch (distribution) {
        case Distribution::none: break;
        case Distribution::normal: return std::max(0.0, 1 + spread * standard_normal(random));
        case Distribution::uniform: return 1 + spread * std::sqrt(3.0) * (2 * unit_interval(random) - 1);
        case Distribution::lognormal: {
            const double variance = std::log1p(spread * spread);
            return std::exp(std::sqrt(variance) * standard_normal(random) - variance / 2);
        }
        case Distribution::exponential: return 1 - spread - spread * std::log(unit_interval(random));
    }
    return 1;
}

Distribution distribution_of(const std::string& name) {
    for (std::size_t i = 1; i < std::size(names); ++i)
        if (name == names[i]) return static_cast<Distribution>(i);
    throw InputError("distribution '" + name + "': normal, uniform, lognormal or exponential is allowed");
}

double largest_spread(Distribution distribution) {
    switch (distribution) {
        case Distribution::none: return 0;
        case Distribution::normal: return 1.0 / 3;
        case Distribution::uniform: return 1 / std::sqrt(3.0);
        case Distribution::lognormal: return 10;
        case Distribution::exponential: return 1;
    }
    return 0;
}

}  // namespace tradewind::program
