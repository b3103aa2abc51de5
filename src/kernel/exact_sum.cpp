#include "kernel/exact_sum.hpp"

#include <bit>

namespace tradewind::kernel {

namespace {

constexpr std::uint32_t max_additions = 1u << 29;
constexpr std::int64_t low = 0xffffffff;

}  // namespace

void ExactSum::add(double finite) {
    const auto bits = std::bit_cast<std::uint64_t>(finite);
    const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = (bits & ((1ull << 52) - 1)) | (exponent ? 1ull << 52 : 0);
    const int place = exponent ? exponent - 1 : 0;  // finite = fraction * 2^(place - 1074)
    const auto shifted = static_cast<unsigned __int128>(fraction) << (place & 31);
    const std::int64_t parts[3] = {static_cast<std::int64_t>(shifted) & low,
                                   static_cast<std::int64_t>(shifted >> 32) & low,
                                   static_cast<std::int64_t>(shifted >> 64)};
    std::int64_t* to = digit_.data() + (place >> 5);
    const std::int64_t sign = bits >> 63 ? -1 : 1;
    for (int i = 0; i < 3; ++i) to[i] += sign * parts[i];
    if (++since_carry_ == max_additions) carry();
}

void ExactSum::add(const ExactSum& other) {
    ExactSum carried = other;
    carried.carry();
    carry();
    for (int i = 0; i < digits; ++i) digit_[i] += carried.digit_[i];
    carry();
}

const std::array<std::int64_t, ExactSum::digits>& ExactSum::normal() {
    carry();
    return digit_;
}

void ExactSum::carry() {
    for (int i = 0; i + 1 < digits; ++i) {
        digit_[i + 1] += digit_[i] >> 32;
        digit_[i] &= low;
    }
    since_carry_ = 0;
}

}  // namespace tradewind::kernel
