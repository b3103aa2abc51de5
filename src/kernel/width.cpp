#include "kernel/width.hpp"

#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace tradewind::kernel {

namespace {

int widest_here() {
#ifdef TRADEWIND_HAS_WIDTHS
    __builtin_cpu_init();
    const bool has_v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool has_v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (has_v3 && has_v4) return 64;
    return has_v3 ? 32 : 16;
#else
    return own_width;
#endif
}

int chosen() {
    const int widest = widest_here();
    const char* given = std::getenv("TRADEWIND_VECTORS");
    if (!given) return widest;
#ifdef TRADEWIND_HAS_WIDTHS
    for (const int width : {16, 32, 64})
        if (width <= widest && given == std::to_string(width)) return width;
    const std::string allowed = widest == 16 ? "16 is" : widest == 32 ? "16 and 32 are" : "16, 32 and 64 are";
#else
    if (given == std::to_string(widest)) return widest;
    const std::string allowed = std::to_string(widest) + " is";
#endif
    throw InputError("TRADEWIND_VECTORS='" + std::string(given) + "': " + allowed + " allowed here (bytes)");
}

}  // namespace

int width_here() {
    static const int width = chosen();
    return width;
}

}  // namespace tradewind::kernel
