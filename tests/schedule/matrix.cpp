#include "schedule/matrix.hpp"

#include "base/error.hpp"
#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"

namespace testing::schedule_matrix {

using namespace tradewind;

std::vector<Index> matrix(const SchedulePtr& schedule, Rank ranks_per_bin, int first, int last) {
    return schedule::communication_matrix(*schedule, ranks_per_bin, first, last, [] {});
}

PROPERTY("bins hold the sum of the messages of the stages that are asked for", 500) {
    const auto schedule = draw_schedule(draw, draw_halo(draw));
    const auto per_bin = static_cast<Rank>(draw.integer(1, 50));
    const auto first = static_cast<int>(draw.integer(0, schedule->stages()));
    const auto last = static_cast<int>(draw.integer(first, schedule->stages()));
    const auto bins = static_cast<std::size_t>((schedule->ranks() + per_bin - 1) / per_bin);
    std::vector<Index> expected(bins * bins, 0);
    for (int stage = first; stage < last; ++stage) {
        for (Rank rank = 0; rank < schedule->ranks(); ++rank) {
            for (const auto& message : sent(*schedule, rank, stage)) {
                expected[static_cast<std::size_t>(rank / per_bin) * bins +
                         static_cast<std::size_t>(message.peer / per_bin)] += message.count;
            }
        }
    }
    CHECK_EQUAL(matrix(schedule, per_bin, first, last), expected);
}

TEST("bins of no ranks and stages that are not there are refused") {
    const auto schedule = algorithm::make_schedule(std::make_shared<pattern::AllReduce>(4, 5), "recursive-2");
    for (const auto& [ranks_per_bin, first, last] :
         std::vector<std::array<int, 3>>{{0, 0, 2}, {1, -1, 2}, {1, 0, 3}, {1, 2, 1}}) {
        CHECK_THROWS(InputError, ({"are allowed"}), matrix(schedule, ranks_per_bin, first, last));
    }
}

}  // namespace testing::schedule_matrix
