// The time that ranks compute in a program, which is the same whatever its messages do, but for noise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

// All computations, as often as they are repeated: of all ranks, and of those with the least and the most. In ps, so
// that the order in which ranks are added does not matter.
struct BusyTime {
    __int128 sum = 0;
    std::int64_t minimum = std::numeric_limits<std::int64_t>::max(), maximum = 0;

    void add_rank(std::int64_t time) {
        sum += time;
        minimum = std::min(minimum, time);
        maximum = std::max(maximum, time);
    }
    void merge(const BusyTime& other) {
        sum += other.sum;
        minimum = std::min(minimum, other.minimum);
        maximum = std::max(maximum, other.maximum);
    }
};

// With the imbalance that `seed` draws, and without noise of the operating system: see SimulationResult::busy. Throws
// InputError for a computation in flops on a machine without a rate for them.
BusyTime busy_time(const machine::Machine& machine, const program::Program& program,
                   const machine::Placement& placement, std::uint64_t seed);

}  // namespace tradewind::sim
