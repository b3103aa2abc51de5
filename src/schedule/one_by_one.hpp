// A schedule in the posting order of sendrecv, as simulations take it: one exchange after another.
#pragma once

#include <memory>

#include "schedule/schedule.hpp"

namespace tradewind::schedule {

// The same messages, each stage as several stages, one for each exchange of its ranks, in the order of
// `sendrecv_order`: the j-th send and the j-th receive of a rank together, then the next. Both ends of a message must
// have it as the same exchange. What is read and written when is not known of it: it is simulated, neither run nor
// verified.
//
// Throws InputError, with the message, for a schedule whose ends differ; all of its messages are asked for once.
std::shared_ptr<const Schedule> one_by_one(std::shared_ptr<const Schedule> schedule);

}  // namespace tradewind::schedule
