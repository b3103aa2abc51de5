// Schedules run on arrays of numbers, message by message, as ranks would: a truth beside the verifier's.
#pragma once

#include "testing/drawing.hpp"

namespace testing {

// Runs a schedule on arrays with random numbers, and compares what is in them afterwards, point by point, with what the
// pattern is defined to do: with the points themselves, the lists that it was made of, or sums over ranks or ids.
// Passes over patterns with many points.
void check_on_arrays(Draw& draw, const tradewind::schedule::Schedule& schedule, const Lists& lists);

}  // namespace testing
