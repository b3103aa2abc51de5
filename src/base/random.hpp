// Random numbers as a pure function of their coordinates: the same for any number of threads and any order of calls.
#pragma once

#include <cstdint>

namespace tradewind {

// One round of splitmix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators").
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return mix(mix(a) ^ b);
}

// Maps 64 random bits onto the numbers between 0 and 1, both excluded.
constexpr double unit_interval(std::uint64_t random) {
    return (static_cast<double>(random >> 12) + 0.5) * 0x1p-52;
}

// Maps 32 random bits onto 0..n-1 without a division (Lemire 2019); the bias is below n / 2^32.
constexpr std::uint32_t scale_to(std::uint32_t random, std::uint32_t n) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(random) * n) >> 32);
}

}  // namespace tradewind
