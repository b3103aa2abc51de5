#include "schedule/text.hpp"

namespace tradewind::schedule {

namespace {

std::string message_text(const char* direction, const Message& m, const std::vector<Piece>& pieces) {
    std::string text = std::string(direction) + std::to_string(m.peer) + "  tag " + std::to_string(m.tag) +
                       "  parity " + std::to_string(m.parity) + "  " + std::to_string(m.count) +
                       (m.count == 1 ? " point  " : " points  ") + to_text(pieces.front());
    if (pieces.size() > 1) text += " and " + std::to_string(pieces.size() - 1) + " more pieces";
    return text + "\n";
}

}  // namespace

std::string to_text(const layout::Box& box) {
    std::string text = "[";
    for (int a = 0; a < 3; ++a)
        text += (a ? ", " : "") + std::string(1, layout::axis_names[a]) + " " + std::to_string(box.begin[a]) + ":" +
                std::to_string(box.end[a]);
    return text + "]";
}

std::string to_text(const Piece& piece) {
    switch (piece.buffer) {
        case Buffer::source: return "source " + to_text(piece.box);
        case Buffer::target: return "target " + to_text(piece.box);
        default: return "scratch " + std::to_string(piece.offset) + " " + to_text(piece.box);
    }
}

std::string stage_text(const Schedule& schedule, Rank rank, int stage) {
    std::string text;
    std::vector<Piece> pieces;
    for (int j = 0; j < schedule.sends(rank, stage); ++j)
        if (const Message m = schedule.send(rank, stage, j); m.count > 0) {
            pieces.clear();
            schedule.send_pieces(rank, stage, j, pieces);
            text += message_text("sends to ", m, pieces);
        }
    for (int j = 0; j < schedule.receives(rank, stage); ++j)
        if (const Message m = schedule.receive(rank, stage, j); m.count > 0) {
            pieces.clear();
            schedule.receive_pieces(rank, stage, j, pieces);
            text += message_text(
                schedule.combines(stage) && schedule.pattern().reduces() ? "combines from " : "receives from ", m,
                pieces);
        }
    std::vector<Copy> copies;
    schedule.copies(rank, stage, copies);
    for (const Copy& copy : copies) text += "copies " + to_text(copy.from) + " to " + to_text(copy.to) + "\n";
    return text;
}

}  // namespace tradewind::schedule
