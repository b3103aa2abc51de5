#include "sim/recorder.hpp"

#include <algorithm>

namespace tradewind::sim {

Recorder::Recorder(const std::vector<Rank>& shown, std::uint32_t lines, std::uint32_t nics_per_node)
    : shown_(shown),
      lines_(lines),
      nics_(nics_per_node),
      open_(shown.size(), Open{std::vector<std::int64_t>(lines), std::vector<Sending>(2 * lines * nics_per_node)}) {}

Recorder::Open* Recorder::open(Rank rank) {
    const auto found = std::lower_bound(shown_.begin(), shown_.end(), rank);
    return found == shown_.end() || *found != rank ? nullptr : &open_[static_cast<std::size_t>(found - shown_.begin())];
}

void Recorder::add(const TraceEvent& event) {
    if (event.end > event.begin) events_.push_back(event);
}

void Recorder::begin_stage(Rank rank, std::uint32_t stage, std::int64_t begin, std::int64_t posted,
                           std::int64_t computed, bool by_thread) {
    Open* const o = open(rank);
    if (!o) return;
    o->begin[line(stage)] = begin;
    add({rank, stage, {begin}, {posted}, TraceEventKind::post, -1, by_thread});
    add({rank, stage, {posted}, {computed}, TraceEventKind::compute, -1, by_thread});
}

void Recorder::end_stage(Rank rank, std::uint32_t stage, std::int64_t end) {
    if (const Open* const o = open(rank)) add({rank, stage, {o->begin[line(stage)]}, {end}, TraceEventKind::stage});
}

void Recorder::match(Rank rank, std::uint32_t stage, std::int64_t begin, std::int64_t end, bool by_thread) {
    if (open(rank)) add({rank, stage, {begin}, {end}, TraceEventKind::match, -1, by_thread});
}

void Recorder::copy(Rank from, Rank to, std::uint32_t stage, std::int64_t bytes, std::int64_t begin, std::int64_t end) {
    if (open(from)) add({from, stage, {begin}, {end}, TraceEventKind::copy, to, 0, bytes});
}

void Recorder::sending(Rank rank, std::uint32_t stage, std::uint32_t nic, bool pulled, std::int64_t left,
                       std::int64_t begin) {
    Open* const o = open(rank);
    if (!o) return;
    Sending& message = sending(*o, stage, nic, pulled);
    if (message.bytes == 0) message.bytes = left;
    if (message.bytes == left) message.begin = begin;  // nothing has left yet
}

void Recorder::sent(Rank rank, std::uint32_t stage, std::uint32_t nic, bool pulled, Rank peer, std::int64_t end) {
    Open* const o = open(rank);
    if (!o) return;
    Sending& message = sending(*o, stage, nic, pulled);
    add({rank, stage, {message.begin}, {end}, TraceEventKind::send, peer, nic, message.bytes});
    message = {};
}

void Recorder::begin_operation(Rank rank, std::int64_t begin) {
    if (Open* const o = open(rank); o && o->operation == none) o->operation = begin;
}

void Recorder::end_operation(Rank rank, std::uint32_t step, TraceEventKind kind, std::int64_t end) {
    Open* const o = open(rank);
    if (!o) return;
    add({rank, step, {o->operation}, {end}, kind});
    o->operation = none;
}

void Recorder::arrive(Rank rank, std::uint32_t stage, Rank peer, std::int64_t bytes, std::int64_t time) {
    if (!open(rank)) return;
    Arrived& arrived = arrived_[{rank, stage, peer}];
    arrived.bytes += bytes;
    arrived.time = std::max(arrived.time, time);
}

void Recorder::add_to(std::vector<TraceEvent>& events) const {
    events.insert(events.end(), events_.begin(), events_.end());
    for (const auto& [key, arrived] : arrived_) {
        const auto& [rank, stage, peer] = key;
        events.push_back(
            {rank, stage, {arrived.time}, {arrived.time}, TraceEventKind::arrival, peer, 0, arrived.bytes});
    }
}

}  // namespace tradewind::sim
