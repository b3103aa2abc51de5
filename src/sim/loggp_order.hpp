// LogGP for programs whose ranks start exchanges and wait for them by steps of their own: see program::Order.
#pragma once

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"
#include "sim/loggp_messages.hpp"
#include "sim/simulate.hpp"

namespace tradewind::sim {

// All ranks through their operations, in the order of time. An exchange that is open goes on by
// SimulationOptions::progress_by; exchanges of a rank that are open at once share its NIC for what they send. Throws
// InputError for questions of an early end, VerificationError where ranks wait for messages that no rank sends.
SimulationResult loggp_of_order(const LogGpMessages& messages, const machine::Machine& machine,
                                const program::Program& program, const machine::Placement& placement,
                                const SimulationOptions& options);

}  // namespace tradewind::sim
