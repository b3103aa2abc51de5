// Common part of the allreduce algorithms whose messages are ranges of the vector.
#pragma once

#include <memory>

#include "pattern/allreduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// An algorithm defines only senders, receivers and elements per stage; they are the same elements at both ends.
class RangedAllReduce : public schedule::Schedule {
  public:
    RangedAllReduce(std::shared_ptr<const pattern::AllReduce> reduce, std::string algorithm)
        : Schedule(reduce, std::move(algorithm)), count_(reduce->count()) {}

    schedule::Message send(Rank rank, int stage, int j) const final { return message(sent(rank, stage, j)); }
    schedule::Message receive(Rank rank, int stage, int j) const final { return message(received(rank, stage, j)); }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const final {
        pieces.push_back({schedule::Buffer::source, box(sent(rank, stage, j))});
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const final {
        pieces.push_back({schedule::Buffer::target, box(received(rank, stage, j))});
    }

  protected:
    struct Range {
        Index begin, end;
    };
    // The elements of a message, from the view of one end; tag and parity as in Message.
    struct Part {
        Rank peer;
        Range range;
        std::int32_t tag = 0;
        std::int8_t parity = 0;
    };
    virtual Part sent(Rank rank, int stage, int j) const = 0;
    virtual Part received(Rank rank, int stage, int j) const = 0;

    Range all() const { return {0, count_}; }
    static Range lower_half(Range r) { return {r.begin, r.begin + (r.end - r.begin + 1) / 2}; }
    static Range upper_half(Range r) { return {lower_half(r).end, r.end}; }

  private:
    static schedule::Message message(const Part& p) { return {p.peer, p.range.end - p.range.begin, p.tag, p.parity}; }
    static layout::Box box(const Part& p) { return pattern::AllReduce::range(p.range.begin, p.range.end); }

    Index count_;
};

}  // namespace tradewind::algorithm
