// Writing past the caches.
#pragma once

#include <cstddef>

#include "base/units.hpp"

namespace tradewind::mpi {

// Bytes that are written one after another and from which on they push each other out of a core's share of the last
// cache: 2 to 4 MiB on most processors, 16 on some.
inline constexpr Index max_cached = Index{8} << 20;

// Whether this processor can; elsewhere stream() is memcpy.
bool can_stream();

// Copies bytes without fetching the cache lines that they overwrite: an ordinary store reads its line from memory
// first, half as much traffic again.
void stream(std::byte* to, const std::byte* from, Index bytes);

// Ranks that are notified after this find the bytes.
void end_streaming();

}  // namespace tradewind::mpi
