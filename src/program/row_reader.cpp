#include "program/row_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace tradewind::program {

RowReader::RowReader(CallsOfTrace& trace, Rank rank, const RowSequence& sequence, std::vector<Call>& calls)
    : trace_(trace), rank_(rank), sequence_(sequence), calls_(calls) {
    const TraceRows& rows = sequence.rows;
    std::unordered_map<std::int64_t, std::uint32_t> slots;
    rows_.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto slot = slots.try_emplace(rows.request[i], static_cast<std::uint32_t>(slots.size())).first->second;
        rows_.push_back({static_cast<RowKind>(rows.kind[i]), rows.collective[i], rows.flags[i], rows.label[i],
                         rows.communicator[i], rows.peer[i], rows.tag[i], rows.amount[i], rows.request[i], slot});
    }
    slots_.resize(slots.size());
    prepared_.resize(slots.size());
}

void RowReader::UnderWay::clear() {
    is_open = false;
    requests.clear();
    stages.reset();
    next_stage = 0;
    from_anywhere.clear();
}

std::string RowReader::place() const {
    return "rank " + std::to_string(rank_) + ", row " + std::to_string(number_) + ": ";
}

void RowReader::read() {
    const auto& [rows, begins, order, computing] = sequence_;
    if (begins.empty() || order.size() != computing.size())
        throw InputError("rank " + std::to_string(rank_) + ": " + std::to_string(order.size()) + " blocks of rows, " +
                         std::to_string(computing.size()) + " times of computations");
    const auto blocks = static_cast<std::int32_t>(begins.size() - 1);
    for (std::int32_t block = 0; block < blocks; ++block) {
        const auto i = static_cast<std::size_t>(block);
        if (begins[i] < 0 || begins[i] > begins[i + 1] || begins[i + 1] > static_cast<std::int64_t>(rows.size()))
            throw InputError("rank " + std::to_string(rank_) + ": block " + std::to_string(block) + " has rows " +
                             std::to_string(begins[i]) + " to " + std::to_string(begins[i + 1]) + " of " +
                             std::to_string(rows.size()));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i] < 0 || order[i] >= blocks)
            throw InputError("rank " + std::to_string(rank_) + ": block " + std::to_string(order[i]) + " of " +
                             std::to_string(blocks));
        const auto begin = static_cast<std::size_t>(begins[static_cast<std::size_t>(order[i])]);
        const auto end = static_cast<std::size_t>(begins[static_cast<std::size_t>(order[i]) + 1]);
        if (begin < end && rows_[begin].kind == RowKind::compute) rows_[begin].amount = computing[i];
        for (std::size_t row = begin; row < end; ++row, ++number_) take(rows_[row]);
    }
}

std::vector<std::uint32_t> RowReader::never_awaited() const {
    std::vector<std::uint32_t> rows;
    for (const UnderWay& each : slots_)
        if (each.is_open) rows.push_back(each.row);
    return rows;
}

void RowReader::take(Row& row) {
    label_ = row.label;
    if (label_ >= trace_.labels_.size())
        throw InputError(place() + "label " + std::to_string(label_) + " of " + std::to_string(trace_.labels_.size()));
    switch (row.kind) {
        case RowKind::compute:
            if (row.amount < 0) throw InputError(place() + "a computation of negative time");
            if (row.amount > 0) calls_.push_back({Call::compute, false, false, label_, 0, 0, number_, row.amount});
            return;
        case RowKind::wait: end_request(row); return;
        case RowKind::start:
            for (Row* const each : prepared_[row.slot]) carry_out(*each, true);
            return;
        case RowKind::send:
        case RowKind::receive:
        case RowKind::collective: {
            if (!(row.flags & TraceRows::persistent)) {
                carry_out(row, row.flags & TraceRows::nonblocking);
                return;
            }
            std::vector<Row*>& rows = prepared_[row.slot];
            if (!(row.flags & TraceRows::joined)) rows.clear();
            rows.push_back(&row);
            return;
        }
    }
    throw InputError(place() + "no row has the kind " + std::to_string(static_cast<int>(row.kind)));
}

void RowReader::carry_out(Row& row, bool in_the_background) {
    UnderWay& slot = slots_[row.slot];
    if (row.flags & TraceRows::joined) {
        if (!slot.is_open) throw InputError(place() + "joins a request that is not open");
        begin_message(row, slot);
        return;
    }
    const bool stays_open = in_the_background && !(row.flags & TraceRows::buffered);
    UnderWay& under_way = stays_open ? slot : in_call_;
    under_way.clear();
    if (row.kind == RowKind::collective)
        begin_collective(row, under_way);
    else
        begin_message(row, under_way);
    if (!in_the_background && !under_way.from_anywhere.empty())
        throw InputError(place() + "a receive that takes any message, and no wait names which it was");
    if (row.flags & TraceRows::buffered) return;
    if (!in_the_background) {
        end(under_way);
        return;
    }
    if (under_way.has_later_stages())
        staged_[row.request] = row.slot;
    else if (!staged_.empty())
        staged_.erase(row.request);
    under_way.row = number_;
    under_way.is_open = true;
}

void RowReader::begin_message(Row& row, UnderWay& under_way) {
    const auto kind = row.kind == RowKind::send ? Call::send : Call::receive;
    const bool in_collective = row.tag < TraceRows::any;  // no tag of a message
    const std::uint32_t call = begin(kind, row.amount, row.flags & TraceRows::synchronous, in_collective, under_way);
    if (kind == Call::receive && row.flags & (TraceRows::any_source | TraceRows::any_tag))
        trace_.wild_[static_cast<std::size_t>(rank_)][call] = row.flags;
    if (kind == Call::receive && (row.peer == TraceRows::any || row.tag == TraceRows::any)) {
        under_way.communicator = row.communicator;
        under_way.from_anywhere.push_back(call);
        return;
    }
    if (row.stream == MessageEnds::none) row.stream = stream(kind, row.peer, row.communicator, row.tag);
    enter(call, row.stream, row.peer, 0);
}

void RowReader::begin_collective(Row& row, UnderWay& under_way) {
    if (!row.stages) row.stages = stages_of(row);
    under_way.stages = row.stages;
    under_way.instance = static_cast<std::uint32_t>((*row.stages->instances)++);
    if (under_way.has_later_stages()) begin_stage(under_way);
}

std::shared_ptr<const RowReader::Stages> RowReader::stages_of(const Row& row) {
    const std::vector<Rank>& members = trace_.members(row.communicator, rank_, number_);
    const auto place_of = [&](Rank each) {
        return static_cast<Rank>(std::find(members.begin(), members.end(), each) - members.begin());
    };
    const auto all = static_cast<Rank>(members.size());
    const Rank here = place_of(rank_), root = row.peer < 0 ? 0 : place_of(row.peer);
    if (here == all || root == all)
        throw InputError(place() + "a collective call of communicator " + std::to_string(row.communicator) +
                         ", to which rank " + std::to_string(here == all ? rank_ : row.peer) + " does not belong");
    if (row.collective >= std::size(collective_names))
        throw InputError(place() + "no collective call has the number " + std::to_string(row.collective));
    auto stages = std::make_shared<Stages>();
    stages->instances = &instances_[row.communicator];
    const auto add = [&](Call::Kind kind, Rank member, std::int64_t bytes) {
        const Rank peer = members[static_cast<std::size_t>(member)];
        if (bytes < 0) throw InputError(place() + "a message of " + std::to_string(bytes) + " bytes");
        stages->messages.push_back(
            {kind, stream(kind, peer, row.communicator, MessageEnds::collective_tag), peer, bytes});
    };
    for (const CollectiveStage& stage :
         program::stages_of(static_cast<Collective>(row.collective), here, all, root, row.amount, trace_.allreduce_)) {
        for (const Rank from : stage.receives) add(Call::receive, from, 0);
        for (const CollectiveStage::Sent& sent : stage.sends) add(Call::send, sent.to, sent.bytes);
        stages->ends.push_back(stages->messages.size());
    }
    return stages;
}

void RowReader::begin_stage(UnderWay& under_way) {
    const Stages& stages = *under_way.stages;
    const std::size_t stage = under_way.next_stage++;
    for (std::size_t i = stage == 0 ? 0 : stages.ends[stage - 1]; i < stages.ends[stage]; ++i) {
        const Message& message = stages.messages[i];
        enter(begin(message.kind, message.bytes, false, true, under_way), message.stream, message.peer,
              under_way.instance);
    }
}

void RowReader::begin_all_stages() {
    for (const auto& [request, slot] : std::exchange(staged_, {}))
        while (slots_[slot].has_later_stages()) begin_stage(slots_[slot]);
}

void RowReader::end(UnderWay& under_way) {
    if (trace_.at_once_) begin_all_stages();
    for (;;) {
        for (const std::uint32_t request : under_way.requests) wait(request);
        under_way.requests.clear();
        if (!under_way.has_later_stages()) return;
        begin_stage(under_way);
    }
}

void RowReader::end_request(const Row& row) {
    UnderWay& under_way = slots_[row.slot];
    if (!staged_.empty()) staged_.erase(row.request);
    if (row.flags & TraceRows::freed) {
        prepared_[row.slot].clear();
        under_way.is_open = false;
        return;
    }
    if (!std::exchange(under_way.is_open, false)) return;  // one that has ended, or was begun before the trace
    if (row.flags & TraceRows::cancelled) {
        for (const std::uint32_t request : under_way.requests)
            trace_.cancelled_[static_cast<std::size_t>(rank_)].insert(of_request_[request]);
        return;
    }
    for (const std::uint32_t call : under_way.from_anywhere)
        enter(call, stream(Call::receive, row.peer, under_way.communicator, row.tag), row.peer, 0);
    end(under_way);
}

// Returns the call.
std::uint32_t RowReader::begin(Call::Kind kind, std::int64_t bytes, bool synchronous, bool in_collective,
                               UnderWay& under_way) {
    if (bytes < 0) throw InputError(place() + "a message of " + std::to_string(bytes) + " bytes");
    const auto call = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back({kind, synchronous, in_collective, label_, 0, MessageEnds::none, number_, bytes});
    under_way.requests.push_back(static_cast<std::uint32_t>(of_request_.size()));
    of_request_.push_back(call);
    return call;
}

std::uint32_t RowReader::stream(Call::Kind kind, Rank peer, std::uint32_t communicator, std::int64_t tag) {
    const auto ranks = static_cast<Rank>(trace_.calls_.size());
    if (peer < 0 || peer >= ranks)
        throw InputError(place() + "a message of rank " + std::to_string(peer) + ": 0 to " + std::to_string(ranks - 1) +
                         " are allowed");
    const bool sends = kind == Call::send;
    return trace_.ends_.stream({communicator, sends ? rank_ : peer, sends ? peer : rank_, tag});
}

void RowReader::enter(std::uint32_t call, std::uint32_t stream, Rank peer, std::uint32_t instance) {
    Call& entered = calls_[call];
    entered.peer = static_cast<std::uint32_t>(peer);
    if (entered.kind == Call::send) {
        trace_.ends_.add_send(stream, {call, instance});
    } else {
        entered.message = stream;
        trace_.ends_.add_receive(stream, {call, instance});
    }
}

}  // namespace tradewind::program
