// The tuning file that TRADEWIND_TUNING names, as rank 0 sees it.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "algorithm/tuning.hpp"

namespace tradewind::c {

// Where the ranks of a communicator run: this rank's processor and MPI library, the maximum of ranks per node.
// Collective.
algorithm::Host host_of(MPI_Comm comm);

// The method that the tuning file has for an exchange. `variable`: the text of TRADEWIND_TUNING, which is not empty.
// Throws InputError, which names the variable, for an unreadable or invalid file, and as `tuned_method` does.
std::optional<algorithm::TunedMethod> method_of_file(const std::string& variable, const pattern::Pattern& pattern,
                                                     const std::string& element, Index fields,
                                                     const std::string& memory, const algorithm::Host& host);

}  // namespace tradewind::c
