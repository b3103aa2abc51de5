// The instruction by which a thread that looks at memory again and again leaves its core's units to others.
#pragma once

namespace tradewind {

inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

}  // namespace tradewind
