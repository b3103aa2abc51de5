// How a field server is opened: by ranks of the job that serve, or by local servers beside the model.
// python/tradewind/fieldserver/server/joining.py and process_server.py are their side.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "fieldserver/field_server.hpp"
#include "fieldserver/local_control.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

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
    const std::array<std::int64_t, 3> mine{server_magic, server_protocol, model_role};
    std::vector<std::int64_t> all(static_cast<std::size_t>(3 * roles.ranks));
    mpi::check(MPI_Allgather(mine.data(), 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, comm), opening);
    for (int rank = 0; rank < roles.ranks; ++rank) {
        const std::int64_t* role = &all[static_cast<std::size_t>(3 * rank)];
        require_protocol("rank " + std::to_string(rank), role[0], role[1]);
        if (role[2] == server_role) roles.servers.push_back(rank);
    }
    return roles;
}

MPI_Comm split(MPI_Comm comm, int key) {
    MPI_Comm part = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split(comm, 0, key, &part), opening);
    return part;
}

// Takes the rest of a message of servers: transport and packing of the hand-over, and the plan of the output.
void take_plan(Message& message, Opened& opened) {
    opened.method.transport = message.text();
    opened.method.packing = message.text();
    opened.plan = OutputPlan(message);
}

// --- servers of the job ---

Opened join_servers(MPI_Comm comm, const Roles& roles) {
    Opened opened;
    Message message(mpi::text_of(comm, roles.servers[0], ""));
    if (const std::string error = message.text(); !error.empty()) throw InputError(error);
    message.text();  // path and text of the plan file
    message.text();
    take_plan(message, opened);
    opened.model = split(comm, roles.rank);
    for (std::size_t i = 0; i < roles.servers.size(); ++i) opened.servers.push_back(split(comm, roles.rank));
    return opened;
}

// --- local servers ---

// Calls `make` and returns what it returns; an error of one rank is thrown on all. Collective.
template <typename Make>
auto on_all(const Agreement& agreement, Make make) {
    decltype(make()) made{};
    std::string problem;
    try {
        made = make();
    } catch (const std::exception& error) {
        problem = error.what();
    }
    if (const std::string first = agreement.first_error(problem); !first.empty()) throw InputError(first);
    return made;
}

// The ranks that have a server beside them: all, or the first one of each node.
std::vector<int> hosts(const Agreement& agreement, bool per_rank) {
    MPI_Comm node = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split_type(agreement.comm(), MPI_COMM_TYPE_SHARED, agreement.rank(), MPI_INFO_NULL, &node),
               opening);
    int place = 0;
    MPI_Comm_rank(node, &place);
    MPI_Comm_free(&node);
    const int mine = per_rank || place == 0;
    std::vector<int> all(static_cast<std::size_t>(agreement.ranks())), found;
    mpi::check(MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, agreement.comm()), opening);
    for (int rank = 0; rank < agreement.ranks(); ++rank)
        if (all[static_cast<std::size_t>(rank)]) found.push_back(rank);
    return found;
}

// The first one reads the plan, which says where others are.
Opened start_servers(MPI_Comm comm, const Roles& roles, const std::string& path) {
    Opened opened;
    opened.model = split(comm, roles.rank);
    const Agreement agreement(opened.model);
    std::string text;
    std::unique_ptr<LocalControl> control = on_all(agreement, [&] {
        std::unique_ptr<LocalControl> first;
        if (agreement.rank() > 0) return first;
        first = std::make_unique<LocalControl>();
        first->send(Json(Json::Object{{"op", "plan"}, {"path", path}}).text());
        text = first->await(join_tag, start_s);
        return first;
    });
    Message message(mpi::text_of(agreement.comm(), 0, text));
    if (const std::string error = message.text(); !error.empty()) throw InputError(error);
    const std::string plan_path = message.text(), plan_text = message.text();
    take_plan(message, opened);
    const std::vector<int> ranks = hosts(agreement, opened.plan.server_per_rank);
    const auto mine = std::find(ranks.begin(), ranks.end(), agreement.rank());
    if (mine != ranks.end() && !control)
        control = on_all(agreement, [] { return std::make_unique<LocalControl>(); });
    else
        on_all(agreement, [] { return 0; });
    on_all(agreement, [&] {
        if (!control) return 0;
        control->send(Json(Json::Object{{"op", "serve"},
                                        {"path", plan_path},
                                        {"text", plan_text},
                                        {"number", int(mine - ranks.begin())},
                                        {"shares", Index(ranks.size())}})
                          .text());
        control->await(join_tag, start_s);
        return 0;
    });
    for (const int host : ranks)
        opened.local_servers.push_back({host, agreement.rank() == host ? std::move(control) : nullptr});
    return opened;
}

}  // namespace

Opened open_servers(MPI_Comm comm, const std::string& plan) {
    const Roles roles = roles_of(comm);
    if (!roles.servers.empty()) return join_servers(comm, roles);
    const char* variable = std::getenv("TRADEWIND_PLAN");
    const std::string path = mpi::text_of(comm, 0, !plan.empty() ? plan : variable ? variable : "");
    if (path.empty())
        throw InputError(
            "no rank of this communicator is a server: start one beside the model, as with "
            "mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml, or name a plan file in TRADEWIND_PLAN for local "
            "servers");
    return start_servers(comm, roles, path);
}

}  // namespace tradewind::fieldserver
