#pragma once

#include <exception>
#include <string>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/plan.hpp"

namespace tradewind::mpi {

// Arguments that must be equal on all ranks when they make a plan.
std::string identity(const pattern::Pattern& pattern, const std::string& algorithm, const PlanRequest& request);

// How long a rank waits for the others when a plan is made: its watchdog; an invalid one is refused later.
inline double limit_of(double watchdog_s) {
    return watchdog_s >= 0 && watchdog_s < 1e9 ? watchdog_s : 0;
}

// Throws InputError.
void check_watchdog(double watchdog_s);

// Throws InputError unless the communicator has the pattern's number of ranks and the fields have its shapes; the rank.
Rank check_request(const pattern::Pattern& pattern, MPI_Comm comm, const PlanRequest& request);

// Runs what a rank does alone, then `report(problem)`, which is to send the others the error ("" without one); after
// that the error is thrown.
template <typename Step, typename Report>
auto work_and_report(Step work, Report report) -> decltype(work()) {
    decltype(work()) result;
    std::exception_ptr failure;
    std::string problem;
    try {
        result = work();
    } catch (const std::exception& error) {
        failure = std::current_exception();
        problem = error.what();
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure && problem.empty()) problem = "an error without a text";
    try {
        report(problem);
    } catch (const PlanError&) {  // the others did not come: a rank's own failure has the cause
        if (!failure) throw;
    }
    if (failure) std::rethrow_exception(failure);
    return result;
}

// Runs what a rank does alone before it makes a plan, and lets no rank go on unless all succeeded with the same plan.
// `added`, as it is after the work, is summed over all ranks; the sums take its place. For `limit_s` see `agree`.
template <typename Step>
auto prepare(MPI_Comm comm, const std::string& identity, Step work, Sums& added, double limit_s = 0,
             const Task& task = make_a_plan) -> decltype(work()) {
    return work_and_report(
        work, [&](const std::string& problem) { added = agree(comm, identity, problem, added, limit_s, task); });
}
template <typename Step>
auto prepare(MPI_Comm comm, const std::string& identity, Step work, double limit_s = 0, const Task& task = make_a_plan)
    -> decltype(work()) {
    Sums nothing{};
    return prepare(comm, identity, work, nothing, limit_s, task);
}

// The same for a check alone. Where the ranks' plans differ, throws or returns false, see `mismatch`.
template <typename Check>
bool prepared(MPI_Comm comm, const std::string& identity, Mismatch mismatch, double limit_s, Check check) {
    bool same = true;
    const auto report = [&](const std::string& problem) {
        if (mismatch == Mismatch::decline)
            same = alike(comm, identity, problem, limit_s);
        else
            agree(comm, identity, problem, {}, limit_s);
    };
    work_and_report([&] { return check(), true; }, report);
    return same;
}

}  // namespace tradewind::mpi
