#include "schedule/mirror.hpp"

#include <utility>

namespace tradewind::schedule {

namespace {

void mirror(Piece& piece) {
    if (piece.buffer != Buffer::scratch)
        piece.buffer = piece.buffer == Buffer::source ? Buffer::target : Buffer::source;
}

void mirror(std::vector<Piece>& pieces, std::size_t first) {
    for (std::size_t i = first; i < pieces.size(); ++i) mirror(pieces[i]);
}

RunList mirror(RunList list) {
    list.buffer = list.buffer == Buffer::source ? Buffer::target : Buffer::source;
    return list;
}

}  // namespace

RunList Mirror::send_runs(Rank rank, int stage, int j) const {
    return mirror(schedule_->receive_runs(rank, mirrored(stage), j));
}

RunList Mirror::receive_runs(Rank rank, int stage, int j) const {
    return mirror(schedule_->send_runs(rank, mirrored(stage), j));
}

RunCopy Mirror::kept_runs(Rank rank, int stage) const {
    const RunCopy kept = schedule_->kept_runs(rank, mirrored(stage));
    return {mirror(kept.to), mirror(kept.from)};
}

Mirror::Mirror(std::shared_ptr<const Schedule> schedule, std::shared_ptr<const pattern::Pattern> pattern)
    : Schedule(std::move(pattern), schedule->algorithm()), schedule_(std::move(schedule)) {}

void Mirror::send_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const {
    const std::size_t first = pieces.size();
    schedule_->receive_pieces(rank, mirrored(stage), j, pieces);
    mirror(pieces, first);
}

void Mirror::receive_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const {
    const std::size_t first = pieces.size();
    schedule_->send_pieces(rank, mirrored(stage), j, pieces);
    mirror(pieces, first);
}

void Mirror::copies(Rank rank, int stage, std::vector<Copy>& copies) const {
    const std::size_t first = copies.size();
    schedule_->copies(rank, mirrored(stage), copies);
    for (std::size_t i = first; i < copies.size(); ++i) {
        std::swap(copies[i].from, copies[i].to);
        mirror(copies[i].from);
        mirror(copies[i].to);
    }
}

}  // namespace tradewind::schedule
