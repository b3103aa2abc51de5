// The order of what comes to a switch at one time.
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace tradewind::sim {

// Without a seed it is that of the input ports. With one it is drawn anew for each switch and time, as if packets came
// a little earlier or later: clocks of a simulation are exact, so that in a symmetric exchange many packets come at one
// time, and on no machine do as many. Nothing but seed, switch and time has a part in it.
class TieOrder {
  public:
    explicit TieOrder(std::uint64_t seed) : seed_(mix(seed)), is_drawn_(seed != 0) {}

    bool is_drawn() const { return is_drawn_; }

    // The place of number 0..2^bits - 1: no two numbers of one switch and time have the same.
    std::uint32_t place(std::uint32_t sw, std::int64_t time, std::uint32_t number, int bits) const {
        const std::uint64_t random = mix(mix(seed_ ^ sw) ^ static_cast<std::uint64_t>(time));
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        // Each step is one to one; with the last one either of two numbers is the first as often as the other.
        std::uint64_t place = number * (random | 1) & mask;
        place ^= place >> ((bits + 1) / 2);
        place = place * (random >> 32 | 1) & mask;
        return static_cast<std::uint32_t>(place ^ (mix(random) & mask));
    }

  private:
    std::uint64_t seed_;
    bool is_drawn_;
};

}  // namespace tradewind::sim
