// The table of early packets against a map: many ranks far ahead, a few behind, until all is taken.
#include "sim/early_packets.hpp"

#include <algorithm>
#include <map>

#include "testing/testing.hpp"

namespace testing::early_packets {

using namespace tradewind;
using sim::EarlyPackets;

struct Truth {
    std::uint32_t packets = 0;
    std::int64_t time = 0;
};

void check(const EarlyPackets::Some& found, const Truth& truth) {
    CHECK_EQUAL(found.packets, truth.packets);
    CHECK_EQUAL(found.time, truth.time);
}

TEST("the table of early packets is a map") {
    Draw draw(std::uint64_t{1});
    constexpr std::uint32_t last = (1u << 24) - 2;  // stage that a program may have
    for (const int ranks : {1, 3, 50, 5000}) {
        EarlyPackets table;
        std::map<std::pair<Rank, std::uint32_t>, Truth> map;
        std::vector<std::uint32_t> at(static_cast<std::size_t>(ranks), 0);  // where each rank is
        for (int round = 0; round < 1000; ++round) {
            for (int i = 0; i < 100; ++i) {
                const auto rank = static_cast<Rank>(draw.integer(0, ranks - 1));
                const auto ahead = at[static_cast<std::size_t>(rank)] + static_cast<std::uint32_t>(draw.integer(0, 39));
                const auto stage = std::min(ahead, last);
                const auto time = draw.integer(0, 999);
                table.add(rank, stage, time);
                Truth& truth = map[{rank, stage}];
                ++truth.packets;
                truth.time = std::max(truth.time, time);
            }
            if (round % 3 == 0) table.settle();
            for (int i = 0; i < 50; ++i) {
                const auto rank = static_cast<Rank>(draw.integer(0, ranks - 1));
                std::uint32_t& stage = at[static_cast<std::size_t>(rank)];
                const auto entry = map.find({rank, stage});
                table.prefetch(rank, stage);
                check(table.take(rank, stage), entry == map.end() ? Truth{} : entry->second);
                if (entry != map.end()) map.erase(entry);
                stage = std::min(stage + 1, last - 1);
            }
            if (round == 500) {
                for (std::size_t i = 0; i < at.size(); i += 2) at[i] = last - 98;
            }
        }
        for (const auto& [key, truth] : map) check(table.take(key.first, key.second), truth);
        for (int rank = 0; rank < ranks; ++rank) {
            for (std::uint32_t stage = 0; stage < 100; ++stage) check(table.take(rank, stage), {});
        }
    }
}

}  // namespace testing::early_packets
