#include "program/calls.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace tradewind::program {

Calls::Calls(std::vector<std::vector<Call>> calls, std::vector<std::string> labels, std::vector<Unmatched> unmatched,
             std::vector<std::vector<ReceiveKey>> receive_keys,
             std::vector<std::pair<Rank, std::uint32_t>> never_awaited)
    : calls_(std::move(calls)),
      labels_(std::move(labels)),
      unmatched_(std::move(unmatched)),
      receive_keys_(std::move(receive_keys)),
      never_awaited_(std::move(never_awaited)) {
    receive_keys_.resize(calls_.size());
    if (calls_.empty()) throw InputError("calls of no rank");
    for (const std::vector<Call>& all : calls_) {
        std::uint32_t receives = 0;
        std::vector<std::uint32_t>& requests = of_request_.emplace_back();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Call& call = all[i];
            if (call.kind == Call::send || call.kind == Call::receive)
                requests.push_back(static_cast<std::uint32_t>(i));
            receives += call.kind == Call::receive;
            if (call.kind != Call::send) continue;
            if (call.amount < 0 || call.amount > std::numeric_limits<std::int64_t>::max() - bytes_)
                throw InputError(
                    "rank " + std::to_string(of_request_.size() - 1) +
                    " sends more bytes than can be counted: at most 2^63 - 1 in the messages of all ranks");
            ++messages_;
            bytes_ += call.amount;
            largest_ = std::max(largest_, call.amount);
            has_synchronous_ = has_synchronous_ || call.synchronous;
        }
        receives_.push_back(receives);
        count_ += static_cast<std::int64_t>(all.size());
        if (receives > max_messages)
            throw InputError("rank " + std::to_string(receives_.size() - 1) + " receives " + std::to_string(receives) +
                             " messages: at most " + std::to_string(max_messages) + " can be replayed");
    }
}

}  // namespace tradewind::program
