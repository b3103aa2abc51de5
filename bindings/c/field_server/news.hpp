// News of servers: memory that is free, steps that are finished, errors, servers that are lost.
#pragma once

#include <mpi.h>

#include <deque>
#include <string>
#include <vector>

#include "channel.hpp"

namespace tradewind::c {

// The first rank hears of all servers, and any rank may find that one takes no part in a transfer; all learn it by a
// reduction that nobody waits for, so that they decide alike. Channels of one server follow each other by number.
class News {
  public:
    News(Agreement& agreement, const std::vector<std::unique_ptr<Channel>>& channels)
        : agreement_(agreement), channels_(channels) {}

    // Takes in what the servers `in_use` have said. Without `wait`: as of the last time. Collective.
    void exchange(const std::vector<Channel*>& in_use, bool wait);
    // Finishes the exchange that is under way. Collective.
    void complete();
    // Keeps an error for raise_errors. All ranks call it.
    void note_error(const std::string& text);
    // The errors that no call has returned yet, one a line, alike on all ranks; "" where there is none. Collective.
    std::string take_errors();

  private:
    void apply();
    void keep(const std::string& error);

    Agreement& agreement_;
    const std::vector<std::unique_ptr<Channel>>& channels_;
    std::vector<Index> news_;  // under way to all ranks
    MPI_Request coming_ = MPI_REQUEST_NULL;
    Index told_errors_ = 0, taken_errors_ = 0;
    std::deque<std::string> errors_;  // on the first rank
    Index heard_errors_ = 0;          // there
};

}  // namespace tradewind::c
