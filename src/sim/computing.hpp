// How long a computation of a program takes on a machine.
#pragma once

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

// On a rank that has its share of a node.
Picoseconds time_of(const program::Compute& compute, const machine::Machine& machine,
                    const machine::Placement& placement, Rank rank);

}  // namespace tradewind::sim
