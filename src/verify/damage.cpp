#include "verify/damage.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::verify {

namespace {

class Damaged : public schedule::Schedule {
  public:
    Damaged(std::shared_ptr<const schedule::Schedule> sound, std::string fault, Rank rank, int stage, int j)
        : Schedule(std::shared_ptr<const pattern::Pattern>(sound, &sound->pattern()), sound->algorithm()),
          sound_(std::move(sound)),
          fault_(std::move(fault)),
          rank_(rank),
          stage_(stage),
          j_(j) {
        const schedule::Message m = sound_->send(rank_, stage_, j_);
        receiver_ = m.peer;
        for (int i = 0; i < sound_->receives(receiver_, stage_); ++i) {
            const schedule::Message r = sound_->receive(receiver_, stage_, i);
            if (r.count > 0 && r.peer == rank_ && r.tag == m.tag) receive_ = i;
        }
        other_ = j_;
        for (int i = 1; i < sound_->sends(rank_, stage_) && other_ == j_; ++i) {
            const int k = (j_ + i) % sound_->sends(rank_, stage_);
            if (sound_->send(rank_, stage_, k).count > 0) other_ = k;
        }
        if (fault_ == "swap" && other_ == j_) throw InputError("swap: the rank sends only one message in this stage");
    }

    int stages() const override { return sound_->stages(); }
    bool combines(int stage) const override { return sound_->combines(stage); }
    bool adds() const override { return sound_->adds(); }
    bool numbered() const override { return sound_->numbered(); }
    Index scratch(Rank rank) const override { return sound_->scratch(rank); }
    int sends(Rank rank, int stage) const override {
        return sound_->sends(rank, stage) + (fault_ == "double" && rank == rank_ && stage == stage_);
    }
    int receives(Rank rank, int stage) const override {
        return sound_->receives(rank, stage) + (fault_ == "double" && rank == receiver_ && stage == stage_);
    }
    schedule::Message send(Rank rank, int stage, int j) const override {
        if (rank != rank_ || stage != stage_) return sound_->send(rank, stage, j);
        schedule::Message m = sound_->send(rank, stage, sent(j));
        if (j == sound_->sends(rank, stage)) m.tag += 1 << 30;
        if (j == j_ && (fault_ == "drop" || fault_ == "drop-send")) m.count = 0;
        return m;
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        if (rank != receiver_ || stage != stage_) return sound_->receive(rank, stage, j);
        schedule::Message m = sound_->receive(rank, stage, received(j));
        if (j == sound_->receives(rank, stage)) m.tag += 1 << 30;
        if (j != receive_) return m;
        if (fault_ == "drop" || fault_ == "drop-receive") m.count = 0;
        if (fault_ == "count") m.count += 1;
        if (fault_ == "tag") m.tag += 1 << 30;
        if (fault_ == "parity") m.parity ^= 1;
        return m;
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        if (rank != rank_ || stage != stage_) return sound_->send_pieces(rank, stage, j, pieces);
        int of = sent(j);
        if (fault_ == "swap" && (j == j_ || j == other_)) of = j_ + other_ - j;
        sound_->send_pieces(rank, stage, of, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        if (rank != receiver_ || stage != stage_) return sound_->receive_pieces(rank, stage, j, pieces);
        const std::size_t first = pieces.size();
        sound_->receive_pieces(rank, stage, received(j), pieces);
        if (fault_ == "misplace" && j == receive_) pieces[first].box = layout::shifted(pieces[first].box, layout::X, 1);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        if (fault_ != "no-copies" || rank != rank_ || stage != stage_) sound_->copies(rank, stage, copies);
    }

  private:
    // Which message of the sound schedule the j-th one of the rank, or of its receiver, is.
    int sent(int j) const {
        const int sends = sound_->sends(rank_, stage_);
        if (j == sends) return j_;
        return fault_ == "reverse" ? sends - 1 - j : j;
    }
    int received(int j) const { return j == sound_->receives(receiver_, stage_) ? receive_ : j; }

    std::shared_ptr<const schedule::Schedule> sound_;
    std::string fault_;
    Rank rank_, receiver_ = 0;
    int stage_, j_, receive_ = -1, other_ = 0;
};

}  // namespace

const std::vector<std::string>& damages() {
    static const std::vector<std::string> names{"drop",  "drop-send", "drop-receive", "double",  "swap",     "misplace",
                                                "count", "tag",       "parity",       "reverse", "no-copies"};
    return names;
}

std::shared_ptr<const schedule::Schedule> damaged(std::shared_ptr<const schedule::Schedule> schedule,
                                                  const std::string& fault, Rank rank, int stage, int j) {
    if (std::find(damages().begin(), damages().end(), fault) == damages().end())
        throw InputError("unknown fault '" + fault + "'");
    if (rank < 0 || rank >= schedule->ranks() || stage < 0 || stage >= schedule->stages() || j < 0 ||
        j >= schedule->sends(rank, stage) || schedule->send(rank, stage, j).count == 0)
        throw InputError("rank " + std::to_string(rank) + " sends no message " + std::to_string(j) + " in stage " +
                         std::to_string(stage));
    return std::make_shared<Damaged>(std::move(schedule), fault, rank, stage, j);
}

}  // namespace tradewind::verify
