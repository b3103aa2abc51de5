// The table of early packets against a map: many ranks far ahead, a few behind, until all is taken.
#include "sim/early_packets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <utility>
#include <vector>

using tradewind::Rank;
using tradewind::sim::EarlyPackets;

namespace {

struct Truth {
    std::uint32_t packets = 0;
    std::int64_t time = 0;
};

bool same(const EarlyPackets::Some& found, const Truth& truth, const char* when) {
    if (found.packets == truth.packets && found.time == truth.time) return true;
    std::printf("%s: %u packets until %lld, not %u until %lld\n", when, found.packets,
                static_cast<long long>(found.time), truth.packets, static_cast<long long>(truth.time));
    return false;
}

}  // namespace

int main() {
    std::mt19937_64 random(1);
    for (const int ranks : {1, 3, 50, 5000}) {
        EarlyPackets table;
        std::map<std::pair<Rank, std::uint32_t>, Truth> map;
        std::vector<std::uint32_t> at(static_cast<std::size_t>(ranks), 0);  // where each rank is
        for (int round = 0; round < 2000; ++round) {
            for (int i = 0; i < 200; ++i) {
                const auto rank = static_cast<Rank>(random() % static_cast<std::uint64_t>(ranks));
                // Stages up to the last one that a program may have.
                const auto stage = static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(at[static_cast<std::size_t>(rank)] + random() % 40, (1u << 24) - 2));
                const auto time = static_cast<std::int64_t>(random() % 1000);
                table.add(rank, stage, time);
                Truth& truth = map[{rank, stage}];
                ++truth.packets;
                truth.time = std::max(truth.time, time);
            }
            if (round % 3 == 0) table.settle();
            for (int i = 0; i < 100; ++i) {
                const auto rank = static_cast<Rank>(random() % static_cast<std::uint64_t>(ranks));
                std::uint32_t& stage = at[static_cast<std::size_t>(rank)];
                const auto entry = map.find({rank, stage});
                const Truth truth = entry == map.end() ? Truth{} : entry->second;
                table.prefetch(rank, stage);
                if (!same(table.take(rank, stage), truth, "on the way")) return 1;
                if (entry != map.end()) map.erase(entry);
                if (stage < (1u << 24) - 3) ++stage;
            }
            if (round == 1000)
                for (int i = 0; i < ranks; i += 2) at[static_cast<std::size_t>(i)] = (1u << 24) - 100;
        }
        for (const auto& [key, truth] : map)
            if (!same(table.take(key.first, key.second), truth, "in the end")) return 1;
        for (int rank = 0; rank < ranks; ++rank)
            for (std::uint32_t stage = 0; stage < 300; ++stage)
                if (!same(table.take(rank, stage), {}, "after all")) return 1;
    }
    std::puts("all as in the map");
}
