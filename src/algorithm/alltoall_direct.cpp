#include "algorithm/alltoall_direct.hpp"

namespace tradewind::algorithm {

int DirectAllToAll::sends(Rank rank, int stage) const {
    const bool line = transpose_->line() >= 0;
    return meetings(line ? transpose_->largest_group() : transpose_->sending(rank).size(), stage);
}

int DirectAllToAll::receives(Rank rank, int stage) const {
    const bool line = transpose_->line() >= 0;
    return meetings(line ? transpose_->largest_group() : transpose_->receiving(rank).size(), stage);
}

schedule::Message DirectAllToAll::send(Rank rank, int stage, int j) const {
    if (transpose_->line() >= 0) {
        const pattern::Transpose::OnLine here = transpose_->on_line(rank);
        const Meeting m = receiver(here.position(), transpose_->largest_group(), stage, j);
        return {here.rank_at(m.position), m.position == here.position() ? 0 : here.volume_to(m.position), m.tag,
                m.parity};
    }
    const pattern::Transpose::InGroup here = transpose_->sending(rank);
    return message(here, rank, receiver(here.position(), here.size(), stage, j));
}

schedule::Message DirectAllToAll::receive(Rank rank, int stage, int j) const {
    if (transpose_->line() >= 0) {
        const pattern::Transpose::OnLine here = transpose_->on_line(rank);
        const Meeting m = sender(here.position(), transpose_->largest_group(), stage, j);
        return {here.rank_at(m.position), m.position == here.position() ? 0 : here.volume_from(m.position), m.tag,
                m.parity};
    }
    const pattern::Transpose::InGroup here = transpose_->receiving(rank);
    return message(here, rank, sender(here.position(), here.size(), stage, j));
}

schedule::Message DirectAllToAll::message(const pattern::Transpose::InGroup& here, Rank rank, const Meeting& m) {
    if (m.position >= here.others()) return {rank, 0, m.tag, m.parity};
    const Rank peer = here.rank_at(m.position);
    return {peer, peer == rank ? 0 : here.volume_at(m.position), m.tag, m.parity};
}

void DirectAllToAll::send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const {
    pieces.push_back({schedule::Buffer::source, transpose_->block(rank, send(rank, stage, j).peer)});
}

void DirectAllToAll::receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const {
    pieces.push_back({schedule::Buffer::target, transpose_->block(receive(rank, stage, j).peer, rank)});
}

void DirectAllToAll::copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const {
    const pattern::Transpose::InGroup here = transpose_->sending(rank);
    bool own = stage == 0 && !meets_itself();
    for (int j = 0; j < sends(rank, stage) && !own; ++j) {
        const Index position = receiver(here.position(), here.size(), stage, j).position;
        own = meets_itself() && position < here.others() && here.rank_at(position) == rank;
    }
    if (!own) return;
    if (const layout::Box block = transpose_->block(rank, rank); !block.empty())
        copies.push_back({{schedule::Buffer::source, block}, {schedule::Buffer::target, block}});
}

}  // namespace tradewind::algorithm
