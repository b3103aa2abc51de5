#pragma once

#include <exception>
#include <string>

#include "mpi/agreement.hpp"
#include "mpi/plan.hpp"

namespace tradewind {

// What all ranks must say alike when they make a plan.
std::string identity(const Pattern& pattern, const std::string& algorithm, const PlanRequest& request);

// Throws InputError unless the communicator has the pattern's number of ranks and the fields have its shapes; the rank.
Rank check_request(const Pattern& pattern, MPI_Comm comm, const PlanRequest& request);

// Runs what a rank does alone before it makes a plan, and lets no rank go on unless all succeeded with the same plan.
// `added`, as it is after the work, is summed over all ranks; the sums take its place.
template <typename Step>
auto prepare(MPI_Comm comm, const std::string& identity, Step work, Sums& added) -> decltype(work()) {
    decltype(work()) result;
    std::exception_ptr failure;
    std::string problem;
    try {
        result = work();
    } catch (const std::exception& error) {
        failure = std::current_exception();
        problem = error.what();
    }
    added = agree(comm, identity, problem, added);
    if (failure) std::rethrow_exception(failure);
    return result;
}
template <typename Step>
auto prepare(MPI_Comm comm, const std::string& identity, Step work) -> decltype(work()) {
    Sums nothing{};
    return prepare(comm, identity, work, nothing);
}

}  // namespace tradewind
