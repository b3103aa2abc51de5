// Whose values are in whose sums: an allreduce run on random words instead of vectors.
#pragma once

#include <map>
#include <vector>

#include "schedule/schedule.hpp"
#include "verify/match.hpp"

namespace tradewind::verify {

// Follows a reduction stage by stage. Rank r contributes a word w(r), random modulo the prime p = 2^127 - 1; a range of
// elements that holds the contributions of ranks r, each c(r) times, is represented by the sum of c(r) w(r). It equals
// the sum over all ranks, each once, exactly when the sum of (c(r) - 1) w(r) vanishes modulo p. If any c(r) - 1 is not
// a multiple of p, and a schedule of fewer than 127 stages cannot make it one but 0, that happens for one choice of
// w(r) in p: a wrong schedule is accepted with a probability of less than 2^-126.
class Reduction {
  public:
    explicit Reduction(const schedule::Schedule& schedule);

    // Throws VerificationError, as `finish` does.
    void run_stage(int stage, const std::vector<Match>& matches);
    // Checks that each rank has the sum over all ranks in the pattern's expected points.
    void finish() const;

  private:
    using Word = unsigned __int128;
    using Values = std::map<Index, Word>;  // by first element of a range, which ends where the next begins
    struct Write {
        Rank rank;
        Index begin, end;
        Word value;
    };

    void transfer(Rank from, const schedule::Piece& source, Rank to, const schedule::Piece& target,
                  const std::string& where);
    void write(const Write& write, bool combine);
    Values::iterator split(Values& values, Index at) const;
    std::string diagnosis(Word value) const;
    static Word word(Rank rank);
    static Word sum(Word a, Word b);

    const schedule::Schedule& schedule_;
    Index count_;
    Word all_ = 0;
    std::vector<Values> values_;  // of each rank
    std::vector<Write> pending_;  // of the stage: written after all reading
};

}  // namespace tradewind::verify
