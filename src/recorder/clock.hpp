#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

/// Time in nanoseconds from a counter of the processor, which takes a fifth of the time of a system clock to read.
namespace tradewind::recorder {

using Ticks = std::uint64_t;

class Clock {
  public:
    /// Begins the comparison of the counter with the system's clock.
    Clock();

    /// Sets the rate of the counter, after some milliseconds at least, which it waits for.
    void calibrate();

    /// Compares the counter with the system's clock again.
    void adjust();

    Ticks now() const {
#if defined(__x86_64__)
        if (uses_counter_) return __rdtsc();
#elif defined(__aarch64__)
        Ticks count;
        asm volatile("mrs %0, cntvct_el0" : "=r"(count));
        return count;
#endif
        return system_ns();
    }

    /// Returns nanoseconds of the monotonic clock of the system.
    std::uint64_t ns(Ticks ticks) const {
        const auto since = static_cast<__int128>(static_cast<std::int64_t>(ticks - anchor_ticks_));
        return anchor_ns_ + static_cast<std::int64_t>((since * static_cast<std::int64_t>(ns_per_tick_)) >> SHIFT);
    }

    static std::uint64_t system_ns();

  private:
    static constexpr int SHIFT = 32;
    bool uses_counter_ = true;
    Ticks first_ticks_ = 0, anchor_ticks_ = 0;
    std::uint64_t first_ns_ = 0, anchor_ns_ = 0;
    std::uint64_t ns_per_tick_ = std::uint64_t{1} << SHIFT;  // fixed point
};

}  // namespace tradewind::recorder
