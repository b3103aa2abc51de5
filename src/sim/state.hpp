// The state of a simulation at one time, in words that do not depend on when that is: times count from it, and stages
// from those of a repetition. What two such states have in common, all that follows has.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/event.hpp"
#include "sim/repeated.hpp"

namespace tradewind::sim {

class Ranks;
struct World;

struct State {
    std::array<std::uint64_t, 2> hash{};
    // Where it is kept: words in the order of ranks and ports, and records of what has no order, sorted.
    std::vector<std::uint64_t> words;
    using Record = std::array<std::uint64_t, 8>;
    std::vector<Record> records;

    bool operator==(const State&) const = default;
};

class StateWriter {
  public:
    // `ranks`: of each part. `kept`: all of the state, not its hash alone.
    StateWriter(const World& world, const Repeated& repeated, std::int64_t repetition, std::int64_t now,
                std::vector<const Ranks*> ranks, bool kept)
        : world_(world),
          repeated_(repeated),
          repetition_(repetition),
          now_(now),
          ranks_(std::move(ranks)),
          kept_(kept) {}

    void put(std::uint64_t word) {
        hash_[0] = fold(hash_[0] ^ word, 0x9e3779b97f4a7c15);
        hash_[1] = fold(hash_[1] + word, 0xd6e8feb86659fd93) + 1;
        if (kept_) state_.words.push_back(word);
    }
    void put(std::uint64_t high, std::uint64_t low) { put(high << 32 | (low & 0xffffffff)); }
    // One of several things without an order. The first word is their kind.
    void put(const State::Record& record);
    // It holds what no words are made of.
    void refuse() { refused_ = true; }
    bool refused() const { return refused_; }

    std::uint64_t time(std::int64_t t) const { return static_cast<std::uint64_t>(t - now_); }
    // Until which something is busy: for what comes from now on it does not matter for how long it has been free.
    std::uint64_t busy(std::int64_t t) const { return t <= now_ ? 0 : time(t); }
    bool is_past(std::int64_t t) const { return t <= now_; }
    // For those that ask whether it was before a time to come.
    std::uint64_t before(std::int64_t t) const { return t < now_ ? 0 : time(t) + 1; }

    std::uint32_t stage(Rank rank, std::uint32_t stage) const { return repeated_.relative(rank, stage, repetition_); }
    std::uint32_t operation(Rank rank, std::uint32_t operation) const {
        return operation - static_cast<std::uint32_t>(repetition_) * repeated_.operations(rank);
    }
    // A packet or an action of a rank as words.
    std::array<std::uint64_t, 7> packet(const Event& event) const;
    std::array<std::uint64_t, 7> action(const Event& event) const;
    // A message that its receiver has asked for: its sender and number, how much of it is to come, and when the last of
    // it came.
    struct Pulled {
        std::uint32_t source, stage, message;
        std::int64_t left, time;
    };
    Pulled pulled(Rank receiver, std::uint32_t record) const;
    void put_pull(std::array<std::uint64_t, 7>& words, const Pulled& pull) const;

    State finish() &&;

  private:
    static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
        const auto product = static_cast<unsigned __int128>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }

    const World& world_;
    const Repeated& repeated_;
    std::int64_t repetition_, now_;
    std::vector<const Ranks*> ranks_;
    bool kept_, refused_ = false;
    std::array<std::uint64_t, 2> hash_{1, 2}, sum_{};
    State state_;
};

// Kinds of records, and of words beside those of ranks.
enum StateKind : std::uint64_t {
    of_packet = 1,
    of_action,
    of_early,
    of_unexpected,
    of_job,
    of_port,
    of_channel,
    of_exit
};

// Counts that only ever grow, by how much they have grown since it began.
class Tally {
  public:
    template <class Count>
    void operator()(Count& count) {
        const auto now = static_cast<unsigned __int128>(count);
        if (times_ == 0) {
            before_.push_back(now);
            return;
        }
        const unsigned __int128 before = at_ < before_.size() ? before_[at_] : 0;
        ++at_;
        count = static_cast<Count>(now + times_ * (now - before));
    }
    // From now on counts grow by as much `times` times again; they come in the same order, new ones at the end.
    void repeat(std::uint64_t times) { times_ = times; }

  private:
    std::vector<unsigned __int128> before_;
    std::size_t at_ = 0;
    std::uint64_t times_ = 0;
};

}  // namespace tradewind::sim
