// Status of servers: memory that is free, steps that are finished, errors, servers that are lost.
#pragma once

#include <mpi.h>

#include <deque>
#include <string>
#include <vector>

#include "fieldserver/channel.hpp"

namespace tradewind::fieldserver {

// One rank receives that of a writer, and any rank may find that a server takes no part in a transfer; all learn it by
// a reduction that no rank waits for, so that they decide alike.
class Status {
  public:
    // `channels`: all, to which others may be added behind.
    Status(Agreement& agreement, const std::vector<std::unique_ptr<Channel>>& channels)
        : agreement_(agreement), channels_(channels) {}

    // Takes in the messages of the writers `in_use`. Without `wait`: as of the last time. Collective.
    void exchange(const std::vector<Channel*>& in_use, bool wait);
    // Finishes the exchange that is under way. Collective.
    void complete();
    // Keeps an error for raise_errors. All ranks call it.
    void note_error(const std::string& text);
    // The errors that no call has returned yet, each once, alike on all ranks. Collective.
    std::vector<std::string> take_errors();
    // Those that this rank has received and no rank has returned. Not collective.
    std::vector<std::string> take_own_errors(const std::vector<Channel*>& in_use);

  private:
    void receive(Channel& channel);
    void apply();
    void keep(const std::string& error);

    Agreement& agreement_;
    const std::vector<std::unique_ptr<Channel>>& channels_;
    std::vector<Index> status_;  // under way to all ranks
    MPI_Request coming_ = MPI_REQUEST_NULL;
    Index known_errors_ = 0, taken_errors_ = 0;
    std::vector<std::string> errors_;  // that this rank has received
    Index received_errors_ = 0;        // their number, with those that were returned
};

}  // namespace tradewind::fieldserver
