#pragma once

#include <memory>
#include <string>

#include "pattern/gather_scatter.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A gather-scatter whose ranks fetch the cells of others, by any schedule of a fetch.
class GatherScatterFetched : public schedule::Schedule {
  public:
    GatherScatterFetched(std::shared_ptr<const pattern::ListedGatherScatter> whole,
                         std::shared_ptr<const schedule::Schedule> fetch, std::string algorithm)
        : Schedule(whole, std::move(algorithm)), fetch_(std::move(fetch)) {}

    int stages() const override { return fetch_->stages(); }
    int sends(Rank rank, int stage) const override { return fetch_->sends(rank, stage); }
    int receives(Rank rank, int stage) const override { return fetch_->receives(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override { return fetch_->send(rank, stage, j); }
    schedule::Message receive(Rank rank, int stage, int j) const override { return fetch_->receive(rank, stage, j); }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const std::size_t first = pieces.size();
        fetch_->send_pieces(rank, stage, j, pieces);
        for (std::size_t i = first; i < pieces.size(); ++i) count_from_0(rank, pieces[i]);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        fetch_->receive_pieces(rank, stage, j, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        const std::size_t first = copies.size();
        fetch_->copies(rank, stage, copies);
        for (std::size_t i = first; i < copies.size(); ++i) count_from_0(rank, copies[i].from);
    }
    bool has_runs() const override { return fetch_->has_runs(); }
    schedule::RunList send_runs(Rank rank, int stage, int j) const override {
        return fetch_->send_runs(rank, stage, j);
    }
    schedule::RunList receive_runs(Rank rank, int stage, int j) const override {
        return fetch_->receive_runs(rank, stage, j);
    }
    schedule::RunCopy kept_runs(Rank rank, int stage) const override { return fetch_->kept_runs(rank, stage); }
    Index scratch(Rank rank) const override { return fetch_->scratch(rank); }

  private:
    // A fetch counts the points of all source arrays one after another.
    void count_from_0(Rank rank, schedule::Piece& piece) const {
        if (piece.buffer == schedule::Buffer::source)
            piece.box = layout::shifted(piece.box, layout::X, -fetch_->pattern().source_box(rank).begin[layout::X]);
    }

    std::shared_ptr<const schedule::Schedule> fetch_;
};

}  // namespace tradewind::algorithm
