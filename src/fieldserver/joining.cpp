// How servers that were started beside a model join it; python/tradewind/fieldserver/server/joining.py is their side.
#include <array>

#include "base/error.hpp"
#include "fieldserver/field_server.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr std::int64_t magic = 0x74776673;  // "twfs": ranks that open a field server
constexpr std::int64_t model_role = 0, server_role = 1;

std::string opening() {
    return "opening the field server";
}

// Who is what in a communicator.
struct Roles {
    std::vector<int> servers;
    int ranks = 0, rank = 0;
};

Roles roles_of(MPI_Comm comm) {
    Roles roles;
    MPI_Comm_rank(comm, &roles.rank);
    MPI_Comm_size(comm, &roles.ranks);
    const std::array<std::int64_t, 3> mine{magic, server_protocol, model_role};
    std::vector<std::int64_t> all(static_cast<std::size_t>(3 * roles.ranks));
    mpi::check(MPI_Allgather(mine.data(), 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, comm), opening);
    for (int rank = 0; rank < roles.ranks; ++rank) {
        const std::int64_t* role = &all[static_cast<std::size_t>(3 * rank)];
        if (role[0] != magic) throw InputError("rank " + std::to_string(rank) + " opens no field server");
        if (role[1] != server_protocol)
            throw InputError("rank " + std::to_string(rank) + " uses protocol version " + std::to_string(role[1]) +
                             " of the field server, this library version " + std::to_string(server_protocol) +
                             ": install the same Tradewind for model and servers");
        if (role[2] == server_role) roles.servers.push_back(rank);
    }
    if (roles.servers.empty())
        throw InputError(
            "no rank of this communicator is a server: start one beside the model, as with "
            "mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml");
    return roles;
}

// The first server's plan; of its beginning, which servers read, it is the method that the model needs.
Message plan_of(MPI_Comm comm, const Roles& roles, ServerMethod& method) {
    Message message(mpi::text_of(comm, roles.servers[0], ""));
    if (const std::string error = message.text(); !error.empty()) throw InputError(error);
    message.text();  // path and text of the plan file
    message.text();
    method.transport = message.text();
    method.packing = message.text();
    return message;
}

MPI_Comm split(MPI_Comm comm, bool takes_part, int key) {
    MPI_Comm part = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split(comm, takes_part ? 0 : MPI_UNDEFINED, key, &part), opening);
    return part;
}

}  // namespace

Opened join_servers(MPI_Comm comm) {
    const Roles roles = roles_of(comm);
    Opened opened;
    Message message = plan_of(comm, roles, opened.method);
    opened.plan = OutputPlan(message);
    opened.model = split(comm, true, roles.rank);
    for (std::size_t i = 0; i < roles.servers.size(); ++i) opened.servers.push_back(split(comm, true, roles.rank));
    return opened;
}

}  // namespace tradewind::fieldserver
