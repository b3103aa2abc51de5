// Changes that the author of a program may make, applied to its calls; a replay shows what they bring.
#pragma once

#include <cstdint>

#include "program/calls.hpp"

namespace tradewind::program {

// Messages of one rank to another become one as long as they have at most `limit` bytes in all, and their sender waits
// between them for none but these: it leaves with the last of them, its receive is posted with the first one, and is
// waited for where the first of them was. Since the sender waits for nothing else meanwhile, no rank waits for ever
// that did not before. Messages of collective calls and synchronous sends stay as they are. Putting messages together
// takes no time.
Calls merged(const Calls& calls, std::int64_t limit);

// Receives are posted behind the wait before them, ahead of computations and sends: where their buffers are free then.
Calls with_early_receives(const Calls& calls);

// Waits for messages come behind the computation that follows them at once: where it needs none that are received, and
// changes none that are sent.
Calls with_late_waits(const Calls& calls);

}  // namespace tradewind::program
