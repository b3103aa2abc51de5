// Ranks that take longer for the same computation than others: a random factor on its time.
#pragma once

#include <cstdint>
#include <string>

namespace tradewind::program {

enum class Distribution : std::uint8_t { none, normal, uniform, lognormal, exponential };

// The factor has a mean of 1 and a standard deviation of `spread`; it is never negative.
struct Imbalance {
    Distribution distribution = Distribution::none;
    double spread = 0;
    bool each_time = false;  // drawn anew each time; else a rank keeps its factor

    bool any() const { return distribution != Distribution::none && spread > 0; }
    bool operator==(const Imbalance&) const = default;
    // The factor for 64 random bits.
    double factor(std::uint64_t random) const;
};

// "normal", "uniform", "lognormal" or "exponential". Throws InputError for another name.
Distribution distribution_of(const std::string& name);
// The largest spread with which no factor, or of "normal" only one in a thousand, is below 0.
double largest_spread(Distribution distribution);

}  // namespace tradewind::program
