// Beside switches_finite.cpp, so that two cores can compile them at once.
#include "sim/switches_routed.hpp"

namespace tradewind::sim {

SwitchFactory unbounded_switches(const machine::Machine& machine) {
    return switches_with_routing<false>(machine);
}

}  // namespace tradewind::sim
