// What the allreduce algorithms have in common whose messages are ranges of the vector.
#pragma once

#include <memory>

#include "pattern/allreduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind {

// An algorithm says only which elements go from whom to whom, in which stage; they are the same elements at both ends.
class RangedAllReduce : public Schedule {
  public:
    RangedAllReduce(std::shared_ptr<const AllReduce> reduce, std::string algorithm)
        : Schedule(reduce, std::move(algorithm)), count_(reduce->count()) {}

    Message send(Rank rank, int stage, int j) const final { return message(sent(rank, stage, j)); }
    Message receive(Rank rank, int stage, int j) const final { return message(received(rank, stage, j)); }
    void send_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const final {
        pieces.push_back({Buffer::source, box(sent(rank, stage, j))});
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const final {
        pieces.push_back({Buffer::target, box(received(rank, stage, j))});
    }

  protected:
    struct Range {
        Index begin, end;
    };
    // The elements of a message, from the view of one end; tag and turn as in Message.
    struct Part {
        Rank peer;
        Range range;
        std::int32_t tag = 0;
        std::int8_t turn = 0;
    };
    virtual Part sent(Rank rank, int stage, int j) const = 0;
    virtual Part received(Rank rank, int stage, int j) const = 0;

    Range all() const { return {0, count_}; }
    static Range lower_half(Range r) { return {r.begin, r.begin + (r.end - r.begin + 1) / 2}; }
    static Range upper_half(Range r) { return {lower_half(r).end, r.end}; }

  private:
    static Message message(const Part& p) { return {p.peer, p.range.end - p.range.begin, p.tag, p.turn}; }
    static Box box(const Part& p) { return AllReduce::range(p.range.begin, p.range.end); }

    Index count_;
};

}  // namespace tradewind
