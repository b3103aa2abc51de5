#include "machine/topology/finite_field.hpp"

#include <string>

#include "base/error.hpp"

namespace tradewind::machine {

namespace {

// The prime that q is a power of; 0 if there is none.
std::uint32_t prime_of(std::uint32_t q) {
    for (std::uint32_t p = 2; p <= q; ++p) {
        if (q % p != 0) continue;
        while (q % p == 0) q /= p;
        return q == 1 ? p : 0;
    }
    return 0;
}

}  // namespace

bool FiniteField::exists(std::uint32_t q) {
    return q <= largest && prime_of(q) != 0;
}

FiniteField::FiniteField(std::uint32_t q) : q_(q) {
    if (!exists(q))
        throw InputError("a finite field of " + std::to_string(q) + " elements: powers of a prime up to " +
                         std::to_string(largest) + " are allowed");
    const std::uint32_t p = prime_of(q);
    add_digits(p);
    // x^n is reduced to a polynomial of lower degree; of some, the powers of x are all elements but 0.
    std::uint32_t reduction = 1;
    while (!find_powers(p, reduction)) ++reduction;
}

void FiniteField::add_digits(std::uint32_t p) {
    sum_.resize(std::size_t{q_} * q_);
    negative_.resize(q_);
    for (std::uint32_t a = 0; a < q_; ++a)
        for (std::uint32_t b = 0; b < q_; ++b) {
            std::uint32_t sum = 0;
            for (std::uint32_t place = 1; place < q_; place *= p) sum += (a / place + b / place) % p * place;
            sum_[a * q_ + b] = static_cast<std::uint16_t>(sum);
            if (sum == 0) negative_[a] = static_cast<std::uint16_t>(b);
        }
}

// Fills the powers of x where x^n = reduction; returns whether they are all elements but 0.
bool FiniteField::find_powers(std::uint32_t p, std::uint32_t reduction) {
    power_.assign(2 * q_, 0);
    logarithm_.assign(q_, 0);
    std::uint32_t element = 1;
    for (std::uint32_t exponent = 0; exponent < q_ - 1; ++exponent) {
        if (exponent > 0 && element == 1) return false;
        power_[exponent] = power_[exponent + q_ - 1] = static_cast<std::uint16_t>(element);
        logarithm_[element] = static_cast<std::uint16_t>(exponent);
        std::uint32_t shifted = element % (q_ / p) * p;
        for (std::uint32_t top = element / (q_ / p); top > 0; --top) shifted = add(shifted, reduction);
        element = shifted;
    }
    return element == 1;
}

}  // namespace tradewind::machine
