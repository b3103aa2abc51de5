#include "sim/compact_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tradewind::sim {

namespace {

std::int32_t short_or_0(std::int64_t value) {
    return std::in_range<std::int32_t>(value) ? static_cast<std::int32_t>(value) : 0;
}

// The next number of what follows a packet's first byte.
template <class T>
void put_number(std::uint8_t*& at, T value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
}
template <class T>
T take_number(const std::uint8_t*& at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

}  // namespace

bool CompactQueue::put(Port& port, const Waiting& packet, std::int64_t duration, std::uint32_t likely) {
    const bool last = packet.size & Event::last_bit;
    if (port.compact_queue == Port::none) {
        if (last) return false;
        open(port, packet);
    }
    Line& line = lines_[port.compact_queue];
    if (line.gain == min_gain || line.waiting == max_waiting) return false;
    std::uint32_t number = find(line, packet, likely);
    if (number == max_flows) {
        if (last) return false;
        number = add(line, packet);
        if (number == max_flows) {
            --line.gain;
            return false;
        }
    }
    Flow& flow = line.flows[number];
    const Mode mode = mode_of(flow.put, line.put_start, packet);
    if (mode == whole)
        --line.gain;
    else if (line.gain < max_gain)
        ++line.gain;
    write(line, number, mode, packet);
    go_on(flow.put, mode, packet.came, packet.delay, packet.size);
    ++flow.waiting;
    ++line.waiting;
    line.put_start = packet.start + duration;
    return true;
}

void CompactQueue::open(Port& port, const Waiting& packet) {
    port.compact_queue = lines_.take();
    Line& line = lines_[port.compact_queue];
    line.first = line.put_start = line.take_start = packet.start;
    line.head = line.tail = blocks_.take();
    line.begin = line.end = 0;
    line.flows = nullptr;
    line.known = line.run = 0;
    line.gain = 0;
    line.waiting = 0;
}

void CompactQueue::close(Port& port) {
    Line& line = lines_[port.compact_queue];
    runs_.give(line.flows, line.run);
    blocks_.give(line.head);
    lines_.give(std::exchange(port.compact_queue, Port::none));
}

void CompactQueue::set_tag(Line& line, std::uint32_t number, std::uint8_t tag) {
    const std::uint32_t shift = number % 8 * 8;
    std::uint64_t& word = line.tags[number / 8];
    word = (word & ~(std::uint64_t{0xff} << shift)) | std::uint64_t{tag} << shift;
}

std::uint32_t CompactQueue::find(const Line& line, const Waiting& packet, std::uint32_t likely) {
    if (likely < line.known && is(line.flows[likely], packet)) return likely;
    return for_likely(line, tag_of(packet.to, packet.memory),
                      [&](std::uint32_t number) { return is(line.flows[number], packet); });
}

// Begins a message, in the place of one that has nothing waiting if there is no other.
std::uint32_t CompactQueue::add(Line& line, const Waiting& packet) {
    std::uint32_t number = line.known;
    if (number == max_flows) {
        number = 0;
        while (number < line.known && line.flows[number].waiting > 0) ++number;
        if (number == max_flows) return number;
    } else {
        if (line.run == 0 || number == 1u << line.run) make_room(line);
        ++line.known;
    }
    line.flows[number] = {packet.to, packet.stage, packet.memory, 0, {}, {}};
    set_tag(line, number, tag_of(packet.to, packet.memory));
    return number;
}

void CompactQueue::make_room(Line& line) {
    const int run = line.run == 0 ? shortest_run : line.run + 1;
    Flow* const flows = runs_.take(run);
    std::copy_n(line.flows, line.known, flows);
    if (line.run > 0) runs_.give(line.flows, line.run);
    line.flows = flows;
    line.run = static_cast<std::uint8_t>(run);
}

// `start`: of a packet that follows the one before without a gap.
CompactQueue::Mode CompactQueue::mode_of(const State& state, std::int64_t start, const Waiting& packet) {
    if (packet.size != state.size || packet.start != start) return whole;
    const std::int64_t shift = packet.came - (state.came + state.step);
    if (shift != 0) return std::in_range<std::int32_t>(shift) ? shifted : whole;
    return packet.delay == state.delay ? predicted : delayed;
}

// At both ends of the line, so that both predict the same.
void CompactQueue::go_on(State& state, Mode mode, std::int64_t came, std::uint32_t delay, std::uint32_t size) {
    if (mode == shifted || mode == whole) state.step = short_or_0(came - state.came);
    state.came = came;
    state.delay = delay;
    state.size = size;
}

void CompactQueue::write(Line& line, std::uint32_t flow, Mode mode, const Waiting& packet) {
    if (line.end + 1 + mode_bytes[mode] > Block::size) {
        if (line.end < Block::size) blocks_[line.tail].bytes[line.end] = continued;
        const std::uint32_t block = blocks_.take();
        blocks_[line.tail].next = block;
        line.tail = block;
        line.end = 0;
    }
    std::uint8_t* const begin = blocks_[line.tail].bytes + line.end;
    std::uint8_t* at = begin;
    put_number(at, static_cast<std::uint8_t>(flow | mode << flow_bits));
    if (mode == whole) {
        put_number(at, packet.start);
        put_number(at, packet.came);
        put_number(at, packet.size);
    } else if (mode == shifted) {
        const State& state = line.flows[flow].put;
        put_number(at, static_cast<std::int32_t>(packet.came - (state.came + state.step)));
    }
    if (mode != predicted) put_number(at, packet.delay);
    line.end = static_cast<std::uint8_t>(line.end + (at - begin));
}

// The first byte of the packet that is next.
const std::uint8_t* CompactQueue::head_of(Line& line) {
    if (line.begin == Block::size || blocks_[line.head].bytes[line.begin] == continued) {
        const std::uint32_t done = std::exchange(line.head, blocks_[line.head].next);
        blocks_.give(done);
        line.begin = 0;
    }
    return blocks_[line.head].bytes + line.begin;
}

std::int64_t CompactQueue::first_of(Line& line) {
    const std::uint8_t* at = head_of(line);
    const auto mode = take_number<std::uint8_t>(at) >> flow_bits;
    return mode == whole ? take_number<std::int64_t>(at) : line.take_start;
}

CompactQueue::Waiting CompactQueue::read(Line& line) {
    const std::uint8_t* const begin = head_of(line);
    const std::uint8_t* at = begin;
    const auto head = take_number<std::uint8_t>(at);
    const Mode mode = static_cast<Mode>(head >> flow_bits);
    Flow& flow = line.flows[head & max_flows];
    State& state = flow.take;
    Waiting packet{flow.to, state.size, flow.stage, flow.memory, line.take_start, state.came + state.step, state.delay};
    if (mode == whole) {
        packet.start = take_number<std::int64_t>(at);
        packet.came = take_number<std::int64_t>(at);
        packet.size = take_number<std::uint32_t>(at);
    } else if (mode == shifted) {
        packet.came += take_number<std::int32_t>(at);
    }
    if (mode != predicted) packet.delay = take_number<std::uint32_t>(at);
    line.begin = static_cast<std::uint8_t>(line.begin + (at - begin));
    go_on(state, mode, packet.came, packet.delay, packet.size);
    --flow.waiting;
    return packet;
}

}  // namespace tradewind::sim
