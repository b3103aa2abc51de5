// Radix sort of 64-bit keys by a range of their bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/huge.hpp"

namespace tradewind::sim {

// Sorts keys[0..n) by the bits low .. low + bits - 1 upwards (the bits below `low` are a payload that makes keys
// distinct, so that std::sort of the whole key gives the same order). Uses `other` as second buffer; the result is in
// `keys`. Digits are wide where there are many keys: two passes over data beat three, while a histogram must not cost
// more than the keys.
inline void radix_sort(HugeVector<std::uint64_t>& keys, HugeVector<std::uint64_t>& other, std::size_t n, int low,
                       int bits) {
    if (n < 192) {
        std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n));
        return;
    }
    const int widest = n < 4096 ? 8 : 12;
    const int passes = (bits + widest - 1) / widest;
    const int width = (bits + passes - 1) / passes;
    const std::size_t buckets = std::size_t{1} << width;
    // Its address is asked for once, not in the loops: where it is in a shared library that is a call.
    static thread_local std::array<std::uint32_t, 8 * 4096> counts_of_thread;
    std::uint32_t* const counts = counts_of_thread.data();
    std::fill_n(counts, buckets * static_cast<std::size_t>(passes), 0u);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t key = keys[i] >> low;
        for (int p = 0; p < passes; ++p, key >>= width)
            ++counts[static_cast<std::size_t>(p) * buckets + (key & (buckets - 1))];
    }
    for (int p = 0; p < passes; ++p) {
        std::uint32_t* count = &counts[static_cast<std::size_t>(p) * buckets];
        std::uint32_t sum = 0;
        for (std::size_t b = 0; b < buckets; ++b) {
            const std::uint32_t c = count[b];
            count[b] = sum;
            sum += c;
        }
        const int shift = low + p * width;
        for (std::size_t i = 0; i < n; ++i) other[count[keys[i] >> shift & (buckets - 1)]++] = keys[i];
        keys.swap(other);
    }
}

}  // namespace tradewind::sim
