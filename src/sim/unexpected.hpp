// Unexpected messages, which arrive before their receive is posted: bytes and times of packets, by rank and by the
// receives posted together.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/units.hpp"
#include "sim/pool.hpp"

namespace tradewind::sim {

class Unexpected {
  public:
    // A packet that comes at `time`, of receives whose first stage is `first`.
    void add(Rank rank, std::uint32_t first, std::uint32_t bytes, std::int64_t time) {
        const std::uint32_t id = packets_.take();
        const auto [found, is_new] = lists_.try_emplace(key(rank, first), Pool<Packet>::none);
        packets_[id] = {time, bytes, found->second};
        found->second = id;
    }

    // The bytes that have come before `time`, when these receives are posted; what comes later is not unexpected.
    std::int64_t take(Rank rank, std::uint32_t first, std::int64_t time) {
        const auto found = lists_.find(key(rank, first));
        if (found == lists_.end()) return 0;
        std::int64_t bytes = 0;
        for (std::uint32_t id = found->second; id != Pool<Packet>::none;) {
            const Packet packet = packets_[id];
            if (packet.time < time) bytes += packet.bytes;
            packets_.give(id);
            id = packet.next;
        }
        lists_.erase(found);
        return bytes;
    }

    // Calls `use` with rank, first stage, bytes and time of each packet.
    template <class Use>
    void for_each(Use use) const {
        for (const auto& [key, last] : lists_)
            for (std::uint32_t id = last; id != Pool<Packet>::none; id = packets_[id].next)
                use(static_cast<Rank>(key >> 32), static_cast<std::uint32_t>(key), packets_[id].bytes,
                    packets_[id].time);
    }

  private:
    struct Packet {
        std::int64_t time;
        std::uint32_t bytes, next;
    };
    static std::uint64_t key(Rank rank, std::uint32_t first) { return static_cast<std::uint64_t>(rank) << 32 | first; }

    Pool<Packet> packets_;
    std::unordered_map<std::uint64_t, std::uint32_t> lists_;  // the last of each
};

}  // namespace tradewind::sim
