// Statistics of packets: nothing is lost where bins grow wider, and what comes too early is marked.
#include "sim/statistics.hpp"

#include "sim/unexpected.hpp"
#include "testing/testing.hpp"

namespace testing::statistics {

using namespace tradewind;

PROPERTY("a series of delays has each packet in the bin of its arrival, however long it grew", 300) {
    std::vector<std::pair<std::int64_t, float>> packets;
    sim::DelaySeries series, halves[2];
    for (auto left = draw.integer(0, 40); left > 0; --left) {
        const auto time = draw.integer(0, (std::int64_t{1} << draw.integer(10, 40)));
        const auto delay = static_cast<float>(draw.integer(0, 1000));
        packets.emplace_back(time, delay);
        series.add(time, delay);
        halves[left % 2].add(time, delay);
    }
    halves[0].merge(halves[1]);
    for (const auto& each : {series, halves[0]}) {
        std::vector<sim::Delayed> expected(sim::DelaySeries::bins);
        for (const auto& [time, delay] : packets) expected[static_cast<std::size_t>(time >> each.shift)].add(delay);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CHECK_EQUAL(each.values[i].packets, expected[i].packets);
            CHECK_EQUAL(each.values[i].delay.picoseconds(), expected[i].delay.picoseconds());
        }
    }
    CHECK_EQUAL(series.shift, halves[0].shift);
}

TEST("what comes before its receive is posted is unexpected, and is counted once") {
    sim::Unexpected unexpected;
    for (const std::int64_t time : {5, 9, 10, 11}) unexpected.add(3, 2, 100, time);
    unexpected.add(3, 4, 1, 0);
    unexpected.add(2, 2, 1, 0);
    CHECK_EQUAL(unexpected.take(3, 2, 10), 200);  // at 10 it is posted
    CHECK_EQUAL(unexpected.take(3, 2, 10), 0);
    CHECK_EQUAL(unexpected.take(3, 4, 1), 1);
}

}  // namespace testing::statistics
