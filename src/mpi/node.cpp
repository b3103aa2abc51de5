#include "mpi/node.hpp"

#include "mpi/error.hpp"

namespace tradewind::mpi {

Node::Node(const Communicator& communicator, int ranks_per_node)
    : here_(static_cast<std::size_t>(communicator.ranks())) {
    const auto failed = [] { return std::string("finding the ranks of a node"); };
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, communicator.rank(), MPI_INFO_NULL, &node),
          failed);
    int size = 0;
    MPI_Comm_size(node, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    const int rank = communicator.rank();
    const int code = MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, node);
    MPI_Comm_free(&node);
    check(code, failed);
    for (const int other : ranks)
        if (ranks_per_node <= 0 || other / ranks_per_node == rank / ranks_per_node)
            here_[static_cast<std::size_t>(other)] = true;
}

}  // namespace tradewind::mpi
