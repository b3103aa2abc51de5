#pragma once

#include <mpi.h>

#include <memory>

#include "base/units.hpp"

namespace tradewind::mpi {

// A duplicate of the caller's communicator, so that no message of a plan can be taken for one of the caller's or of
// another plan. Knows whether the caller has freed the original: a freed handle looks like a live one, hence the
// duplicate leaves an attribute on the original whose deletion reports it.
class Communicator {
  public:
    // Collective. `limit_s`: a rank that waits longer for the others throws PlanError; 0: it waits for ever.
    explicit Communicator(MPI_Comm original, double limit_s = 0);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    MPI_Comm handle() const { return duplicate_; }
    MPI_Comm original() const { return original_; }  // the caller's
    Rank rank() const { return rank_; }
    Rank ranks() const { return ranks_; }
    // It is not freed: messages that were not received would be taken for those of the next one with its number.
    void keep() { kept_ = true; }
    // Throws PlanError when the original is freed, or MPI is finalized.
    void require_usable() const;

  private:
    MPI_Comm original_, duplicate_ = MPI_COMM_NULL;
    int keyval_ = MPI_KEYVAL_INVALID;
    std::shared_ptr<bool> gone_;
    int rank_ = 0, ranks_ = 1;
    bool kept_ = false;
};

}  // namespace tradewind::mpi
