#include "recorder/clock.hpp"

#include <ctime>

namespace tradewind::recorder {
namespace {

constexpr std::uint64_t MIN_CALIBRATION_NS = 5'000'000;

/// Returns whether the counter runs at one rate, whatever the processor's clock does, and is the same on all cores.
bool has_counter() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

}  // namespace

Clock::Clock() : uses_counter_(has_counter()) {
    first_ns_ = anchor_ns_ = system_ns();
    first_ticks_ = anchor_ticks_ = now();
}

void Clock::calibrate() {
    while (system_ns() - first_ns_ < MIN_CALIBRATION_NS) {
    }
    adjust();
}

void Clock::adjust() {
    const std::uint64_t ns = system_ns();
    const Ticks ticks = now();
    if (ticks == first_ticks_) return;
    ns_per_tick_ =
        static_cast<std::uint64_t>((static_cast<unsigned __int128>(ns - first_ns_) << SHIFT) / (ticks - first_ticks_));
    anchor_ns_ = ns;
    anchor_ticks_ = ticks;
}

std::uint64_t Clock::system_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace tradewind::recorder
