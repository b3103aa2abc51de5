// The computing between exchanges.
#pragma once

#include <memory>
#include <vector>

#include "layout/layout.hpp"
#include "program/imbalance.hpp"

namespace tradewind::program {

// The work of a rank's CPU: for `seconds`, or as long as its flops or bytes of memory take, whichever is longer,
// at a rank's share of its node (the roofline of Williams, Waterman & Patterson 2009). Bytes are those of a
// copy, each read and written, as the machine's memory bandwidth counts them. With a layout, flops and bytes are those
// of a point that a rank owns, with `points` of each of a rank's points; else of a rank. A point takes point_seconds
// beside them. With an imbalance, all of it takes a random factor of its time, which depends on the rank and on
// `stream`: the number of its step in the program that it first stands in.
struct Compute {
    double seconds = 0, flops = 0, bytes = 0;
    std::shared_ptr<const layout::Layout> layout;
    double point_seconds = 0;
    std::shared_ptr<const std::vector<double>> points{};  // [rank]
    Imbalance imbalance{};
    std::int64_t stream = -1;  // -1: given by the program

    bool any() const { return seconds > 0 || flops > 0 || bytes > 0 || point_seconds > 0; }
    double points_of(Rank rank) const;
    bool changes_each_time() const { return any() && imbalance.any() && imbalance.each_time; }
    void give_stream(std::size_t step) {
        if (stream < 0) stream = static_cast<std::int64_t>(step);
    }
};

// Throws InputError for a computation that is negative, or for another number of ranks.
void check(const Compute& compute, Rank ranks);

}  // namespace tradewind::program
