#include "program/trace_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind::program {

namespace {

std::string place(Rank rank, std::size_t row) {
    return "rank " + std::to_string(rank) + ", row " + std::to_string(row) + ": ";
}

}  // namespace

std::size_t CallsOfTrace::Hash::operator()(const Key& key) const {
    const std::uint64_t ends =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.from)) << 32 | static_cast<std::uint32_t>(key.to);
    return mix(mix(mix(ends) ^ static_cast<std::uint64_t>(key.tag)) ^ key.communicator);
}

// Writes the calls of one rank.
struct CallsOfTrace::Writer {
    CallsOfTrace& trace;
    Rank rank;
    std::vector<Call>& calls;
    std::uint32_t requests = 0;
    std::uint32_t row = 0;
    std::uint16_t label = 0;
    std::unordered_map<std::int64_t, UnderWay> open{};

    std::uint32_t begin(Call::Kind kind, Rank peer, std::uint32_t communicator, std::int64_t tag, std::int64_t bytes,
                        bool synchronous = false) {
        if (peer < 0 || peer >= static_cast<Rank>(trace.calls_.size()))
            throw InputError(place(rank, row) + "a message of rank " + std::to_string(peer) + ": 0 to " +
                             std::to_string(trace.calls_.size() - 1) + " are allowed");
        if (bytes < 0) throw InputError(place(rank, row) + "a message of " + std::to_string(bytes) + " bytes");
        const bool sends = kind == Call::send;
        const Key key{communicator, sends ? rank : peer, sends ? peer : rank, tag};
        const auto [found, is_new] = trace.ends_.try_emplace(key);
        if (is_new) trace.keys_.push_back(key);
        (sends ? found->second.sends : found->second.receives)
            .push_back({rank, static_cast<std::uint32_t>(calls.size())});
        calls.push_back({kind, synchronous, label, static_cast<std::uint32_t>(peer), 0, row, bytes});
        return requests++;
    }
    void wait(std::uint32_t request) { calls.push_back({Call::wait, false, label, request, 0, row, 0}); }
    // The messages of the next stage of a collective call.
    void begin_stage(UnderWay& under_way) {
        const CollectiveStage stage = std::move(under_way.later.back());
        under_way.later.pop_back();
        under_way.requests.clear();
        for (const Rank from : stage.receives)
            under_way.requests.push_back(begin(Call::receive, from, under_way.communicator, under_way.tag, 0));
        for (const CollectiveStage::Sent& sent : stage.sends)
            under_way.requests.push_back(begin(Call::send, sent.to, under_way.communicator, under_way.tag, sent.bytes));
    }
    void end(UnderWay under_way) {
        for (;;) {
            for (const std::uint32_t request : under_way.requests) wait(request);
            if (under_way.later.empty()) return;
            begin_stage(under_way);
        }
    }
    void collective(const TraceRows& rows, std::size_t i) {
        const std::uint32_t communicator = rows.communicator[i];
        const std::vector<Rank>& members = trace.members(communicator, rank, i);
        const auto place_of = [&](Rank each) {
            return static_cast<Rank>(std::find(members.begin(), members.end(), each) - members.begin());
        };
        const auto all = static_cast<Rank>(members.size());
        const Rank here = place_of(rank), root = rows.peer[i] < 0 ? 0 : place_of(rows.peer[i]);
        if (here == all || root == all)
            throw InputError(place(rank, i) + "a collective call of a communicator that rank " +
                             std::to_string(here == all ? rank : rows.peer[i]) + " does not belong to");
        if (rows.collective[i] >= std::size(collective_names))
            throw InputError(place(rank, i) + "no collective call has the number " +
                             std::to_string(rows.collective[i]));
        UnderWay under_way;
        under_way.communicator = communicator;
        under_way.tag = -1 - trace.instances_[static_cast<std::size_t>(rank)][communicator]++;
        under_way.later =
            stages_of(static_cast<Collective>(rows.collective[i]), here, all, root, rows.amount[i], trace.allreduce_);
        std::reverse(under_way.later.begin(), under_way.later.end());
        for (CollectiveStage& stage : under_way.later) {
            for (CollectiveStage::Sent& sent : stage.sends) sent.to = members[static_cast<std::size_t>(sent.to)];
            for (Rank& from : stage.receives) from = members[static_cast<std::size_t>(from)];
        }
        if (!under_way.later.empty()) begin_stage(under_way);
        if (rows.flags[i] & TraceRows::nonblocking)
            open[rows.request[i]] = std::move(under_way);
        else
            end(std::move(under_way));
    }
    void add(const TraceRows& rows, std::size_t i) {
        row = static_cast<std::uint32_t>(i);
        label = rows.label[i];
        if (label >= trace.labels_.size())
            throw InputError(place(rank, i) + "label " + std::to_string(label) + " of " +
                             std::to_string(trace.labels_.size()));
        switch (static_cast<RowKind>(rows.kind[i])) {
            case RowKind::compute:
                if (rows.amount[i] < 0) throw InputError(place(rank, i) + "a computation of negative time");
                if (rows.amount[i] > 0) calls.push_back({Call::compute, false, label, 0, 0, row, rows.amount[i]});
                return;
            case RowKind::send:
            case RowKind::receive: {
                const auto kind = static_cast<RowKind>(rows.kind[i]) == RowKind::send ? Call::send : Call::receive;
                const std::uint32_t request = begin(kind, rows.peer[i], rows.communicator[i], rows.tag[i],
                                                    rows.amount[i], rows.flags[i] & TraceRows::synchronous);
                if (rows.flags[i] & TraceRows::nonblocking)
                    open[rows.request[i]] = {{request}, {}, 0, 0};
                else
                    wait(request);
                return;
            }
            case RowKind::wait: {
                const auto found = open.find(rows.request[i]);
                if (found == open.end()) return;  // one that has ended, or was begun before the trace
                UnderWay under_way = std::move(found->second);
                open.erase(found);
                end(std::move(under_way));
                return;
            }
            case RowKind::collective: collective(rows, i); return;
        }
        throw InputError(place(rank, i) + "no row has the kind " + std::to_string(rows.kind[i]));
    }
};

CallsOfTrace::CallsOfTrace(Rank ranks, std::vector<std::string> labels, AllReduceSchedule allreduce)
    : calls_(static_cast<std::size_t>(ranks)),
      labels_(std::move(labels)),
      allreduce_(std::move(allreduce)),
      instances_(static_cast<std::size_t>(ranks)) {
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
        throw InputError(place(rank, row) + "a collective call of communicator " + std::to_string(communicator) +
                         ", whose ranks the trace does not have");
    return found->second;
}

void CallsOfTrace::add(Rank rank, const TraceRows& rows) {
    std::vector<Call>& calls = calls_.at(static_cast<std::size_t>(rank));
    if (!calls.empty()) throw InputError("the rows of rank " + std::to_string(rank) + " are there already");
    Writer writer{*this, rank, calls};
    for (std::size_t i = 0; i < rows.size(); ++i) writer.add(rows, i);
}

// MPI keeps the order of messages between two ranks with one tag: the n-th receive is of the n-th send.
Calls CallsOfTrace::finish() && {
    std::vector<Unmatched> unmatched;
    std::vector<std::vector<bool>> left_out(calls_.size());
    for (std::size_t r = 0; r < calls_.size(); ++r) left_out[r].resize(calls_[r].size());
    for (const Key& key : keys_) {
        const auto& [sends, receives] = ends_.at(key);
        const std::size_t both = std::min(sends.size(), receives.size());
        for (std::size_t i = 0; i < both; ++i) {
            Call& send = calls_[static_cast<std::size_t>(key.from)][sends[i].call];
            Call& receive = calls_[static_cast<std::size_t>(key.to)][receives[i].call];
            receive.amount = send.amount;
            receive.message = sends[i].call;  // for now
        }
        const auto leave_out = [&](const std::vector<End>& ends, bool is_send) {
            for (std::size_t i = both; i < ends.size(); ++i) {
                const auto rank = static_cast<std::size_t>(ends[i].rank);
                const Call& call = calls_[rank][ends[i].call];
                left_out[rank][ends[i].call] = true;
                unmatched.push_back({ends[i].rank, is_send ? key.to : key.from, is_send, key.communicator, call.row,
                                     key.tag, call.amount});
            }
        };
        leave_out(sends, true);
        leave_out(receives, false);
    }
    // Messages are numbered in the order of their receives.
    for (std::size_t r = 0; r < calls_.size(); ++r) {
        std::uint32_t number = 0;
        for (std::size_t i = 0; i < calls_[r].size(); ++i) {
            Call& call = calls_[r][i];
            if (call.kind != Call::receive || left_out[r][i]) continue;
            calls_[call.peer][call.message].message = number;
            call.message = number++;
        }
    }
    if (!unmatched.empty())
        for (std::size_t r = 0; r < calls_.size(); ++r) {
            std::vector<std::int64_t> renumbered;  // [request]; -1: left out
            std::uint32_t requests = 0;
            std::vector<Call> kept;
            for (std::size_t i = 0; i < calls_[r].size(); ++i) {
                Call call = calls_[r][i];
                if (call.kind == Call::send || call.kind == Call::receive) {
                    renumbered.push_back(left_out[r][i] ? -1 : requests++);
                    if (left_out[r][i]) continue;
                } else if (call.kind == Call::wait) {
                    if (renumbered[call.peer] < 0) continue;
                    call.peer = static_cast<std::uint32_t>(renumbered[call.peer]);
                }
                kept.push_back(call);
            }
            calls_[r] = std::move(kept);
        }
    std::sort(unmatched.begin(), unmatched.end(), [](const Unmatched& a, const Unmatched& b) {
        return std::pair(a.rank, a.row) < std::pair(b.rank, b.row);
    });
    return Calls(std::move(calls_), std::move(labels_), std::move(unmatched));
}

}  // namespace tradewind::program
