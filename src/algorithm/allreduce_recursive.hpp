#pragma once

#include <memory>

#include "pattern/allreduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind {

// Allreduce by recursive multiplying (recursive doubling where radix = 2; Thakur, Rabenseifner & Gropp 2005): with m =
// radix^p the largest power not above n, p stages in which the ranks that differ in one digit exchange what they have.
// Where m < n, rank i >= m first folds its values onto rank i mod m and gets the result back at the end, which is two
// stages more. (As printed by Zheng & Marguinaud 2018, rank i folds onto i - (n - m), which is negative for n > 2 m.)
// radix in 2..n.
std::shared_ptr<const Schedule> allreduce_recursive(std::shared_ptr<const AllReduce> reduce, Index radix);

}  // namespace tradewind
