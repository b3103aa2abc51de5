// The state of ports and switches, for comparison with another time.
#pragma once

#include <cstdint>

#include "sim/state.hpp"
#include "sim/switches_common.hpp"

namespace tradewind::sim {

template <bool finite, bool compact>
void Ports<finite, compact>::write(StateWriter& out) const {
    net_.for_wired_of(outbox_.id(), [&](std::uint32_t where) {
        const Port& port = net_.port(where);
        if (port.compact_queue != Port::none) out.refuse();
        if (const std::uint64_t busy = out.busy(port.busy)) {
            out.put(of_port, where);
            out.put(busy);
        }
        if constexpr (finite)
            for (int c = 0; c < net_.channels(); ++c) {
                write_channel(out, where, c);
                if (exits_)
                    write_exit(out, where, c, port.kind == static_cast<std::uint8_t>(machine::LinkKind::terminal));
            }
    });
}

template <bool finite, bool compact>
void Ports<finite, compact>::write_channel(StateWriter& out, std::uint32_t where, int number) const {
    const Channel& channel = net_.channels(where)[number];
    const bool waits = channel.first != Port::none;
    if (!waits && channel.credit == static_cast<std::uint32_t>(net_.buffer_sizes().channel)) return;
    std::uint64_t waiting = 0;
    for (std::uint32_t id = channel.first; id != Port::none; id = waiting_[id].next) ++waiting;
    out.put(of_channel << 8 | static_cast<std::uint64_t>(number), where);
    out.put(waiting, channel.credit);
    for (std::uint32_t id = channel.first; id != Port::none; id = waiting_[id].next) {
        const Waiting& packet = waiting_[id];
        for (const std::uint64_t word : out.packet(packet.event)) out.put(word);
        out.put(packet.input);
    }
}

// A packet that has left an output buffer is known as long as no packet has needed its room, which is the same as if it
// had been forgotten.
template <bool finite, bool compact>
void Ports<finite, compact>::write_exit(StateWriter& out, std::uint32_t where, int number, bool terminal) const {
    const Exit& exit = net_.exit(where, static_cast<std::uint32_t>(number));
    std::uint64_t free = exit.free, inside = 0, outside = 0;
    std::uint32_t first = exit.first;
    if (exit.outside == Port::none)
        for (; first != Port::none && out.is_past(leaving_[first].start); first = leaving_[first].next)
            free += leaving_[first].bytes;
    for (std::uint32_t id = first; id != Port::none; id = leaving_[id].next) ++inside;
    for (std::uint32_t id = exit.outside; id != Port::none; id = waiting_[id].next) ++outside;
    const std::uint64_t entered = exit.outside == Port::none ? out.busy(exit.entered) : out.time(exit.entered);
    const auto room = static_cast<std::uint64_t>(terminal ? net_.buffer_sizes().exit : net_.buffer_sizes().output);
    if (free == room && inside == 0 && outside == 0 && entered == 0) return;
    out.put(of_exit << 8 | static_cast<std::uint64_t>(number), where);
    out.put(free);
    out.put(inside, outside);
    out.put(entered);
    for (std::uint32_t id = first; id != Port::none; id = leaving_[id].next) {
        out.put(out.time(leaving_[id].start));
        out.put(leaving_[id].bytes);
    }
}

template <bool finite, bool compact>
void CommonSwitches<finite, compact>::write(StateWriter& out) const {
    ports_.write(out);
    if (!crossbars_.empty())
        net_.for_switches_of_part(outbox_.id(), [&](std::uint32_t sw) { out.put(out.busy(crossbars_[sw])); });
}

template <bool finite, bool compact>
void CommonSwitches<finite, compact>::tally(Tally& count) {
    ports_.tally(count);
}

}  // namespace tradewind::sim
