#include "sim/clock.hpp"

#include <cmath>
#include <cstdio>

#include "base/error.hpp"

namespace tradewind::sim {

namespace {

std::string text_of(double seconds) {
    char text[64];
    std::snprintf(text, sizeof text, seconds < 1e12 ? "%.0f s (%.0f days)" : "%.3g s (%.3g days)", seconds,
                  seconds / 86400);
    return text;
}

}  // namespace

void refuse_time(const std::string& what, double seconds) {
    throw InputError(what + " " + text_of(seconds) + "; times of at most " + text_of(latest.seconds()) +
                     " can be simulated, since they are counted in picoseconds");
}

std::int64_t duration_of(double seconds, const char* what) {
    const double picoseconds = seconds * 1e12;
    if (!(picoseconds <= static_cast<double>(latest.value))) refuse_time(what, seconds);
    return std::llround(picoseconds);
}

}  // namespace tradewind::sim
