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
    // A row that is carried out later: with its request.
    struct Prepared {
        RowKind kind;
        std::uint16_t flags;
        std::uint8_t collective;
        std::uint32_t communicator;
        std::int32_t peer;
        std::int64_t tag, amount, request;
    };

    CallsOfTrace& trace;
    Rank rank;
    std::vector<Call>& calls;
    std::uint32_t row = 0;
    std::uint16_t label = 0;
    std::vector<std::uint32_t> of_request{};  // [request]: call
    std::unordered_map<std::int64_t, UnderWay> open{};
    std::unordered_map<std::int64_t, std::vector<Prepared>> prepared{};
    std::set<std::int64_t> staged{};  // requests that are open and have later stages

    void enter(Call::Kind kind, Rank peer, std::uint32_t communicator, std::int64_t tag, std::uint32_t call) {
        if (peer < 0 || peer >= static_cast<Rank>(trace.calls_.size()))
            throw InputError(place(rank, row) + "a message of rank " + std::to_string(peer) + ": 0 to " +
                             std::to_string(trace.calls_.size() - 1) + " are allowed");
        const bool sends = kind == Call::send;
        const Key key{communicator, sends ? rank : peer, sends ? peer : rank, tag};
        const auto [found, is_new] = trace.ends_.try_emplace(key);
        if (is_new) trace.keys_.push_back(key);
        (sends ? found->second.sends : found->second.receives).push_back({rank, call});
        calls[call].peer = static_cast<std::uint32_t>(peer);
    }
    // Returns the call.
    std::uint32_t begin(Call::Kind kind, std::int64_t bytes, bool synchronous, bool in_collective,
                        UnderWay& under_way) {
        if (bytes < 0) throw InputError(place(rank, row) + "a message of " + std::to_string(bytes) + " bytes");
        const auto call = static_cast<std::uint32_t>(calls.size());
        calls.push_back({kind, synchronous, in_collective, label, 0, 0, row, bytes});
        under_way.requests.push_back(static_cast<std::uint32_t>(of_request.size()));
        of_request.push_back(call);
        return call;
    }
    void wait(std::uint32_t request) { calls.push_back({Call::wait, false, false, label, request, 0, row, 0}); }
    // The messages of the next stage of a collective call.
    void begin_stage(UnderWay& under_way) {
        const CollectiveStage stage = std::move(under_way.later.back());
        under_way.later.pop_back();
        const auto enter_one = [&](Call::Kind kind, Rank peer, std::int64_t bytes) {
            enter(kind, peer, under_way.communicator, under_way.tag, begin(kind, bytes, false, true, under_way));
        };
        for (const Rank from : stage.receives) enter_one(Call::receive, from, 0);
        for (const CollectiveStage::Sent& sent : stage.sends) enter_one(Call::send, sent.to, sent.bytes);
    }
    void begin_all_stages() {
        for (const std::int64_t request : staged)
            while (!open[request].later.empty()) begin_stage(open[request]);
        staged.clear();
    }
    void end(UnderWay under_way) {
        if (trace.at_once_) begin_all_stages();
        for (;;) {
            for (const std::uint32_t request : under_way.requests) wait(request);
            under_way.requests.clear();
            if (under_way.later.empty()) return;
            begin_stage(under_way);
        }
    }
    void begin_message(const Prepared& row_of, UnderWay& under_way) {
        const auto kind = row_of.kind == RowKind::send ? Call::send : Call::receive;
        const bool in_collective = row_of.tag < TraceRows::any;  // no tag of a message
        const std::uint32_t call =
            begin(kind, row_of.amount, row_of.flags & TraceRows::synchronous, in_collective, under_way);
        if (kind == Call::receive && row_of.flags & (TraceRows::any_source | TraceRows::any_tag))
            trace.wild_[static_cast<std::size_t>(rank)][call] = row_of.flags;
        if (kind == Call::receive && (row_of.peer == TraceRows::any || row_of.tag == TraceRows::any)) {
            under_way.communicator = row_of.communicator;
            under_way.from_anywhere.push_back(call);
        } else {
            enter(kind, row_of.peer, row_of.communicator, row_of.tag, call);
        }
    }
    UnderWay begin_collective(const Prepared& row_of) {
        const std::vector<Rank>& members = trace.members(row_of.communicator, rank, row);
        const auto place_of = [&](Rank each) {
            return static_cast<Rank>(std::find(members.begin(), members.end(), each) - members.begin());
        };
        const auto all = static_cast<Rank>(members.size());
        const Rank here = place_of(rank), root = row_of.peer < 0 ? 0 : place_of(row_of.peer);
        if (here == all || root == all)
            throw InputError(place(rank, row) + "a collective call of communicator " +
                             std::to_string(row_of.communicator) + ", to which rank " +
                             std::to_string(here == all ? rank : row_of.peer) + " does not belong");
        if (row_of.collective >= std::size(collective_names))
            throw InputError(place(rank, row) + "no collective call has the number " +
                             std::to_string(row_of.collective));
        UnderWay under_way;
        under_way.communicator = row_of.communicator;
        under_way.tag = -1 - trace.instances_[static_cast<std::size_t>(rank)][row_of.communicator]++;
        under_way.tag += TraceRows::any;  // no tag of a message
        under_way.later =
            stages_of(static_cast<Collective>(row_of.collective), here, all, root, row_of.amount, trace.allreduce_);
        std::reverse(under_way.later.begin(), under_way.later.end());
        for (CollectiveStage& stage : under_way.later) {
            for (CollectiveStage::Sent& sent : stage.sends) sent.to = members[static_cast<std::size_t>(sent.to)];
            for (Rank& from : stage.receives) from = members[static_cast<std::size_t>(from)];
        }
        if (!under_way.later.empty()) begin_stage(under_way);
        return under_way;
    }
    void carry_out(const Prepared& row_of, bool in_the_background) {
        if (row_of.flags & TraceRows::joined) {
            const auto found = open.find(row_of.request);
            if (found == open.end()) throw InputError(place(rank, row) + "joins a request that is not open");
            begin_message(row_of, found->second);
            return;
        }
        UnderWay under_way;
        if (row_of.kind == RowKind::collective)
            under_way = begin_collective(row_of);
        else
            begin_message(row_of, under_way);
        if (!in_the_background && !under_way.from_anywhere.empty())
            throw InputError(place(rank, row) + "a receive that takes any message, and no wait names which it was");
        if (row_of.flags & TraceRows::buffered) return;
        if (!in_the_background) {
            end(std::move(under_way));
            return;
        }
        if (under_way.later.empty())
            staged.erase(row_of.request);
        else
            staged.insert(row_of.request);
        under_way.row = row;
        open[row_of.request] = std::move(under_way);
    }
    void end_request(const TraceRows& rows, std::size_t i) {
        staged.erase(rows.request[i]);
        if (rows.flags[i] & TraceRows::freed) {
            prepared.erase(rows.request[i]);
            open.erase(rows.request[i]);
            return;
        }
        const auto found = open.find(rows.request[i]);
        if (found == open.end()) return;  // one that has ended, or was begun before the trace
        UnderWay under_way = std::move(found->second);
        open.erase(found);
        if (rows.flags[i] & TraceRows::cancelled) {
            for (const std::uint32_t request : under_way.requests)
                trace.cancelled_[static_cast<std::size_t>(rank)].insert(of_request[request]);
            return;
        }
        for (const std::uint32_t call : under_way.from_anywhere)
            enter(Call::receive, rows.peer[i], under_way.communicator, rows.tag[i], call);
        end(std::move(under_way));
    }
    void add(const TraceRows& rows, std::size_t i) {
        row = static_cast<std::uint32_t>(i);
        label = rows.label[i];
        if (label >= trace.labels_.size())
            throw InputError(place(rank, i) + "label " + std::to_string(label) + " of " +
                             std::to_string(trace.labels_.size()));
        const auto kind = static_cast<RowKind>(rows.kind[i]);
        switch (kind) {
            case RowKind::compute:
                if (rows.amount[i] < 0) throw InputError(place(rank, i) + "a computation of negative time");
                if (rows.amount[i] > 0)
                    calls.push_back({Call::compute, false, false, label, 0, 0, row, rows.amount[i]});
                return;
            case RowKind::wait: end_request(rows, i); return;
            case RowKind::start:
                if (const auto found = prepared.find(rows.request[i]); found != prepared.end())
                    for (const Prepared& each : found->second) carry_out(each, true);
                return;
            case RowKind::send:
            case RowKind::receive:
            case RowKind::collective: {
                const Prepared given{kind,         rows.flags[i], rows.collective[i], rows.communicator[i],
                                     rows.peer[i], rows.tag[i],   rows.amount[i],     rows.request[i]};
                if (!(given.flags & TraceRows::persistent)) {
                    carry_out(given, given.flags & TraceRows::nonblocking);
                    return;
                }
                std::vector<Prepared>& all = prepared[given.request];
                if (!(given.flags & TraceRows::joined)) all.clear();
                all.push_back(given);
                return;
            }
        }
        throw InputError(place(rank, i) + "no row has the kind " + std::to_string(rows.kind[i]));
    }
};

CallsOfTrace::CallsOfTrace(Rank ranks, std::vector<std::string> labels, AllReduceSchedule allreduce, bool at_once)
    : calls_(static_cast<std::size_t>(ranks)),
      labels_(std::move(labels)),
      allreduce_(std::move(allreduce)),
      at_once_(at_once),
      instances_(static_cast<std::size_t>(ranks)),
      cancelled_(static_cast<std::size_t>(ranks)),
      wild_(static_cast<std::size_t>(ranks)) {
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
    for (const auto& [request, under_way] : writer.open) never_awaited_.emplace_back(rank, under_way.row);
}

// MPI keeps the order of messages between two ranks with one tag: the n-th receive is of the n-th send. Receives that
// take any message are known by their waits, and stand in the order in which they were posted.
Calls CallsOfTrace::finish() && {
    std::vector<Unmatched> unmatched;
    // All sends and receives, until they are matched.
    std::vector<std::vector<bool>> left_out(calls_.size());
    bool leaves_out = false;
    for (std::size_t r = 0; r < calls_.size(); ++r)
        for (const Call& call : calls_[r]) left_out[r].push_back(call.kind == Call::send || call.kind == Call::receive);
    for (const Key& key : keys_) {
        auto& [sends, receives] = ends_.at(key);
        std::sort(receives.begin(), receives.end(), [](const End& a, const End& b) { return a.call < b.call; });
        for (std::vector<End>* const ends : {&sends, &receives})
            std::erase_if(*ends, [&](const End& end) {
                return cancelled_[static_cast<std::size_t>(end.rank)].contains(end.call);
            });
        const std::size_t both = std::min(sends.size(), receives.size());
        for (std::size_t i = 0; i < both; ++i) {
            Call& send = calls_[static_cast<std::size_t>(key.from)][sends[i].call];
            Call& receive = calls_[static_cast<std::size_t>(key.to)][receives[i].call];
            receive.amount = send.amount;
            receive.message = sends[i].call;  // for now
            if (key.tag == TraceRows::block_tag && send.amount == 0) continue;
            left_out[static_cast<std::size_t>(key.from)][sends[i].call] = false;
            left_out[static_cast<std::size_t>(key.to)][receives[i].call] = false;
        }
        const auto leave_out = [&](const std::vector<End>& ends, bool is_send) {
            for (std::size_t i = both; i < ends.size(); ++i) {
                const auto rank = static_cast<std::size_t>(ends[i].rank);
                const Call& call = calls_[rank][ends[i].call];
                unmatched.push_back({ends[i].rank, is_send ? key.to : key.from, is_send, key.communicator, call.row,
                                     key.tag, call.amount});
            }
        };
        leave_out(sends, true);
        leave_out(receives, false);
    }
    const auto known = receive_keys_by_call();
    std::vector<std::vector<ReceiveKey>> receive_keys(calls_.size());  // [rank][message]
    // Messages are numbered in the order of their receives.
    for (std::size_t r = 0; r < calls_.size(); ++r) {
        std::uint32_t number = 0;
        for (std::size_t i = 0; i < calls_[r].size(); ++i) {
            Call& call = calls_[r][i];
            leaves_out = leaves_out || left_out[r][i];
            if (call.kind != Call::receive || left_out[r][i]) continue;
            calls_[call.peer][call.message].message = number;
            call.message = number++;
            if (!wild_[r].empty()) receive_keys[r].push_back(known[r].at(static_cast<std::uint32_t>(i)));
        }
    }
    if (leaves_out)
        for (std::size_t r = 0; r < calls_.size(); ++r) {
            std::vector<std::int64_t> renumbered;  // [request]; -1: left out
            std::uint32_t requests = 0;
            std::vector<Call> kept;
            for (std::size_t i = 0; i < calls_[r].size(); ++i) {
                Call call = calls_[r][i];
                if (call.kind == Call::send || call.kind == Call::receive) {
                    renumbered.push_back(left_out[r][i] ? -1 : std::int64_t{requests++});
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
    std::sort(never_awaited_.begin(), never_awaited_.end());
    return Calls(std::move(calls_), std::move(labels_), std::move(unmatched), std::move(receive_keys),
                 std::move(never_awaited_));
}

std::vector<std::unordered_map<std::uint32_t, ReceiveKey>> CallsOfTrace::receive_keys_by_call() const {
    std::vector<std::unordered_map<std::uint32_t, ReceiveKey>> found(calls_.size());
    for (const Key& key : keys_) {
        const auto r = static_cast<std::size_t>(key.to);
        if (wild_[r].empty()) continue;
        for (const End& end : ends_.at(key).receives) {
            const auto wild = wild_[r].find(end.call);
            const std::uint16_t flags = wild == wild_[r].end() ? 0 : wild->second;
            found[r][end.call] = {key.communicator, key.tag, (flags & TraceRows::any_source) != 0,
                                  (flags & TraceRows::any_tag) != 0};
        }
    }
    return found;
}

}  // namespace tradewind::program
