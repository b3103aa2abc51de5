// Notes between the two ends of messages when a plan is made: where the bytes lie.
#pragma once

#include <functional>
#include <vector>

#include "mpi/carrier.hpp"

namespace tradewind::mpi {

// Says of an end of this rank (stage, number) what its peer should know.
using Describe = std::function<std::vector<Block>(int stage, std::size_t end)>;

// Notes of peers, by stage and number of the end on this rank. Addresses are the peer's.
using Notes = std::vector<std::vector<std::vector<Block>>>;

// Tells the receiver of each message about the sender's end (`from_sender`), or the sender about the receiver's.
// Collective.
Notes exchange_notes(const Work& work, bool from_sender, const Describe& describe);

// Where the bytes of an end lie.
Describe places(const Work& work, bool of_sends);

}  // namespace tradewind::mpi
