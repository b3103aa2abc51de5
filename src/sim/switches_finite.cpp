// Beside switches_unbounded.cpp, so that two cores can compile them at once.
#include "sim/switches_routed.hpp"

namespace tradewind::sim {

SwitchFactory finite_switches(const machine::Machine& machine) {
    return switches_with_routing<true>(machine);
}

}  // namespace tradewind::sim
