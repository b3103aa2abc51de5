#include "mpi/prepare.hpp"

#include <sstream>

#include "mpi/error.hpp"
#include "mpi/program.hpp"

namespace tradewind::mpi {

std::string identity(const pattern::Pattern& pattern, const std::string& algorithm, const PlanRequest& request) {
    std::ostringstream text;
    text << pattern.signature() << ", " << algorithm << ", " << pattern.ranks() << " ranks, " << request.source.size()
         << " x " << name_of(request.element);
    const char* before = " from fields of the levels ";
    for (const auto& [inner, outer] : request.split_levels) {
        text << before << inner << " x " << outer;
        before = ", ";
    }
    if (pattern.reduces()) text << ", " << name_of(request.operation);
    text << ", " << request.transport << ", " << request.packing << ", messages of up to "
         << request.largest_message.value << " bytes" << (request.synchronous ? ", synchronous" : "")
         << (request.check ? ", checked" : "") << ", watchdog " << request.watchdog_s << " s, "
         << request.ranks_per_node << " ranks per node";
    return text.str();
}

void check_watchdog(double watchdog_s) {
    if (!(watchdog_s >= 0 && watchdog_s < 1e9))
        throw InputError("watchdog of " + std::to_string(watchdog_s) + " s: 0 (none) to 1e9 seconds are allowed");
}

Rank check_request(const pattern::Pattern& pattern, MPI_Comm comm, const PlanRequest& request) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks != pattern.ranks())
        throw InputError("the communicator has " + std::to_string(ranks) + " ranks, but the " + pattern.describe() +
                         " is made for " + std::to_string(pattern.ranks()));
    if (request.largest_message.value < 1 || request.largest_message.value > (1 << 30))
        throw InputError("largest message of " + std::to_string(request.largest_message.value) +
                         " bytes: 1..1073741824 are allowed");
    check_watchdog(request.watchdog_s);
    if (request.ranks_per_node < 0)
        throw InputError("ranks per node: " + std::to_string(request.ranks_per_node) +
                         "; 0 (as it is) or more are allowed");
    if (!pattern.reduces() && request.operation != Operation::sum)
        throw InputError(std::string("operation ") + name_of(request.operation) + ": a reduction has one, the " +
                         pattern.describe() + " has none");
    check_fields(pattern, rank, request);
    if (request.carried_by().on_devices && !request.source[0].copier)
        throw InputError("transport " + request.transport +
                         " carries messages between arrays on devices, and these lie in the host's memory");
    return rank;
}

}  // namespace tradewind::mpi
