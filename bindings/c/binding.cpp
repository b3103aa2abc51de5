#include "binding.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>

#include "algorithm/registry.hpp"
#include "algorithm/tuning.hpp"
#include "base/error.hpp"
#include "communicator.hpp"
#include "mpi/agreement.hpp"
#include "mpi/allgather_lists.hpp"
#include "mpi/error.hpp"
#include "mpi/node.hpp"

namespace tradewind::c {

namespace {

struct Chosen {
    algorithm::Method method;
    std::string origin;
    bool gather;  // what all ranks want of a fetch: on rank 0, and so on all
};

std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value ? value : "";
}

// Where each part of a method came from, in a line.
std::string origin_text(const algorithm::ChosenMethod& chosen) {
    std::string line = "algorithm: " + chosen.origin.algorithm;
    if (!chosen.origin.transport.empty()) line += ", transport: " + chosen.origin.transport;
    if (!chosen.origin.packing.empty()) line += ", packing: " + chosen.origin.packing;
    return chosen.warning.empty() ? line : line + "; " + chosen.warning;
}

// The method that rank 0 finds in its arguments, environment and tuning file, for all ranks; what it refuses, all
// refuse. Collective.
Chosen chosen_on_all(MPI_Comm comm, const std::shared_ptr<const pattern::Pattern>& pattern,
                     const algorithm::Method& own, const mpi::PlanRequest& request) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    // Where ranks run is asked of all, and only where a file is in use.
    const std::string file = mpi::text_of(comm, 0, rank == 0 ? variable("TRADEWIND_TUNING") : "");
    const Host host = file.empty() ? Host{} : mpi::host_of(comm);
    const auto tuned = [&]() -> std::optional<algorithm::TunedMethod> {
        if (file.empty()) return {};
        const bool shared = std::all_of(request.source.begin(), request.source.end(), [&](const mpi::Field& field) {
            return mpi::in_shared_memory(field, request.element);
        });
        return algorithm::tuned_method(file, "TRADEWIND_TUNING=", *pattern, mpi::name_of(request.element),
                                       static_cast<Index>(request.source.size()),
                                       shared ? algorithm::shared_memory : algorithm::private_memory, host);
    };
    std::string outcome;
    std::exception_ptr failure;
    if (rank == 0) {
        try {
            const algorithm::ChosenMethod chosen =
                algorithm::choose_method(pattern, own, variable(algorithm::variable_of(pattern->name())), tuned);
            outcome = algorithm::text_of(chosen.method) + "\n" + origin_text(chosen) +
                      (algorithm::needs_all_lists(*pattern, chosen.method.algorithm) ? "*" : "+");
        } catch (const InputError& error) {
            outcome = std::string(error.what()) + "-";
        } catch (const std::exception& error) {  // of this rank alone
            failure = std::current_exception();
            outcome = std::string(error.what()) + "!";
        }
    }
    outcome = mpi::text_of(comm, 0, outcome);
    if (failure) std::rethrow_exception(failure);
    const char verdict = outcome.back();
    outcome.pop_back();
    if (verdict == '-') throw InputError(outcome);
    if (verdict == '!') throw mpi::PlanError("rank 0 cannot make this plan: " + outcome);
    const std::size_t end = outcome.find('\n');
    algorithm::Method method = algorithm::parse_method(outcome.substr(0, end));
    // A rank's own arguments count on that rank, so that plans can find out that ranks ask for different things.
    if (!own.algorithm.empty()) method.algorithm = own.algorithm;
    if (!own.transport.empty()) method.transport = own.transport;
    if (!own.packing.empty()) method.packing = own.packing;
    return {method, outcome.substr(end + 1), verdict == '*'};
}

}  // namespace

void bind_by_method(BoundPlan& bound, MPI_Comm comm, std::shared_ptr<const pattern::Pattern> pattern,
                    const algorithm::Method& own, mpi::PlanRequest request) {
    const auto [method, origin, gather] = chosen_on_all(comm, pattern, own, request);
    const algorithm::Method carried =
        raise_collectively(comm, [&, &method = method] { return algorithm::carried_method(*pattern, method); });
    if (gather)
        pattern = mpi::allgather_lists(comm, pattern, carried.algorithm,
                                       algorithm::needs_all_lists(*pattern, carried.algorithm));
    request.transport = carried.transport;
    request.packing = carried.packing;
    if (carried.native()) {
        bound.plan = mpi::make_native_plan(*pattern, comm, request);
    } else {
        const auto schedule =
            raise_collectively(comm, [&] { return algorithm::make_schedule(pattern, carried.algorithm); });
        bound.plan = mpi::make_plan(*schedule, comm, request);
    }
    bound.method = algorithm::text_of(method);
    bound.origin = origin;
}

}  // namespace tradewind::c
