#include "pattern/allreduce.hpp"

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::pattern {

AllReduce::AllReduce(Rank ranks, Index count) : ranks_(ranks), count_(count) {
    if (ranks < 1) throw InputError("allreduce among " + std::to_string(ranks) + " ranks: 1 or more are allowed");
    if (count < 1) throw InputError("allreduce of " + std::to_string(count) + " elements: 1 or more are allowed");
    checked_product({ranks, count}, max_points, "allreduce among " + std::to_string(ranks) + " ranks", "elements");
}

std::string AllReduce::describe() const {
    return "allreduce of " + std::to_string(count_) + (count_ == 1 ? " element" : " elements");
}

}  // namespace tradewind::pattern
