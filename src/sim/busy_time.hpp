// The time that ranks compute in a program, which is the same whatever its messages do.
#pragma once

#include <vector>

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

// [rank], in seconds: all of its computations, as often as they are repeated. Throws InputError for one in flops on a
// machine without a rate for them.
std::vector<double> busy_times(const machine::Machine& machine, const program::Program& program,
                               const machine::Placement& placement);

}  // namespace tradewind::sim
