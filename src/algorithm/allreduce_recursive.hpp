#pragma once

#include <memory>

#include "pattern/allreduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Allreduce by recursive multiplying (recursive doubling where radix = 2; Thakur, Rabenseifner & Gropp 2005): with m =
// radix^p the largest power not above n, p stages in which the ranks that differ in one digit exchange what they have.
// Where m < n, the other ranks first fold their values onto these and get the result back at the end, which is two
// stages more. radix in 2..n.
enum class Fold {
    far,   // rank i >= m onto rank i mod m. (As printed by Zheng & Marguinaud 2018, onto i - (n - m), which is negative
           // for n > 2 m.)
    near,  // ranks i n / m, i = 0 .. m - 1, rounded down, exchange, and those up to the next one fold onto each
};
std::shared_ptr<const schedule::Schedule> allreduce_recursive(std::shared_ptr<const pattern::AllReduce> reduce,
                                                              Index radix, Fold fold);

}  // namespace tradewind::algorithm
