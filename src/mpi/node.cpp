#include "mpi/node.hpp"

#include <array>
#include <sstream>

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

std::string library_name() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::istringstream lines(text.data());  // Open MPI counts the null at the end, too
    std::string line, name;
    std::getline(lines, line);
    std::istringstream words(line);
    for (std::string word; words >> word;) name += (name.empty() ? "" : " ") + word;
    return name;
}

Host host_of(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
          [] { return std::string("finding the ranks of a node"); });
    int here = 0, maximum = 0;
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    MPI_Allreduce(&here, &maximum, 1, MPI_INT, MPI_MAX, comm);
    return {cpu_name(), library_name(), maximum};
}

}  // namespace tradewind::mpi
