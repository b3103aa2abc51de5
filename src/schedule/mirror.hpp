#pragma once

#include "schedule/schedule.hpp"

namespace tradewind::schedule {

// A schedule from its last stage to its first, with everything that was sent received and everything that was received
// sent: what a rank received into its target array it sends from there, and what it sent from its source array comes
// back. Of a schedule that moves data the mirror adds, which is its adjoint; the mirror of that moves data again.
class Mirror : public Schedule {
  public:
    // `pattern`: whose sources are the targets of the schedule's, and its targets the sources.
    Mirror(std::shared_ptr<const Schedule> schedule, std::shared_ptr<const pattern::Pattern> pattern);

    int stages() const override { return schedule_->stages(); }
    int sends(Rank rank, int stage) const override { return schedule_->receives(rank, mirrored(stage)); }
    int receives(Rank rank, int stage) const override { return schedule_->sends(rank, mirrored(stage)); }
    Message send(Rank rank, int stage, int j) const override { return schedule_->receive(rank, mirrored(stage), j); }
    Message receive(Rank rank, int stage, int j) const override { return schedule_->send(rank, mirrored(stage), j); }
    void send_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const override;
    void receive_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const override;
    void copies(Rank rank, int stage, std::vector<Copy>& copies) const override;
    bool adds() const override { return !schedule_->adds(); }
    Index scratch(Rank rank) const override { return schedule_->scratch(rank); }

    bool has_runs() const override { return schedule_->has_runs(); }
    RunList send_runs(Rank rank, int stage, int j) const override;
    RunList receive_runs(Rank rank, int stage, int j) const override;
    RunCopy kept_runs(Rank rank, int stage) const override;

  private:
    int mirrored(int stage) const { return schedule_->stages() - 1 - stage; }

    std::shared_ptr<const Schedule> schedule_;
};

}  // namespace tradewind::schedule
