// Schedules with a fault, to test that checks find it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind::verify {

// The faults: what happens to the j-th message that a rank sends in a stage (one that is not empty).
//   drop          neither sent nor received
//   drop-send     received but not sent           drop-receive  sent but not received
//   double        sent and received a second time, under another tag
//   swap          sent with the contents of the rank's next message and the reverse
//   misplace      received one point further on along x
//   count, tag, parity   another one at the receiver
//   reverse       the rank's sends of the stage are posted in reverse order
//   no-copies     the rank leaves out its copies of the stage
const std::vector<std::string>& damages();

// Throws InputError for an unknown fault or a message that is not there.
std::shared_ptr<const schedule::Schedule> damaged(std::shared_ptr<const schedule::Schedule> schedule,
                                                  const std::string& fault, Rank rank, int stage, int j);

}  // namespace tradewind::verify
