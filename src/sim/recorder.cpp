#include "sim/recorder.hpp"

#include <algorithm>

namespace tradewind::sim {

Recorder::Recorder(const std::vector<Rank>& shown, std::uint32_t nics_per_node)
    : shown_(shown), open_(shown.size(), Open{0, 0, std::vector<Sending>(2 * nics_per_node)}) {}

Recorder::Open* Recorder::open(Rank rank) {
    const auto found = std::lower_bound(shown_.begin(), shown_.end(), rank);
    return found == shown_.end() || *found != rank ? nullptr : &open_[static_cast<std::size_t>(found - shown_.begin())];
}

void Recorder::add(const TraceEvent& event) {
    if (event.end > event.begin) events_.push_back(event);
}

void Recorder::begin_stage(Rank rank, std::uint32_t stage, std::int64_t begin, std::int64_t posted,
                           std::int64_t computed) {
    Open* const o = open(rank);
    if (!o) return;
    o->stage = stage;
    o->begin = begin;
    add({rank, stage, {begin}, {posted}, TraceEventKind::post});
    add({rank, stage, {posted}, {computed}, TraceEventKind::compute});
}

void Recorder::end_stage(Rank rank, std::int64_t end) {
    if (const Open* const o = open(rank)) add({rank, o->stage, {o->begin}, {end}, TraceEventKind::stage});
}

void Recorder::match(Rank rank, std::int64_t begin, std::int64_t end) {
    if (const Open* const o = open(rank)) add({rank, o->stage, {begin}, {end}, TraceEventKind::match});
}

void Recorder::copy(Rank from, Rank to, std::int64_t bytes, std::int64_t begin, std::int64_t end) {
    if (const Open* const o = open(from)) add({from, o->stage, {begin}, {end}, TraceEventKind::copy, to, 0, bytes});
}

void Recorder::sending(Rank rank, std::uint32_t nic, bool pulled, std::int64_t left, std::int64_t begin) {
    Open* const o = open(rank);
    if (!o) return;
    Sending& sending = o->sending[2 * nic + pulled];
    if (sending.bytes == 0) sending.bytes = left;
    if (sending.bytes == left) sending.begin = begin;  // nothing has left yet
}

void Recorder::sent(Rank rank, std::uint32_t nic, bool pulled, Rank peer, std::int64_t end) {
    Open* const o = open(rank);
    if (!o) return;
    Sending& sending = o->sending[2 * nic + pulled];
    add({rank, o->stage, {sending.begin}, {end}, TraceEventKind::send, peer, nic, sending.bytes});
    sending = {};
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
