#include "base/checked.hpp"

#include "base/error.hpp"

namespace tradewind {

void refuse_count(const std::string& what, const std::string& amount, const std::string& unit, std::int64_t maximum) {
    throw InputError(what + ": " + amount + " " + unit + "; at most " + std::to_string(maximum) + " can be counted");
}

std::int64_t checked_product(std::initializer_list<std::int64_t> factors, std::int64_t maximum, const std::string& what,
                             const std::string& unit) {
    std::int64_t product = 1;
    bool too_large = false;
    for (const std::int64_t factor : factors)
        too_large = __builtin_mul_overflow(product, factor, &product) || too_large;
    for (const std::int64_t factor : factors)
        if (factor == 0) return 0;
    if (!too_large && product <= maximum) return product;
    std::string text;
    for (const std::int64_t factor : factors) text += (text.empty() ? "" : " x ") + std::to_string(factor);
    refuse_count(what, text, unit, maximum);
}

}  // namespace tradewind
