#include "base/consecutive.hpp"

#include <algorithm>
#include <bit>

#include "base/avx2.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tradewind {

namespace {

// Bit i of the result: number i does not follow number i - 1, one higher.
std::uint64_t breaks_one_by_one(const Index* numbers, std::size_t count) {
    std::uint64_t breaks = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto here = static_cast<std::uint64_t>(numbers[i]);
        const auto before = static_cast<std::uint64_t>(*(numbers + i - 1));
        breaks |= static_cast<std::uint64_t>(here - before != 1) << i;
    }
    return breaks;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::uint64_t breaks_by_four(const Index* numbers) {
    const __m256i one = _mm256_set1_epi64x(1);
    std::uint64_t follows = 0;
    for (int i = 0; i < 64; i += 4) {
        const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + i));
        const __m256i before = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + i - 1));
        const __m256i same = _mm256_cmpeq_epi64(_mm256_sub_epi64(here, before), one);
        follows |= static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(same))) << i;
    }
    return ~follows;
}
#endif

std::uint64_t breaks(const Index* numbers, std::size_t count) {
#if defined(__x86_64__)
    if (count == 64 && has_avx2()) return breaks_by_four(numbers);
#endif
    return breaks_one_by_one(numbers, count);
}

}  // namespace

std::size_t Consecutive::more() {
    constexpr std::size_t bits = 64;
    const std::size_t n = numbers_.size();
    if (open_ == static_cast<Index>(n)) return 0;
    begins_[0] = open_;
    Index* begin = begins_ + 1;
    while (next_ < n && begin + bits <= begins_ + maximum) {
        const std::size_t count = std::min(bits, n - next_);
        const std::uint64_t found = breaks(numbers_.data() + next_, count);
        if (found != breaks_) {
            breaks_ = found;
            known_ = 0;
            for (std::uint64_t left = found; left; left &= left - 1) places_[known_++] = std::countr_zero(left);
        }
        const auto first = static_cast<Index>(next_);
        for (std::size_t i = 0; i < known_; ++i) begin[i] = first + places_[i];
        begin += known_;
        next_ += count;
    }
    if (next_ == n) *begin++ = static_cast<Index>(n);
    open_ = begin[-1];
    return static_cast<std::size_t>(begin - begins_) - 1;
}

}  // namespace tradewind
