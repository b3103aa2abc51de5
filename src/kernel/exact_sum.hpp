#pragma once

#include <array>
#include <cstdint>

namespace tradewind::kernel {

// A sum of finite doubles without any rounding, so that it does not depend on the order of its terms: a whole number of
// 2^-1074, the smallest double, in digits of 32 bits (Kulisch's long accumulator; the digits overlap as in the small
// superaccumulator of Neal 2015, arXiv:1505.05571). Room for 2^63 terms of any size.
class ExactSum {
  public:
    static constexpr int digits = 68;

    void add(double finite);
    void add(const ExactSum& other);
    // The value is the sum of digit[i] * 2^(32 i - 1074); all but the last one are in 0..2^32-1.
    const std::array<std::int64_t, digits>& normal();

  private:
    void carry();

    std::array<std::int64_t, digits> digit_{};
    std::uint32_t since_carry_ = 0;  // additions, each of less than 2^32 to a digit
};

}  // namespace tradewind::kernel
