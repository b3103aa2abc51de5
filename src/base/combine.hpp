// The operations by which values are combined, of any element type.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tradewind {

enum class Operation : std::uint8_t { sum, min, max, prod };

// Integers wrap around, as NumPy's do; of equal values the first one is taken.
template <Operation operation, typename T>
T combined(T a, T b) {
    if constexpr (operation == Operation::min)
        return b < a ? b : a;
    else if constexpr (operation == Operation::max)
        return a < b ? b : a;
    else if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;  // signed overflow is undefined
        const U x = static_cast<U>(a), y = static_cast<U>(b);
        return static_cast<T>(operation == Operation::sum ? x + y : x * y);
    } else if constexpr (operation == Operation::sum)
        return a + b;
    else
        return a * b;
}

}  // namespace tradewind
