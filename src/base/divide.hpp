// Division by a number that is fixed at run time, as one multiplication.
#pragma once

#include <cstdint>

namespace tradewind {

// Exact for every 32-bit numerator: ceil(2^63 / d) has an error below n / 2^63 < 1 / d for n, d < 2^31.
class Divider {
  public:
    Divider() = default;
    explicit Divider(std::uint32_t divisor) : divisor_(divisor), reciprocal_(((1ULL << 63) + divisor - 1) / divisor) {}

    std::uint32_t quotient(std::uint32_t n) const {
        return static_cast<std::uint32_t>((static_cast<unsigned __int128>(n) * reciprocal_) >> 63);
    }
    std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor_; }
    std::uint32_t divisor() const { return divisor_; }

  private:
    std::uint32_t divisor_ = 1;
    std::uint64_t reciprocal_ = 1ULL << 63;
};

}  // namespace tradewind
