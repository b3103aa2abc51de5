// Division of long numbers by a number that is fixed at run time, as one multiplication.
#pragma once

#include <bit>
#include <cstdint>

namespace tradewind {

// Exact for numerators of 63 bits, and divisors from 1 on. Twice the numerator is multiplied with
// floor(2^(63 + l) / d) + 1, where l bits hold d - 1 (Granlund & Montgomery 1994): what that is too large by adds less
// than 1 / d to the quotient.
class LongDivider {
  public:
    explicit LongDivider(std::int64_t divisor)
        : shift_(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(divisor) - 1))),
          reciprocal_(static_cast<std::uint64_t>((static_cast<unsigned __int128>(1) << (63 + shift_)) /
                                                 static_cast<std::uint64_t>(divisor)) +
                      1) {}

    std::int64_t quotient(std::int64_t n) const {
        const auto product = static_cast<unsigned __int128>(static_cast<std::uint64_t>(n) << 1) * reciprocal_;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(product >> 64) >> shift_);
    }

  private:
    unsigned shift_;
    std::uint64_t reciprocal_;
};

}  // namespace tradewind
