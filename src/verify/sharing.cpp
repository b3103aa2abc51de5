#include "verify/sharing.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.hpp"
#include "base/random.hpp"
#include "schedule/text.hpp"
#include "verify/moves.hpp"

namespace tradewind::verify {

namespace {

constexpr unsigned __int128 modulus = (static_cast<unsigned __int128>(1) << 127) - 1;

unsigned __int128 sum_of(unsigned __int128 a, unsigned __int128 b) {
    return a + b >= modulus ? a + b - modulus : a + b;
}

}  // namespace

Sharing::Word Sharing::word(Rank rank, Index id, Index level) {
    const std::uint64_t r = mix(static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(level)),
                        i = static_cast<std::uint64_t>(id);
    const auto high = static_cast<unsigned __int128>(mix(mix(0x7472616465ULL, r), i)) << 64;
    return {(high | mix(mix(0x77696e64ULL, r), i)) % modulus, mix(mix(0x6f72646572ULL, r), i) | 1};
}

// A word that is not there changes nothing: cells that a rank lacks of a reduction.
Sharing::Word Sharing::combined(const Word& a, const Word& b) {
    if (a.order == 0) return b;
    if (b.order == 0) return a;
    return {sum_of(a.sum, b.sum), mix(a.order, b.order) | 1};
}

Sharing::Sharing(const schedule::Schedule& schedule, const pattern::GatherScatter& whole)
    : schedule_(schedule), whole_(whole), levels_(whole.depth()), numbered_(schedule.numbered()) {
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
        Memory& memory = memory_.emplace_back();
        const Index cells = whole.cells(rank);
        memory.cells = numbered_ ? whole.shared() : cells;
        memory.received = numbered_ ? 0 : whole.received(rank);
        memory.source.resize(static_cast<std::size_t>(memory.cells * levels_));
        memory.target.resize(static_cast<std::size_t>(memory.received * levels_));
        memory.scratch.resize(static_cast<std::size_t>(schedule.scratch(rank)));
        for (Index level = 0; level < levels_; ++level)
            for (Index cell = 0; cell < cells; ++cell) {
                const Index place = numbered_ ? whole.number(rank, cell) : cell;
                memory.source[static_cast<std::size_t>(place + memory.cells * level)] =
                    word(rank, whole.id(rank, cell), level);
            }
    }
}

Sharing::Word& Sharing::at(Rank rank, const Place& place) {
    Memory& memory = memory_[static_cast<std::size_t>(rank)];
    return (place.buffer == schedule::Buffer::source   ? memory.source
            : place.buffer == schedule::Buffer::target ? memory.target
                                                       : memory.scratch)[place.at];
}

void Sharing::append_places(Rank rank, const schedule::Piece& piece, const std::string& where,
                            std::vector<Place>& places) const {
    const Memory& memory = memory_[static_cast<std::size_t>(rank)];
    const layout::Box& box = piece.box;
    if (piece.buffer == schedule::Buffer::scratch) {
        if (piece.offset < 0 || piece.offset + box.volume() > static_cast<Index>(memory.scratch.size()))
            throw VerificationError(where + ": " + schedule::to_text(piece) + " of rank " + std::to_string(rank) +
                                    " lies beyond its scratch memory");
        for (Index i = 0; i < box.volume(); ++i)
            places.push_back({piece.buffer, static_cast<std::size_t>(piece.offset + i)});
        return;
    }
    const Index length = piece.buffer == schedule::Buffer::source ? memory.cells : memory.received;
    const layout::Box array{{0, 0, 0}, {length, whole_.levels()[0], whole_.levels()[1]}};
    if (!box.empty() && !array.contains(box))
        throw VerificationError(where + ": " + schedule::to_text(piece) + " lies outside the array of rank " +
                                std::to_string(rank));
    for (Index z = box.begin[layout::Z]; z < box.end[layout::Z]; ++z)
        for (Index y = box.begin[layout::Y]; y < box.end[layout::Y]; ++y)
            for (Index x = box.begin[layout::X]; x < box.end[layout::X]; ++x)
                places.push_back({piece.buffer, static_cast<std::size_t>(x + length * (y + whole_.levels()[0] * z))});
}

void Sharing::transfer(Rank from, const std::vector<schedule::Piece>& source, Rank to,
                       const std::vector<schedule::Piece>& target, const std::string& where) {
    std::vector<Place> read;
    pending_.push_back({from, to, {}, {}, {}});
    Write& write = pending_.back();
    if (source.size() != target.size()) throw VerificationError(where + ": its two ends have unlike numbers of pieces");
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i].box.volume() != target[i].box.volume())
            throw VerificationError(where + ": " + schedule::to_text(source[i]) + " does not fit " +
                                    schedule::to_text(target[i]));
        read.clear();
        if (source[i].buffer == schedule::Buffer::scratch) {
            const auto& kept = memory_[static_cast<std::size_t>(from)].kept;
            if (const auto at = kept.find(source[i].offset); at == kept.end() || !(at->second == source[i].box))
                throw VerificationError(where + ": " + schedule::to_text(source[i]) + " of rank " +
                                        std::to_string(from) + " holds something else by then");
        }
        if (target[i].buffer == schedule::Buffer::scratch) write.kept.push_back(target[i]);
        append_places(from, source[i], where, read);
        for (const Place& place : read) {
            write.words.push_back(at(from, place));
            if (write.words.back().order == 0 && !numbered_)
                throw VerificationError(where + ": " + schedule::to_text(source[i]) + " of rank " +
                                        std::to_string(from) + " holds nothing by then");
        }
        append_places(to, target[i], where, write.places);
    }
}

void Sharing::run_stage(int stage, const std::vector<Match>& matches) {
    pending_.clear();
    for_messages(schedule_, stage, matches, [&](const Match& m, const auto& from, const auto& to) {
        transfer(m.sender, from, m.receiver, to, to_text(m, stage));
        if (static_cast<Index>(pending_.back().words.size()) != m.count)
            throw VerificationError(to_text(m, stage) + ": its pieces have " +
                                    std::to_string(pending_.back().words.size()) + " points");
    });
    for_copies(schedule_, stage, copied_, [&](Rank rank, const schedule::Copy& copy, const std::string& where) {
        transfer(rank, {copy.from}, rank, {copy.to}, where);
    });
    const bool combines = schedule_.combines(stage);
    combines_ = combines_ || combines;
    combines ? combine_all() : write_all(stage);
}

void Sharing::write_all(int stage) {
    std::vector<std::pair<Rank, Place>> written;
    for (const Write& w : pending_) {
        for (const schedule::Piece& piece : w.kept)
            memory_[static_cast<std::size_t>(w.rank)].kept[piece.offset] = piece.box;
        for (std::size_t i = 0; i < w.places.size(); ++i) {
            at(w.rank, w.places[i]) = w.words[i];
            written.emplace_back(w.rank, w.places[i]);
        }
    }
    std::sort(written.begin(), written.end());
    const auto twice = std::adjacent_find(written.begin(), written.end());
    if (twice != written.end())
        throw VerificationError("stage " + std::to_string(stage) + ": rank " + std::to_string(twice->first) +
                                " is given element " + std::to_string(twice->second.at) + " twice");
}

// A rank's own value and what came, in ascending order of ranks.
void Sharing::combine_all() {
    std::stable_sort(pending_.begin(), pending_.end(), [](const Write& a, const Write& b) {
        return std::tie(a.rank, a.from) < std::tie(b.rank, b.from);
    });
    for (std::size_t begin = 0, end = 0; begin < pending_.size(); begin = end) {
        const Rank rank = pending_[begin].rank;
        while (end < pending_.size() && pending_[end].rank == rank) ++end;
        std::map<Place, Word> before;  // of lower ranks, until the rank's own value comes
        for (const bool own_is_in : {false, true}) {
            for (std::size_t i = begin; i < end; ++i) {
                const Write& w = pending_[i];
                if ((w.from > rank) != own_is_in) continue;
                for (std::size_t k = 0; k < w.places.size(); ++k) {
                    Word& into = own_is_in ? at(rank, w.places[k]) : before[w.places[k]];
                    into = combined(into, w.words[k]);
                }
            }
            if (own_is_in) continue;
            for (const auto& [place, word] : before) {
                Word& own = at(rank, place);
                own = combined(word, own);
            }
        }
    }
}

void Sharing::finish() {
    struct Right {
        unsigned __int128 sum = 0;
        std::uint64_t order = 0;  // of the first rank that has the id
        Rank first = -1;
    };
    const Index levels = levels_;
    std::unordered_map<Index, std::vector<Right>> right;
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank)
        for (Index cell = 0; cell < whole_.cells(rank); ++cell) {
            const Index id = whole_.id(rank, cell);
            auto& of = right.try_emplace(id, static_cast<std::size_t>(levels)).first->second;
            for (Index level = 0; level < levels; ++level)
                of[static_cast<std::size_t>(level)].sum =
                    sum_of(of[static_cast<std::size_t>(level)].sum, word(rank, id, level).sum);
        }
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank) {
        Memory& memory = memory_[static_cast<std::size_t>(rank)];
        if (!combines_)
            for (const pattern::Fold& fold : whole_.folds(rank))
                for (Index level = 0; level < levels; ++level)
                    for (Index i = 0; i < fold.length; ++i) {
                        const auto place = static_cast<std::size_t>(fold.cell + i + memory.cells * level);
                        Word sum;
                        for (std::size_t k = 0; k <= fold.parts.size(); ++k) {
                            if (k == fold.own) sum = combined(sum, memory.source[place]);
                            if (k == fold.parts.size()) break;
                            sum = combined(
                                sum,
                                memory.target[static_cast<std::size_t>(fold.parts[k] + i + memory.received * level)]);
                        }
                        memory.source[place] = sum;
                    }
        for (Index cell = 0; cell < whole_.cells(rank); ++cell)
            for (Index level = 0; level < levels; ++level) {
                const Index id = whole_.id(rank, cell), at = numbered_ ? whole_.number(rank, cell) : cell;
                const Word& word = memory.source[static_cast<std::size_t>(at + memory.cells * level)];
                Right& is = right.at(id)[static_cast<std::size_t>(level)];
                if (is.first < 0) {
                    is.first = rank;
                    is.order = word.order;
                }
                const std::string where = "rank " + std::to_string(rank) + ", id " + std::to_string(id);
                if (word.sum != is.sum)
                    throw VerificationError(where +
                                            ": it is not the combination over all ranks that have the id, each once");
                if (word.order != is.order)
                    throw VerificationError(where + ": it is combined in another order than on rank " +
                                            std::to_string(is.first) + ", and may have other bits");
            }
    }
}

}  // namespace tradewind::verify
