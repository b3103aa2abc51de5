// Where ranks run, as far as a measured time depends on it.
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"

namespace tradewind {

struct Host {
    std::string cpu, mpi;
    Index ranks_per_node = 0;  // the maximum over the nodes
};

// The differences from another host, in words.
std::vector<std::string> differences(const Host& host, const Host& other);

// The name of this processor, as the system gives it.
std::string cpu_name();

}  // namespace tradewind
