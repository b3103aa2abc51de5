// Agreement of the ranks of a model: all make the same calls of a field server, or all raise an error.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "mpi/communicator.hpp"

namespace tradewind::fieldserver {

// A rank that meets an error sends it in place of its part in the next agreement. Where all meet one they go on; else
// the ranks do nothing together any more, but close.
class Agreement {
  public:
    explicit Agreement(MPI_Comm comm) : communicator_(comm) {}

    // Counts a call, which all ranks make in the same order.
    void note(const std::string& call);
    // Throws PlanError where a rank has met an error or has made other calls. Collective, unless nothing is new.
    void check();
    // This rank cannot go on. Collective, with the others' check.
    void fail(const std::string& problem);
    // Returns the error of the first rank that has one, on all ranks; "" where none has. Collective.
    std::string first_error(const std::string& local) const;
    // Nothing is done together any more.
    void abandon(const std::string& why) {
        if (broken_.empty()) broken_ = why;
    }
    const std::string& broken() const { return broken_; }
    void require_whole() const;

    MPI_Comm comm() const { return communicator_.handle(); }
    int rank() const { return communicator_.rank(); }
    int ranks() const { return communicator_.ranks(); }

  private:
    struct State {
        int failed;  // the first rank that has; else the number of ranks
        bool all_failed, same;
    };
    State state(bool failed) const;

    mpi::Communicator communicator_;
    std::int64_t calls_ = 0, agreed_ = 0, digest_ = 0;
    std::string last_ = "none", broken_;
};

}  // namespace tradewind::fieldserver
