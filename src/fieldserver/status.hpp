// Status of servers: memory that is free, steps that are finished, errors, servers that are lost.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "fieldserver/channel.hpp"

namespace tradewind::fieldserver {

// The roots receive that of their servers, and any rank may find that one takes no part in a transfer; all learn it
// by a reduction that no rank waits for, so that they decide alike. Channels of one server follow each other by number.
class Status {
  public:
    Status(Agreement& agreement, const std::vector<std::unique_ptr<Channel>>& channels)
        : agreement_(agreement), channels_(channels), taken_errors_(channels.size()) {}

    // Takes in the messages of the servers `in_use`. Without `wait`: as of the last time. Collective.
    void exchange(const std::vector<Channel*>& in_use, bool wait);
    // Finishes the exchange that is under way. Collective.
    void complete();
    // Keeps an error for raise_errors. All ranks call it.
    void note_error(const std::string& text) { notes_.push_back(text); }
    // The errors that no call has returned yet, one a line, alike on all ranks; "" where there is none. Collective.
    std::string take_errors();

  private:
    void apply();

    Agreement& agreement_;
    const std::vector<std::unique_ptr<Channel>>& channels_;
    std::vector<Index> status_;  // under way to all ranks
    MPI_Request coming_ = MPI_REQUEST_NULL;
    std::vector<Index> taken_errors_;  // of each channel
    std::vector<std::string> notes_;   // errors that all ranks have found
};

}  // namespace tradewind::fieldserver
