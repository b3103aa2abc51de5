// Noise of the operating system: detours, during which the CPU of a rank does something else.
#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace tradewind::sim {

// A detour takes place in each period. They do not depend on what the rank does, so its work takes longer by those that
// it meets (Ferreira, Bridges & Brightwell 2008; Hoefler, Schneider & Lumsdaine 2010).
struct NoiseOptions {
    Picoseconds period{0};  // 0: there is none
    Picoseconds duration{0};
    bool scattered = false;  // each detour anywhere in its period; else a rank has them at equal distances

    bool any() const { return period.value > 0 && duration.value > 0; }
};

// Throws InputError for detours that take all of their period.
void check(const NoiseOptions& noise);

class Noise {
  public:
    // `seed`: of the times of detours, which differ from rank to rank.
    Noise(const NoiseOptions& options, std::uint64_t seed) : options_(options), seed_(seed) {}

    // When work of `duration` ps, which begins at `time`, is done. Throws InputError where the clock does not go so
    // far.
    std::int64_t after(Rank rank, std::int64_t time, std::int64_t duration) const;

  private:
    // When the detour of a period begins, after that has begun.
    std::int64_t begin(Rank rank, std::int64_t period) const;

    NoiseOptions options_;
    std::uint64_t seed_;
};

}  // namespace tradewind::sim
