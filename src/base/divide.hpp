// Division by a number that is fixed at run time, as one multiplication.
#pragma once

#include <cstdint>

namespace tradewind {

// One multiplication of which the upper half is kept: with ceil(2^64 / d) it is exact for all 32-bit numerators
// (Lemire, Kaser & Kurz 2019). 2^64 / 1 does not fit; there the numerator itself is added to a product of 0.
class Divider {
  public:
    Divider() = default;
    explicit Divider(std::uint32_t divisor)
        : divisor_(divisor),
          one_(divisor == 1 ? ~0u : 0u),
          reciprocal_(divisor == 1 ? 0 : ~std::uint64_t{0} / divisor + 1) {}

    std::uint32_t quotient(std::uint32_t n) const {
        return static_cast<std::uint32_t>((static_cast<unsigned __int128>(n) * reciprocal_) >> 64) + (n & one_);
    }
    std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor_; }
    std::uint32_t divisor() const { return divisor_; }

  private:
    std::uint32_t divisor_ = 1, one_ = ~0u;
    std::uint64_t reciprocal_ = 0;
};

}  // namespace tradewind
