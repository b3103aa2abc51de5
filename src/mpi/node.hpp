#pragma once

#include <string>
#include <vector>

#include "base/host.hpp"
#include "mpi/communicator.hpp"

namespace tradewind::mpi {

// Which ranks of a communicator share this rank's node, hence its memory.
class Node {
  public:
    // Collective. `ranks_per_node`: consecutive ranks per assumed node; 0: the real nodes.
    Node(const Communicator& communicator, int ranks_per_node);
    bool has(int rank) const { return here_[static_cast<std::size_t>(rank)]; }

  private:
    std::vector<bool> here_;
};

// Name and version of the MPI library, in one line.
std::string library_name();

// Where the ranks of a communicator run: this rank's processor and MPI library, the maximum of ranks per node.
// Collective.
Host host_of(MPI_Comm comm);

}  // namespace tradewind::mpi
