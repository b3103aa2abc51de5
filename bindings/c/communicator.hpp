// Communicators of callers, checked as far as MPI allows.
#pragma once

#include <mpi.h>

#include <exception>
#include <string>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::c {

// Throws PlanError unless MPI is initialized and not finalized.
void require_mpi();

// Throws InputError for the null communicator; PlanError without MPI.
void require_communicator(MPI_Comm comm);

// Does what a rank does alone before a collective. Tells the other ranks, which would wait otherwise, why this one
// cannot go on; they `go_on`. For `limit_s` see `agree`.
template <typename Work>
auto raise_collectively(MPI_Comm comm, Work work, double limit_s = 0) -> decltype(work()) {
    std::exception_ptr failure;
    std::string problem;
    try {
        return work();
    } catch (const std::exception& error) {
        failure = std::current_exception();
        problem = error.what();
    }
    if (problem.empty()) problem = "an error without a text";
    try {
        mpi::agree(comm, "", problem, {}, limit_s);
    } catch (const mpi::PlanError&) {  // the others did not come: this rank's own failure has the cause
    }
    std::rethrow_exception(failure);
}

// All ranks have got this far. Collective: throws PlanError where another one has not.
inline void go_on(MPI_Comm comm, double limit_s = 0) {
    mpi::agree(comm, "", "", {}, limit_s);
}

}  // namespace tradewind::c
