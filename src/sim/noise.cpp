#include "sim/noise.hpp"

#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/clock.hpp"

namespace tradewind::sim {

void check(const NoiseOptions& noise) {
    if (!noise.any()) return;
    if (noise.duration >= noise.period)
        throw InputError("noise: detours of " + std::to_string(noise.duration.seconds()) + " s every " +
                         std::to_string(noise.period.seconds()) + " s leave no time for a rank's own work");
}

std::int64_t Noise::begin(Rank rank, std::int64_t period) const {
    if (!options_.scattered) return 0;
    const std::uint64_t random =
        mix(mix(seed_ ^ 0x6e6f697365, static_cast<std::uint64_t>(rank)), static_cast<std::uint64_t>(period));
    return static_cast<std::int64_t>(unit_interval(random) *
                                     static_cast<double>(options_.period.value - options_.duration.value));
}

// Time counts from the begin of a rank's first period, some of which is before time 0.
std::int64_t Noise::after(Rank rank, std::int64_t time, std::int64_t duration) const {
    const std::int64_t period = options_.period.value, detour = options_.duration.value, own = period - detour;
    const std::int64_t phase = static_cast<std::int64_t>(
        unit_interval(mix(seed_ ^ 0x7068617365, static_cast<std::uint64_t>(rank))) * static_cast<double>(period));
    const __int128 shifted = static_cast<__int128>(time) + phase;
    auto number = static_cast<std::int64_t>(shifted / period);
    // Within the period: when the work goes on, and what is left of it.
    std::int64_t now = static_cast<std::int64_t>(shifted - static_cast<__int128>(number) * period), left = duration;
    const auto pass = [&] {  // the rest of a period; returns whether the work is done in it
        const std::int64_t away = begin(rank, number);
        if (now <= away) {
            if (now + left <= away && (left > 0 || now < away)) {
                now += left;
                return true;
            }
            left -= away - now;
            now = away;
        }
        if (now < away + detour) now = away + detour;
        if (left <= period - now) {
            now += left;
            return true;
        }
        left -= period - now;
        return false;
    };
    if (!pass()) {
        // All periods but the last one have the same time for it.
        const std::int64_t whole = (left - 1) / own;
        left -= whole * own;
        number += 1 + whole;
        now = 0;
        pass();
    }
    const __int128 end = static_cast<__int128>(number) * period + now - phase;
    if (end > latest.value) refuse_time("a rank computes until", static_cast<double>(end) * 1e-12);
    return static_cast<std::int64_t>(end);
}

}  // namespace tradewind::sim
