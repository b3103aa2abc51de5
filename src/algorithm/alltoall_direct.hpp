// Common part of the all-to-all algorithms that send each block straight to its receiver.
#pragma once

#include <memory>

#include "pattern/transpose.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Each message is one block of the transposition. An algorithm defines only the order: which position of the group is
// met in which stage. Positions run over 0..n-1 where n is the larger of the numbers of senders and receivers; a
// position that has no rank is passed over. What a rank has for itself is a copy, in the stage where it would be sent.
class DirectAllToAll : public schedule::Schedule {
  public:
    DirectAllToAll(std::shared_ptr<const pattern::Transpose> transpose, std::string algorithm)
        : Schedule(transpose, std::move(algorithm)), transpose_(std::move(transpose)) {}

    int sends(Rank rank, int stage) const final;
    int receives(Rank rank, int stage) const final;
    schedule::Message send(Rank rank, int stage, int j) const final;
    schedule::Message receive(Rank rank, int stage, int j) const final;
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const final;
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const final;
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const final;

  protected:
    // Whom a position meets; tag and parity as in Message.
    struct Meeting {
        Index position;
        std::int32_t tag;
        std::int8_t parity;
    };
    // The number of positions that one position of a group of n meets in a stage.
    virtual int meetings(Index n, int stage) const = 0;
    // The j-th position that receives from position p of n, and the j-th one that sends to it.
    virtual Meeting receiver(Index p, Index n, int stage, int j) const = 0;
    virtual Meeting sender(Index q, Index n, int stage, int j) const = 0;

    // Whether a position and itself are two ranks in some group, so that they must meet as any other two do.
    bool meets_itself() const { return !transpose_->closed(); }
    const pattern::Transpose& transpose() const { return *transpose_; }

  private:
    // The message between a rank and one that it meets.
    static schedule::Message message(const pattern::Transpose::InGroup& here, Rank rank, const Meeting& meeting);

    std::shared_ptr<const pattern::Transpose> transpose_;
};

}  // namespace tradewind::algorithm
