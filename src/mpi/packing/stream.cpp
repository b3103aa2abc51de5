#include "mpi/packing/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/avx2.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tradewind::mpi {

bool can_stream() {
    return has_avx2();
}

#if defined(__x86_64__)
// Only whole lines go past the cache: a part of one would be read and written all the same.
__attribute__((target("avx2"))) void stream(std::byte* to, const std::byte* from, Index bytes) {
    constexpr Index line = 64;
    const Index head = std::min<Index>(-static_cast<Index>(reinterpret_cast<std::uintptr_t>(to)) & (line - 1), bytes);
    std::memcpy(to, from, static_cast<std::size_t>(head));
    Index i = head;
    for (; i + line <= bytes; i += line) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + line / 2));
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), low);
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + line / 2), high);
    }
    std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
}

void end_streaming() {
    _mm_sfence();
}
#else
void stream(std::byte* to, const std::byte* from, Index bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void end_streaming() {}
#endif

}  // namespace tradewind::mpi
