// Arithmetic in a finite field of q elements, q a power of a prime.
#pragma once

#include <cstdint>
#include <vector>

namespace tradewind::machine {

// Elements are 0..q-1: the digits, base p, of a number are the coefficients of a polynomial over the integers mod p.
class FiniteField {
  public:
    static constexpr std::uint32_t largest = 256;
    static bool exists(std::uint32_t q);

    // Throws InputError where q is not a power of a prime, or larger than `largest`.
    explicit FiniteField(std::uint32_t q);

    std::uint32_t size() const { return q_; }
    std::uint32_t add(std::uint32_t a, std::uint32_t b) const { return sum_[a * q_ + b]; }
    std::uint32_t negative(std::uint32_t a) const { return negative_[a]; }
    std::uint32_t subtract(std::uint32_t a, std::uint32_t b) const { return add(a, negative_[b]); }
    std::uint32_t multiply(std::uint32_t a, std::uint32_t b) const {
        return a == 0 || b == 0 ? 0 : power_[logarithm_[a] + logarithm_[b]];
    }
    // b is not 0.
    std::uint32_t divide(std::uint32_t a, std::uint32_t b) const {
        return a == 0 ? 0 : power_[logarithm_[a] + q_ - 1 - logarithm_[b]];
    }
    // A power of an element whose powers are all elements but 0; the exponent is below 2 (q - 1).
    std::uint32_t power(std::uint32_t exponent) const { return power_[exponent]; }

  private:
    void add_digits(std::uint32_t p);
    bool find_powers(std::uint32_t p, std::uint32_t reduction);

    std::uint32_t q_;
    std::vector<std::uint16_t> sum_, negative_, power_, logarithm_;
};

}  // namespace tradewind::machine
