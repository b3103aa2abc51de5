// Whether loops over four numbers at a time can run, that are compiled for processors with AVX2.
#pragma once

namespace tradewind {

inline bool has_avx2() {
#if defined(__x86_64__)
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
    return has;
#else
    return false;
#endif
}

}  // namespace tradewind
