#include "kernel/width.hpp"

#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace tradewind::kernel {

namespace {

int widest_here() {
#ifdef TRADEWIND_HAS_WIDTHS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return 64;
    return __builtin_cpu_supports("x86-64-v3") ? 32 : 16;
#else
    return own_width;
#endif
}

int chosen() {
    const int widest = widest_here();
    const char* said = std::getenv("TRADEWIND_VECTORS");
    if (!said) return widest;
#ifdef TRADEWIND_HAS_WIDTHS
    for (const int width : {16, 32, 64})
        if (width <= widest && said == std::to_string(width)) return width;
    const std::string allowed = widest == 16 ? "16 is" : widest == 32 ? "16 and 32 are" : "16, 32 and 64 are";
#else
    if (said == std::to_string(widest)) return widest;
    const std::string allowed = std::to_string(widest) + " is";
#endif
    throw InputError("TRADEWIND_VECTORS='" + std::string(said) + "': " + allowed + " allowed here (bytes)");
}

}  // namespace

int width_here() {
    static const int width = chosen();
    return width;
}

}  // namespace tradewind::kernel
