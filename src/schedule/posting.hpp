// The order in which a rank posts the messages of a stage and waits for them: what a transport does, as data.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind::schedule {

// An operation of a rank: it posts its j-th send or receive of the stage, or waits until that one is done.
struct Operation {
    enum Kind : std::uint8_t { post, wait } kind;
    bool sending;
    std::int32_t j;
};

// The operations of a rank in a stage, empty messages left out. A blocking call is a post and, next to it, a wait.
using PostingOrder = std::vector<Operation> (*)(const Schedule&, Rank, int stage);

// Both halves of the j-th exchange at once, then the next: MPI_Sendrecv, a half that is empty left out. Counting j over
// the empty messages too keeps exchanges together that the algorithm means to be.
std::vector<Operation> sendrecv_order(const Schedule& schedule, Rank rank, int stage);
std::vector<Operation> isend_recv_order(const Schedule& schedule, Rank rank, int stage);
std::vector<Operation> send_irecv_order(const Schedule& schedule, Rank rank, int stage);
std::vector<Operation> isend_irecv_order(const Schedule& schedule, Rank rank, int stage);
// One blocking call after another, in an order of all messages of the stage that all ranks share: of the messages that
// are not done, the first one is always the next thing to do for both of its ends, so there is no deadlock. The parity
// comes first in the order, so that half of the ranks send while the others receive.
std::vector<Operation> even_odd_order(const Schedule& schedule, Rank rank, int stage);

}  // namespace tradewind::schedule
