// Loops over vectors as wide as those of the processor. A loop is a template over the bytes of a vector, and compiled
// once for each kind of processor with that width. A value does not depend on the width: its operations and their order
// are the same.
//
// A vector of GCC and clang that is wider than the processor's has no place in its registers: it is kept in memory, and
// compared value by value. So no function is compiled with another width than that of its processor.
#pragma once

#if defined(__x86_64__) && !defined(TRADEWIND_NATIVE)
#define TRADEWIND_HAS_WIDTHS
#endif

namespace tradewind::kernel {

// Bytes of the vectors of the processor that is compiled for.
#if defined(__AVX512F__)
inline constexpr int own_width = 64;
#elif defined(__AVX__)
inline constexpr int own_width = 32;
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS >= 128
inline constexpr int own_width = __ARM_FEATURE_SVE_BITS / 8;
#else
inline constexpr int own_width = 16;
#endif

// Bytes of the next narrower vectors. Between SVE of a fixed length and NEON there are none. With SVE of 64 bytes
// vectors of 32 would lie in memory, and g++ 12.2 compiles `a > b ? c : d` of eight floats wrongly: where a condition
// is used twice, its code sets two of the eight bytes of the predicate and selects with them all (seen in the
// assembly).
constexpr int narrower(int bytes) {
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS >= 128
    if (bytes > 16) return 16;
#endif
    return bytes / 2;
}

// Bytes of the vectors that loops use: those of this processor, or fewer by the environment variable
// TRADEWIND_VECTORS, which is read once. Throws InputError for a width that there is not here.
int width_here();

}  // namespace tradewind::kernel

// A function `result name parameters`, which calls the template `name##_by<bytes> arguments` with the width of the
// processor. Parameters and arguments are in parentheses. A test finds the compiled ones by their names.
#ifdef TRADEWIND_HAS_WIDTHS
#define TRADEWIND_BY_WIDTH(result, name, parameters, arguments)                              \
    [[gnu::noinline, gnu::target("arch=x86-64-v4")]] static result name##_in_64 parameters { \
        return name##_by<64> arguments;                                                      \
    }                                                                                        \
    [[gnu::noinline, gnu::target("arch=x86-64-v3")]] static result name##_in_32 parameters { \
        return name##_by<32> arguments;                                                      \
    }                                                                                        \
    [[gnu::noinline]] static result name##_in_16 parameters {                                \
        return name##_by<16> arguments;                                                      \
    }                                                                                        \
    static result name parameters {                                                          \
        const int width = width_here();                                                      \
        if (width == 64) return name##_in_64 arguments;                                      \
        if (width == 32) return name##_in_32 arguments;                                      \
        return name##_in_16 arguments;                                                       \
    }
#else
#define TRADEWIND_BY_WIDTH(result, name, parameters, arguments) \
    [[gnu::noinline]] static result name##_in_own parameters {  \
        return name##_by<own_width> arguments;                  \
    }                                                           \
    static result name parameters {                             \
        return name##_in_own arguments;                         \
    }
#endif
