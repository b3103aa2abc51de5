#include "program/message_ends.hpp"

#include <algorithm>
#include <tuple>

#include "base/prefetch.hpp"
#include "base/random.hpp"

namespace tradewind::program {

namespace {

bool is_earlier(const MessageEnds::End& a, const MessageEnds::End& b) {
    return a.call < b.call;
}

void sort(std::vector<MessageEnds::End>& ends) {
    const auto before = [](const MessageEnds::End& a, const MessageEnds::End& b) {
        return a.instance != b.instance ? a.instance < b.instance : is_earlier(a, b);
    };
    if (!std::is_sorted(ends.begin(), ends.end(), before)) std::sort(ends.begin(), ends.end(), before);
}

}  // namespace

std::size_t MessageEnds::Hash::operator()(const Key& key) const {
    const std::uint64_t ends =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.from)) << 32 | static_cast<std::uint32_t>(key.to);
    return mix(mix(mix(ends) ^ static_cast<std::uint64_t>(key.tag)) ^ key.communicator);
}

std::uint32_t MessageEnds::stream(const Key& key) {
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(streams_.size()));
    if (is_new) streams_.push_back({key, {}, {}});
    return found->second;
}

// MPI keeps the order of messages between two ranks with one tag: the n-th receive is of the n-th send. Receives that
// take any message are known by their waits, and stand in the order in which they were posted.
void MessageEnds::pair(Stream& stream, std::uint32_t number, std::vector<Left>& left) {
    sort(stream.sends);
    sort(stream.receives);
    auto send = stream.sends.begin();
    const auto leave_send = [&] {
        left.push_back({stream.key.from, send->call, send->instance, number, true});
        ++send;
    };
    for (End& receive : stream.receives) {
        while (send != stream.sends.end() && send->instance < receive.instance) leave_send();
        if (send != stream.sends.end() && send->instance == receive.instance) {
            receive.instance = (send++)->call;
        } else {
            left.push_back({stream.key.to, receive.call, receive.instance, number, false});
            receive.instance = none;
        }
    }
    while (send != stream.sends.end()) leave_send();
    if (!std::is_sorted(stream.receives.begin(), stream.receives.end(), is_earlier))
        std::sort(stream.receives.begin(), stream.receives.end(), is_earlier);
}

std::vector<MessageEnds::Left> MessageEnds::pair(const Numbers& cancelled) {
    std::vector<Left> left;
    for (std::uint32_t number = 0; number < streams_.size(); ++number) {
        Stream& stream = streams_[number];
        const auto erase = [&](std::vector<End>& ends, Rank rank) {
            if (!cancelled[place(rank)].empty())
                std::erase_if(ends, [&](const End& end) { return cancelled[place(rank)].contains(end.call); });
        };
        erase(stream.sends, stream.key.from);
        erase(stream.receives, stream.key.to);
        pair(stream, number, left);
    }
    std::sort(left.begin(), left.end(),
              [](const Left& a, const Left& b) { return std::tie(a.rank, a.call) < std::tie(b.rank, b.call); });
    return left;
}

std::int64_t MessageEnds::number(std::vector<std::vector<Call>>& calls) const {
    std::int64_t numbered = 0;
    std::vector<std::size_t> next(streams_.size());  // [stream] receive
    for (std::vector<Call>& all : calls) {
        std::uint32_t number = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            Call& receive = all[i];
            if (receive.kind != Call::receive || receive.message == none) continue;
            const Stream& stream = streams_[receive.message];
            std::size_t& at = next[receive.message];
            receive.message = none;
            if (at == stream.receives.size() || stream.receives[at].call != i) continue;  // it was cancelled
            const std::uint32_t sent = stream.receives[at++].instance;
            if (sent == none) continue;
            std::vector<Call>& sends = calls[place(stream.key.from)];
            if (at < stream.receives.size() && stream.receives[at].instance != none)
                prefetch_line(&sends[stream.receives[at].instance]);
            Call& send = sends[sent];
            if (stream.key.tag == block_tag && send.amount == 0) continue;
            receive.amount = send.amount;
            receive.message = send.message = number++;
        }
        numbered += number;
    }
    return numbered;
}

}  // namespace tradewind::program
