// Counts of points and bytes that 64 bits have to hold: a product or a sum that they do not hold is an error, and never
// another number.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "base/units.hpp"

namespace tradewind {

// Maximum points of all arrays of all ranks: far beyond any machine, and far enough below 2^63 for what is computed
// from them on the way.
inline constexpr Index max_points = Index{1} << 60;
inline constexpr std::int64_t max_counted = std::numeric_limits<std::int64_t>::max();

// Throws InputError: what holds more of a unit than can be counted, and how many these are.
[[noreturn]] void refuse_count(const std::string& what, const std::string& amount, const std::string& unit,
                               std::int64_t maximum);

// The product of factors that are not negative. Throws InputError where it is more than `maximum`, which names them
// all.
std::int64_t checked_product(std::initializer_list<std::int64_t> factors, std::int64_t maximum, const std::string& what,
                             const std::string& unit);

// Adds to a sum. Throws InputError where that is more than 64 bits hold.
inline void add_checked(std::int64_t& sum, std::int64_t value, const char* what, const char* unit) {
    std::int64_t more;
    if (__builtin_add_overflow(sum, value, &more)) [[unlikely]]
        refuse_count(what, std::to_string(sum) + " + " + std::to_string(value), unit, max_counted);
    sum = more;
}

}  // namespace tradewind
