// Asking for a cache line before it is needed.
#pragma once

namespace tradewind {

// To read and write. The empty `asm` is there for GCC, which takes a function that does nothing but __builtin_prefetch
// for one without effects and leaves out the calls of it.
[[gnu::always_inline]] inline void prefetch_line(const void* place) {
    __builtin_prefetch(place, 1);
    asm volatile("");
}

// To read only: several threads may have it.
[[gnu::always_inline]] inline void prefetch_to_read(const void* place) {
    __builtin_prefetch(place, 0);
    asm volatile("");
}

}  // namespace tradewind
