// Times that the ranks of a program compute, without its exchanges.
#pragma once

#include <vector>

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

// [step] seconds that a rank computes in all repetitions of the step, in the mean over all ranks that compute anything
// in the program: its time if all were balanced, and nothing were exchanged.
std::vector<double> mean_computing(const machine::Machine& machine, const program::Program& program,
                                   const machine::Placement& placement);

}  // namespace tradewind::sim
