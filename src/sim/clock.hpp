// The clock of a simulation: how far it goes, and sums that do not go beyond it.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.hpp"

namespace tradewind::sim {

// The latest time: 104 days. Picoseconds in 64 bits reach 106; the days between them are for what is added to such a
// time without a look: a packet of at most 128 MiB, or a latency.
inline constexpr Picoseconds latest{9'000'000'000'000'000'000};

// Throws InputError: something takes, or ends at, `seconds`, which is too long.
[[noreturn]] void refuse_time(const std::string& what, double seconds);

// A duration in ps. Throws InputError where no time can be so long.
std::int64_t duration_of(double seconds, const char* what);

// A time that is at most the latest, and a duration (ps) after it. Throws InputError where that is later.
inline std::int64_t after(std::int64_t time, std::int64_t duration, const char* what) {
    if (duration > latest.value - time) [[unlikely]]
        refuse_time(what, (static_cast<double>(time) + static_cast<double>(duration)) * 1e-12);
    return time + duration;
}

// The same; of the duration whole picoseconds count.
inline std::int64_t after(std::int64_t time, double duration, const char* what) {
    if (!(duration <= static_cast<double>(latest.value - time))) [[unlikely]]
        refuse_time(what, (static_cast<double>(time) + duration) * 1e-12);
    return time + static_cast<std::int64_t>(duration);
}

}  // namespace tradewind::sim
