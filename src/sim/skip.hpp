// Skips the repetitions of a program that are the same as those before them but for the time.
//
// A while after the first rank has begun a repetition, always the same, the state of all ranks, ports and events is
// written down, as times and stages from there on (see state.hpp). Where two states have one hash, the next period is
// simulated as well, and its end compared with its beginning word by word: if they are equal, so is all that follows,
// as long as no rank comes to the end of the repetitions. So whole periods are left out of the program, and what they
// would have counted is added. Neither a state nor a result depends on where windows began; but in some states
// senders are a few packets ahead of the window: so from each such time on windows begin anew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/part.hpp"
#include "sim/repeated.hpp"
#include "sim/report.hpp"
#include "sim/state.hpp"

namespace tradewind::sim {

class Skip {
  public:
    // Why all repetitions of a simulation have to be simulated; empty: they need not be. `spreads`: of its routing.
    static std::string obstacle(const SimulationOptions& options, const program::Program& program, bool spreads);

    // `program`: that of the world, which becomes shorter.
    Skip(World& world, program::Program& program, const std::vector<std::unique_ptr<Part>>& parts);

    bool is_useful() const { return repeated_.times() > 0; }
    // Between windows: whether to act before the next one.
    bool due(const Report& all) const {
        return is_cutting_ ? parts_[0]->outbox().start_of(all.next) >= cut_ : all.begun != Wheel::never;
    }
    // By one thread while the others wait. Returns the next window.
    std::int64_t act(const Report& all);

    // Adds what was skipped to the result of the shorter program. Throws InputError where the clock does not go so far.
    void complete(SimulationResult& result) const;

  private:
    struct Cut {
        std::int64_t repetition = 0, time = 0;
        std::size_t step = 0;  // the first one that some rank has not ended
    };
    struct Seen {
        std::int64_t repetition;
        std::array<std::uint64_t, 2> hash;
    };
    // Maximum repetitions of a period, and those that are looked at in a row; then, for a while, none.
    static constexpr std::int64_t in_a_row = 12, pause = 4;

    void watch(std::int64_t repetition);
    void watch_next(std::int64_t repetition);
    void look(const Cut& cut);
    bool write(const Cut& cut, bool kept, State& state);
    Cut cut_here();
    std::int64_t furthest() const;
    void begin_period(const Cut& cut);
    void end_period();
    bool skip(const Cut& cut);

    World& world_;
    program::Program& program_;
    const std::vector<std::unique_ptr<Part>>& parts_;
    Repeated repeated_;
    std::size_t steps_;  // of the whole program
    std::int64_t watched_ = 0, row_ = 1;
    bool is_cutting_ = false;
    std::int64_t cut_ = 0;
    std::vector<Seen> seen_;
    // The period that is simulated once more, to compare and to count.
    bool in_period_ = false;
    std::int64_t target_ = 0;
    Cut begin_, end_;
    State state_;
    std::vector<Tally> tallies_;  // [part]
    std::int64_t sent_ = 0;
    std::int64_t periods_ = 0;  // skipped
};

}  // namespace tradewind::sim
