// The ranks of a model make the same calls of a field server, or all hear of the one that cannot.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "mpi/communicator.hpp"

namespace tradewind::c {

// A rank that meets an error says so in place of its part in the next agreement. Where all meet one they go on; else
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
    // Returns on all ranks what the first of them says that says anything; "" where none does. Collective.
    std::string first_said(const std::string& mine) const;
    // Nothing is done together any more.
    void give_up(const std::string& why) {
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

}  // namespace tradewind::c
