#include "algorithm/gather_scatter_reduced.hpp"

#include "algorithm/registry.hpp"
#include "pattern/allreduce.hpp"

namespace tradewind::algorithm {

namespace {

class GatherScatterReduced : public schedule::Schedule {
  public:
    // `reduce`: none where no id is shared.
    GatherScatterReduced(std::shared_ptr<const pattern::GatherScatter> whole, const std::string& algorithm,
                         std::shared_ptr<const schedule::Schedule> reduce)
        : Schedule(whole, "allreduce-" + algorithm), whole_(std::move(whole)), reduce_(std::move(reduce)) {}

    int stages() const override { return reduce_ ? reduce_->stages() : 0; }
    int sends(Rank rank, int stage) const override { return reduce_->sends(rank, stage); }
    int receives(Rank rank, int stage) const override { return reduce_->receives(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override {
        return with_levels(reduce_->send(rank, stage, j));
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        return with_levels(reduce_->receive(rank, stage, j));
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const std::size_t first = pieces.size();
        reduce_->send_pieces(rank, stage, j, pieces);
        with_levels(pieces, first);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const std::size_t first = pieces.size();
        reduce_->receive_pieces(rank, stage, j, pieces);
        with_levels(pieces, first);
    }
    bool combines(int stage) const override { return reduce_->combines(stage); }
    bool numbered() const override { return true; }

  private:
    schedule::Message with_levels(schedule::Message message) const {
        message.count *= whole_->depth();
        return message;
    }
    // A reduction works in place: its source array is the target, too.
    void with_levels(std::vector<schedule::Piece>& pieces, std::size_t first) const {
        for (std::size_t i = first; i < pieces.size(); ++i) {
            pieces[i].buffer = schedule::Buffer::source;
            pieces[i].box.end[layout::Y] = whole_->levels()[0];
            pieces[i].box.end[layout::Z] = whole_->levels()[1];
        }
    }

    std::shared_ptr<const pattern::GatherScatter> whole_;
    std::shared_ptr<const schedule::Schedule> reduce_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> gather_scatter_reduced(std::shared_ptr<const pattern::GatherScatter> whole,
                                                                 const std::string& algorithm) {
    std::shared_ptr<const schedule::Schedule> reduce;
    if (whole->shared() > 0)
        reduce = make_schedule(std::make_shared<pattern::AllReduce>(whole->ranks(), whole->shared()), algorithm);
    return std::make_shared<GatherScatterReduced>(std::move(whole), algorithm, std::move(reduce));
}

}  // namespace tradewind::algorithm
