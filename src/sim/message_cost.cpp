#include "sim/message_cost.hpp"

#include <algorithm>

#include "sim/clock.hpp"

namespace tradewind::sim {

namespace {

std::int64_t picoseconds(double seconds) {
    return duration_of(seconds, "a message takes");
}

// A box of an array is one run for each row, plane or all of it, as far as it spans the array.
Index runs_of(const layout::Box& box, const layout::Box& array) {
    Index runs = 1;
    bool spans = true;
    for (const int axis : {layout::X, layout::Y, layout::Z}) {
        if (!spans) runs *= box.width(axis);
        spans = spans && box.width(axis) == array.width(axis);
    }
    return runs;
}

}  // namespace

double MessageCost::runs(const program::Program::Stage& at, Rank r, const std::vector<schedule::Piece>& pieces) const {
    const pattern::Pattern& pattern = at.schedule->pattern();
    Index runs = 0;
    for (const schedule::Piece& piece : pieces) {
        if (piece.box.empty()) continue;
        const bool scratch = piece.buffer == schedule::Buffer::scratch;
        runs += scratch ? 1
                        : runs_of(piece.box, piece.buffer == schedule::Buffer::source ? pattern.source_box(r)
                                                                                      : pattern.target_box(r));
    }
    return static_cast<double>(runs) * static_cast<double>(at.bytes_per_point) /
           static_cast<double>(transport_.element.value);
}

std::int64_t MessageCost::end(Rank r, const schedule::Message& message, const program::Program::Stage& at,
                              const std::vector<schedule::Piece>& pieces, bool sending) const {
    const double size = bytes(at, message.count), parts = runs(at, r, pieces);
    if (placement_.node(r) != placement_.node(message.peer)) {
        const double packed = parts > 1 ? transport_.copies.seconds(size, parts) : 0;
        return (sending ? machine_.send_overhead : machine_.receive_overhead).value + picoseconds(packed);
    }
    const bool alike = at.schedule->pattern().ends_alike();
    const double seconds = at.schedule->combines(at.stage) ? transport_.combined_seconds(size)
                           : sending                       ? transport_.send_seconds(size, parts, alike)
                                                           : transport_.receive_seconds(size, parts, alike);
    return transport_.overhead.value / 2 + picoseconds(seconds);
}

std::int64_t MessageCost::send(Rank r, const program::Program::Stage& at, int j) const {
    const schedule::Message message = at.schedule->send(r, at.stage, j);
    if (message.count == 0) return 0;
    std::vector<schedule::Piece> pieces;
    at.schedule->send_pieces(r, at.stage, j, pieces);
    return end(r, message, at, pieces, true);
}

std::int64_t MessageCost::keep(Rank r, const program::Program::Stage& at) const {
    if (!at.schedule) return 0;
    std::vector<schedule::Copy> copies;
    at.schedule->copies(r, at.stage, copies);
    Index points = 0;
    std::vector<schedule::Piece> from, to;
    for (const schedule::Copy& copy : copies) {
        points += copy.from.box.volume();
        from.push_back(copy.from);
        to.push_back(copy.to);
    }
    const double parts = std::max(runs(at, r, from), runs(at, r, to));
    return picoseconds(transport_.copies.seconds(bytes(at, points), parts));
}

std::int64_t MessageCost::receive(Rank r, const program::Program::Stage& at) const {
    std::int64_t time = 0;
    std::vector<schedule::Piece> pieces;
    for (int j = 0, n = at.receives(r); j < n; ++j) {
        const schedule::Message message = at.schedule->receive(r, at.stage, j);
        if (message.count == 0) continue;
        pieces.clear();
        at.schedule->receive_pieces(r, at.stage, j, pieces);
        time = after(time, end(r, message, at, pieces, false), "the messages of a stage take");
    }
    return time;
}

}  // namespace tradewind::sim
