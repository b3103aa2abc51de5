// Results of one process of a finished simulation.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/peers.hpp"
#include "sim/simulate.hpp"

namespace tradewind::sim {

struct World;

// Load of links and NICs, by the bytes that they have sent.
struct Load {
    Picoseconds bound{0};                            // the longest time that one needs for its bytes
    std::uint64_t bound_at = ~0ULL;                  // which: [port], then [terminal]; the first of several
    std::uint64_t maximum = 0, total = 0, used = 0;  // bytes of the links between switches; links

    void consider(Picoseconds needed, std::uint64_t at) {
        if (needed < bound || (needed == bound && at >= bound_at)) return;
        bound = needed;
        bound_at = at;
    }
    void merge(const Load& other) {
        consider(other.bound, other.bound_at);
        maximum = std::max(maximum, other.maximum);
        total += other.total;
        used += other.used;
    }
};

struct Share {
    explicit Share(std::size_t steps) { result.step_end.resize(steps); }

    std::int64_t finished = 0, arrived = 0;  // ranks, bytes
    Load load;
    // Sums over the parts of this process; only process 0 has bytes of ports and NICs.
    SimulationResult result;
};

// The load of this process's ports and NICs.
void weigh(const World& world, Share& share);
// Collective. Adds the shares of all other processes to that of process 0. Nothing where there is one.
void gather(const World& world, Peers& peers, Share& share);

}  // namespace tradewind::sim
