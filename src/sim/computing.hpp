// How long a computation of a program takes on a machine.
#pragma once

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

// On a rank that has its share of a node; without its imbalance.
Picoseconds time_of(const program::Compute& compute, const machine::Machine& machine,
                    const machine::Placement& placement, Rank rank);

// Coordinates of the random factor of a computation, beside its step.
struct Draw {
    std::uint64_t seed;
    Rank rank;           // of the program
    std::int64_t count;  // of the times that it does this computation
};

// The same with its imbalance. `place`: the rank by whose number its points are known.
Picoseconds time_of(const program::Compute& compute, const machine::Machine& machine,
                    const machine::Placement& placement, Rank place, const Draw& draw);

}  // namespace tradewind::sim
