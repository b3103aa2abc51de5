// Packets that have come for stages far ahead of where their rank is: how many, and when the last of a stage came.
//
// Where a network is crowded, ranks drift apart by dozens of stages, and a third of all messages may be early. A map
// with a node for each stage took a third of the time then, nearly all of it waiting for memory. Here the stages of a
// rank lie four to a cache line, in an open table, and what has come in a window is put there in one go, with the
// lines asked for in time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/huge.hpp"
#include "base/prefetch.hpp"
#include "base/units.hpp"

namespace tradewind::sim {

class EarlyPackets {
  public:
    struct Some {
        std::uint32_t packets = 0;
        std::int64_t time = 0;
    };

    void add(Rank rank, std::uint32_t stage, std::int64_t time) { news_.push_back({key(rank, stage), stage, time}); }

    // Puts what has been added where `take` finds it.
    void settle() {
        constexpr std::size_t ahead = 8;
        for (std::size_t i = 0; i < news_.size(); ++i) {
            if (i + ahead < news_.size()) prefetch_line(&lines_[home(news_[i + ahead].key)]);
            Line& line = line_of(news_[i].key);
            const std::uint32_t at = news_[i].stage % a_line;
            ++line.packets[at];
            line.time[at] = std::max(line.time[at], news_[i].time);
        }
        news_.clear();
    }

    void prefetch(Rank rank, std::uint32_t stage) const { prefetch_line(&lines_[home(key(rank, stage))]); }

    // Those of a stage, which are kept no longer.
    Some take(Rank rank, std::uint32_t stage) {
        if (!news_.empty()) settle();
        const std::uint64_t wanted = key(rank, stage);
        std::size_t i = home(wanted);
        while (lines_[i].key != wanted) {
            if (lines_[i].key == none) return {};
            i = (i + 1) & mask_;
        }
        Line& line = lines_[i];
        const std::uint32_t at = stage % a_line;
        const Some some{std::exchange(line.packets[at], 0), std::exchange(line.time[at], 0)};
        if (std::all_of(line.packets.begin(), line.packets.end(), [](std::uint32_t n) { return n == 0; })) remove(i);
        return some;
    }

    // Calls `use` with rank, stage, packets and the time of the last one.
    template <class Use>
    void for_each(Use use) const {
        for (const Line& line : lines_)
            for (std::uint32_t i = 0; line.key != none && i < a_line; ++i)
                if (line.packets[i] > 0)
                    use(static_cast<Rank>((line.key - 1) >> 32), static_cast<std::uint32_t>(line.key - 1) * a_line + i,
                        line.packets[i], line.time[i]);
    }

  private:
    static constexpr std::uint32_t a_line = 4;  // stages
    static constexpr std::uint64_t none = 0;

    struct alignas(64) Line {
        std::uint64_t key = none;
        std::array<std::int64_t, a_line> time{};
        std::array<std::uint32_t, a_line> packets{};
    };
    static_assert(sizeof(Line) == 64);
    struct News {
        std::uint64_t key;
        std::uint32_t stage;
        std::int64_t time;
    };

    static std::uint64_t key(Rank rank, std::uint32_t stage) {
        return (static_cast<std::uint64_t>(rank) << 32 | stage / a_line) + 1;
    }
    std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15) >> shift_; }

    Line& line_of(std::uint64_t key) {
        std::size_t i = home(key);
        while (lines_[i].key != key) {
            if (lines_[i].key == none) {
                if (2 * (used_ + 1) > lines_.size()) {
                    grow();
                    return line_of(key);
                }
                ++used_;
                lines_[i].key = key;
                break;
            }
            i = (i + 1) & mask_;
        }
        return lines_[i];
    }

    void grow() {
        const HugeVector<Line> old = std::exchange(lines_, HugeVector<Line>(4 * lines_.size()));
        mask_ = lines_.size() - 1;
        shift_ = 64 - std::countr_zero(lines_.size());
        for (const Line& line : old) {
            if (line.key == none) continue;
            std::size_t i = home(line.key);
            while (lines_[i].key != none) i = (i + 1) & mask_;
            lines_[i] = line;
        }
    }

    // Those behind a gap move up to where they are looked for.
    void remove(std::size_t gap) {
        --used_;
        for (std::size_t i = (gap + 1) & mask_; lines_[i].key != none; i = (i + 1) & mask_) {
            const std::size_t way = (i - home(lines_[i].key)) & mask_, back = (i - gap) & mask_;
            if (way < back) continue;
            lines_[gap] = lines_[i];
            gap = i;
        }
        lines_[gap] = Line{};
    }

    HugeVector<Line> lines_ = HugeVector<Line>(64);
    std::size_t mask_ = 63, used_ = 0;
    int shift_ = 58;
    std::vector<News> news_;
};

}  // namespace tradewind::sim
