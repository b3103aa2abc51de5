#include "schedule/text.hpp"

#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"

namespace testing::schedule_text {

using namespace tradewind;
using algorithm::make_schedule, schedule::stage_text;

TEST("a stage of a halo names peers, tags and boxes") {
    const layout::Blocks layout(layout::Grid(10, 4, 2), {2, 1});
    const auto sweep = make_schedule(std::make_shared<pattern::Halo>(layout, 2, std::array{false, true}), "sweep");
    CHECK_EQUAL(stage_text(*sweep, 0, 0),
                "sends to 1  tag 1  parity 0  16 points  source [x 3:5, y 0:4, z 0:2]\n"
                "receives from 1  tag 2  parity 1  16 points  target [x 5:7, y 0:4, z 0:2]\n");
    CHECK_EQUAL(stage_text(*sweep, 0, 1),
                "copies source [x 0:7, y 0:2, z 0:2] to target [x 0:7, y 4:6, z 0:2]\n"
                "copies source [x 0:7, y 2:4, z 0:2] to target [x 0:7, y -2:0, z 0:2]\n");
}

TEST("a reduction combines until it gives back") {
    const auto schedule = make_schedule(std::make_shared<pattern::AllReduce>(3, 1), "recursive-2");
    CHECK_EQUAL(stage_text(*schedule, 0, 0),
                "combines from 2  tag 0  parity 0  1 point  target [x 0:1, y 0:1, z 0:1]\n");
    CHECK_EQUAL(stage_text(*schedule, 2, 2),
                "receives from 0  tag 0  parity 0  1 point  target [x 0:1, y 0:1, z 0:1]\n");
}

TEST("pieces are counted") {
    const auto text = stage_text(*make_schedule(row_of(4, {4, 1, 4}), "bruck"), 0, 0);
    const auto has = [&](const char* words) { return text.find(words) != text.npos; };
    CHECK(has("receives from 3  tag 0  parity 1  2 points  target [x 3:4, y 0:1, z 0:1] and 1 more pieces"));
    CHECK(has("copies source [x 0:1, y 0:1, z 0:1] to target [x 0:1, y 0:1, z 0:1]"));
}

}  // namespace testing::schedule_text
