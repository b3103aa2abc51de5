#include "pattern/pattern.hpp"

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::pattern {

std::string Pattern::group_text() const {
    return std::to_string(ranks()) + (ranks() == 1 ? " rank" : " ranks");
}

std::shared_ptr<const Pattern> Pattern::for_levels(std::array<Index, 2>) const {
    throw InputError("levels of a " + name() + ": a fetch and its adjoint have them");
}

void check_bytes(const Pattern& pattern, std::int64_t bytes_per_point) {
    if (bytes_per_point < 1)
        throw InputError(std::to_string(bytes_per_point) + " bytes per point: 1 or more are allowed");
    // Programs have up to a million steps: what the pattern is called is asked only for the error.
    if (std::int64_t bytes; !__builtin_mul_overflow(pattern.storage(), bytes_per_point, &bytes)) return;
    checked_product({pattern.storage(), bytes_per_point}, max_counted, "arrays of the " + pattern.describe(), "bytes");
}

}  // namespace tradewind::pattern
