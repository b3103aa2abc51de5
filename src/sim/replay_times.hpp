// When the calls of a trace ended in a replay, and its messages came.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "program/calls.hpp"

namespace tradewind::sim {

struct ReplayTimes {
    static constexpr std::int64_t open = -1;
    static constexpr std::uint32_t none = ~0u;

    struct Message {
        std::int64_t arrived = 0;       // ps at which the last of those bytes came that are there
        std::int64_t asked = open;      // ps at which its receiver asked for it; open: it was sent at once
        std::uint32_t asked_in = none;  // the call of the receiver that did so; none: as soon as it was announced
    };

    // Without the times of any rank; each begins its own.
    explicit ReplayTimes(std::shared_ptr<const program::Calls> replayed)
        : calls(std::move(replayed)),
          call_end(static_cast<std::size_t>(calls->ranks())),
          ended(call_end.size()),
          messages(call_end.size()) {}

    void begin(Rank r) {
        const auto at = static_cast<std::size_t>(r);
        call_end[at].assign(calls->of(r).size(), open);
        ended[at].assign(calls->requests(r), open);
        messages[at].resize(calls->receives(r));
    }

    std::shared_ptr<const program::Calls> calls;

    // A call begins when the one before it ends.
    std::vector<std::vector<std::int64_t>> call_end;  // [rank][call] ps
    std::vector<std::vector<std::int64_t>> ended;     // [rank][request] ps
    std::vector<std::vector<Message>> messages;       // [rank][message that it receives]
};

}  // namespace tradewind::sim
