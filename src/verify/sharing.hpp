// Whose values are in whose cells: a gather-scatter run on random words in place of values.
#pragma once

#include <compare>
#include <map>
#include <vector>

#include "pattern/gather_scatter.hpp"
#include "schedule/schedule.hpp"
#include "verify/match.hpp"

namespace tradewind::verify {

// Follows a gather-scatter stage by stage. The cell of rank r for an id has a word w(r, id), random modulo the prime
// p = 2^127 - 1 (see Reduction), and a combination has the sum of its words: in the end each cell must have the sum
// over the ranks that share its id, each once. Beside the sum each word has a hash of how it was combined, term by
// term: that must be one for all cells of an id, so that all copies have the same bits whatever the values are.
class Sharing {
  public:
    Sharing(const schedule::Schedule& schedule, const pattern::GatherScatter& whole);

    // Throws VerificationError, as `finish` does.
    void run_stage(int stage, const std::vector<Match>& matches);
    void finish();
    Index copied() const { return copied_; }  // points, by copies within a rank

  private:
    struct Word {
        unsigned __int128 sum = 0;
        std::uint64_t order = 0;  // of the terms; 0: nothing is there
    };
    struct Memory {
        std::vector<Word> source, target, scratch;
        std::map<Index, layout::Box> kept;  // in scratch memory, by first element
        Index cells = 0, received = 0;
    };
    struct Place {
        schedule::Buffer buffer;
        std::size_t at;
        auto operator<=>(const Place&) const = default;
    };
    struct Write {
        Rank from, rank;
        std::vector<Place> places;
        std::vector<Word> words;
        std::vector<schedule::Piece> kept;  // in scratch memory
    };

    static Word word(Rank rank, Index id, Index level);
    static Word combined(const Word& a, const Word& b);
    Word& at(Rank rank, const Place& place);
    void append_places(Rank rank, const schedule::Piece& piece, const std::string& where,
                       std::vector<Place>& places) const;
    void transfer(Rank from, const std::vector<schedule::Piece>& source, Rank to,
                  const std::vector<schedule::Piece>& target, const std::string& where);
    void write_all(int stage);
    void combine_all();

    const schedule::Schedule& schedule_;
    const pattern::GatherScatter& whole_;
    Index levels_;
    bool numbered_ = false;
    std::vector<Memory> memory_;  // of each rank
    std::vector<Write> pending_;  // of the stage: written after all reading
    bool combines_ = false;       // whether any stage did
    Index copied_ = 0;
};

}  // namespace tradewind::verify
