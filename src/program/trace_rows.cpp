#include "program/trace_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "program/row_reader.hpp"

namespace tradewind::program {

namespace {

bool is_message(const Call& call) {
    return call.kind == Call::send || call.kind == Call::receive;
}

// The tag by which a collective call is named outside; no tag of a message.
std::int64_t tag_of(const MessageEnds::Key& key, std::uint32_t instance) {
    return key.tag == MessageEnds::collective_tag ? TraceRows::any - 1 - std::int64_t{instance} : key.tag;
}

}  // namespace

CallsOfTrace::CallsOfTrace(Rank ranks, std::vector<std::string> labels, AllReduceSchedule allreduce, bool at_once)
    : calls_(MessageEnds::place(ranks)),
      labels_(std::move(labels)),
      allreduce_(std::move(allreduce)),
      at_once_(at_once),
      cancelled_(MessageEnds::place(ranks)),
      wild_(MessageEnds::place(ranks)) {
    std::vector<Rank> all;
    for (Rank r = 0; r < ranks; ++r) all.push_back(r);
    communicators_[0] = std::move(all);
}

void CallsOfTrace::add_communicator(std::uint32_t number, std::vector<Rank> members) {
    for (const Rank each : members)
        if (each < 0 || each >= static_cast<Rank>(calls_.size()))
            throw InputError("communicator " + std::to_string(number) + " has rank " + std::to_string(each) +
                             ": 0 to " + std::to_string(calls_.size() - 1) + " are allowed");
    communicators_[number] = std::move(members);
}

const std::vector<Rank>& CallsOfTrace::members(std::uint32_t communicator, Rank rank, std::size_t row) const {
    const auto found = communicators_.find(communicator);
    if (found == communicators_.end())
        throw InputError("rank " + std::to_string(rank) + ", row " + std::to_string(row) +
                         ": a collective call of communicator " + std::to_string(communicator) +
                         ", whose ranks the trace does not have");
    return found->second;
}

// Calls are read into memory that is there for all ranks, one after another: how many they are is not known before.
void CallsOfTrace::add(Rank rank, const RowSequence& sequence) {
    std::vector<Call>& calls = calls_.at(MessageEnds::place(rank));
    if (!calls.empty()) throw InputError("the rows of rank " + std::to_string(rank) + " are there already");
    of_one_rank_.clear();
    RowReader reader(*this, rank, sequence, of_one_rank_);
    reader.read();
    calls = of_one_rank_;
    for (const std::uint32_t row : reader.never_awaited()) never_awaited_.emplace_back(rank, row);
}

Calls CallsOfTrace::finish() && {
    of_one_rank_ = {};
    const auto known = receive_keys_by_call();
    const std::vector<MessageEnds::Left> left = ends_.pair(cancelled_);
    std::vector<Unmatched> unmatched;
    for (const MessageEnds::Left& each : left) {
        const MessageEnds::Key& key = ends_.key(each.stream);
        const Call& call = calls_[MessageEnds::place(each.rank)][each.call];
        unmatched.push_back({each.rank, each.is_send ? key.to : key.from, each.is_send, key.communicator, call.row,
                             tag_of(key, each.instance), call.amount});
    }
    const std::int64_t messages = ends_.number(calls_);
    ends_ = {};
    std::vector<std::vector<ReceiveKey>> receive_keys(calls_.size());  // [rank][message]
    std::int64_t ends = 0;
    for (std::size_t r = 0; r < calls_.size(); ++r)
        for (std::size_t i = 0; i < calls_[r].size(); ++i) {
            const Call& call = calls_[r][i];
            ends += is_message(call);
            if (call.kind == Call::receive && call.message != MessageEnds::none && !wild_[r].empty())
                receive_keys[r].push_back(known[r].at(static_cast<std::uint32_t>(i)));
        }
    if (ends != 2 * messages) leave_out();
    std::sort(never_awaited_.begin(), never_awaited_.end());
    return Calls(std::move(calls_), std::move(labels_), std::move(unmatched), std::move(receive_keys),
                 std::move(never_awaited_));
}

// Drops sends and receives without another end, and the waits for them.
void CallsOfTrace::leave_out() {
    for (std::vector<Call>& calls : calls_) {
        std::vector<std::uint32_t> renumbered;  // [request]
        std::uint32_t requests = 0;
        std::vector<Call> kept;
        for (Call call : calls) {
            if (is_message(call)) {
                renumbered.push_back(call.message == MessageEnds::none ? MessageEnds::none : requests++);
                if (call.message == MessageEnds::none) continue;
            } else if (call.kind == Call::wait) {
                call.peer = renumbered[call.peer];
                if (call.peer == MessageEnds::none) continue;
            }
            kept.push_back(call);
        }
        calls = std::move(kept);
    }
}

std::vector<std::unordered_map<std::uint32_t, ReceiveKey>> CallsOfTrace::receive_keys_by_call() const {
    std::vector<std::unordered_map<std::uint32_t, ReceiveKey>> found(calls_.size());
    ends_.for_receives([&](const MessageEnds::Key& key, const std::vector<MessageEnds::End>& receives) {
        const auto& all = wild_[MessageEnds::place(key.to)];
        if (all.empty()) return;
        for (const MessageEnds::End& end : receives) {
            const auto wild = all.find(end.call);
            const std::uint16_t flags = wild == all.end() ? 0 : wild->second;
            found[MessageEnds::place(key.to)][end.call] = {key.communicator, tag_of(key, end.instance),
                                                           (flags & TraceRows::any_source) != 0,
                                                           (flags & TraceRows::any_tag) != 0};
        }
    });
    return found;
}

}  // namespace tradewind::program
