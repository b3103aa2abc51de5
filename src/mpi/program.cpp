#include "mpi/program.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>

namespace tradewind {

Memory::Memory(Index bytes) {
    if (bytes <= 0) return;
    constexpr std::size_t line = 64;
    const std::size_t size = (static_cast<std::size_t>(bytes) + line - 1) / line * line;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(line, size)));
    if (!data_) throw std::bad_alloc();
    std::memset(data_.get(), 0, size);
}

namespace {

std::array<Index, 3> shape_of(const Box& box) {
    return {box.width(X), box.width(Y), box.width(Z)};
}

std::string shape_text(const std::array<Index, 3>& s) {
    return "(nz, ny, nx) = (" + std::to_string(s[Z]) + ", " + std::to_string(s[Y]) + ", " + std::to_string(s[X]) + ")";
}

void check_shapes(const char* what, const std::vector<Field>& fields, const Box& box, const Pattern& pattern,
                  Rank rank) {
    for (std::size_t f = 0; f < fields.size(); ++f)
        if (fields[f].shape != shape_of(box))
            throw InputError(std::string(what) + " field " + std::to_string(f) + " has the shape " +
                             shape_text(fields[f].shape) + ", but rank " + std::to_string(rank) + " of " +
                             pattern.describe() + " needs " + shape_text(shape_of(box)));
}

// The parts of a stage that share nothing but the lists they append to.
class Compiler {
  public:
    Compiler(const Schedule& schedule, Rank rank, const PlanRequest& request, int largest_tag)
        : schedule_(schedule),
          rank_(rank),
          request_(request),
          largest_tag_(largest_tag),
          element_(bytes_of(request.element)),
          fields_(static_cast<Index>(request.source.size())),
          source_(schedule.pattern().source_box(rank)),
          target_(schedule.pattern().target_box(rank)) {}

    Program compile() {
        allocate();
        for (int s = 0; s < schedule_.stages(); ++s) {
            StageProgram stage;
            add_sends(s, stage);
            temporary_used_ = 0;
            add_copies(s, stage);
            add_receives(s, stage);
            program_.stages.push_back(std::move(stage));
        }
        return std::move(program_);
    }

  private:
    struct Numbered {
        Message message;
        int j;    // its number in the schedule
        int tag;  // in MPI
    };

    // All messages of a stage in the order of the schedule, those of one pair of ranks in ascending order of tag, at
    // both ends: then they match even where MPI tags have to be used twice.
    template <typename Get>
    std::vector<Numbered> messages(int stage, int count, Get get) const {
        std::vector<Numbered> all;
        std::map<Rank, std::vector<std::size_t>> of_peer;
        for (int j = 0; j < count; ++j)
            if (const Message m = get(j); m.count > 0) {
                of_peer[m.peer].push_back(all.size());
                all.push_back({m, j, 0});
            }
        std::vector<Numbered> ordered = all;
        for (const auto& [peer, places] : of_peer) {
            std::vector<std::size_t> by_tag = places;
            std::sort(by_tag.begin(), by_tag.end(),
                      [&](std::size_t a, std::size_t b) { return all[a].message.tag < all[b].message.tag; });
            for (std::size_t i = 0; i < places.size(); ++i) {
                ordered[places[i]] = all[by_tag[i]];
                const auto number = static_cast<Index>(i) * schedule_.stages() + stage;
                ordered[places[i]].tag = static_cast<int>(number % (static_cast<Index>(largest_tag_) + 1));
            }
        }
        return ordered;
    }
    std::vector<Numbered> sends(int s) const {
        return messages(s, schedule_.sends(rank_, s), [&](int j) { return schedule_.send(rank_, s, j); });
    }
    std::vector<Numbered> receives(int s) const {
        return messages(s, schedule_.receives(rank_, s), [&](int j) { return schedule_.receive(rank_, s, j); });
    }
    std::vector<Copy> copies(int s) const {
        std::vector<Copy> all;
        schedule_.copies(rank_, s, all);
        std::erase_if(all, [](const Copy& c) { return c.from.box.empty(); });
        return all;
    }

    Index message_bytes(const Message& m) const { return m.count * element_ * fields_; }

    void allocate() {
        Index out = 0, in = 0, temporary = 0;
        for (int s = 0; s < schedule_.stages(); ++s) {
            Index stage_out = 0, stage_in = 0, stage_temporary = 0;
            for (const Numbered& n : sends(s)) stage_out += message_bytes(n.message);
            for (const Numbered& n : receives(s)) stage_in += message_bytes(n.message);
            const std::vector<Copy> local = copies(s);
            if (interfere(local))
                for (const Copy& c : local) stage_temporary += c.from.box.volume() * element_ * fields_;
            if (schedule_.combines(s)) stage_temporary += stage_in;  // room for the own values
            out = std::max(out, stage_out);
            in = std::max(in, stage_in);
            temporary = std::max(temporary, stage_temporary);
        }
        program_.outgoing = Memory(out);
        program_.incoming = Memory(in);
        program_.temporary = Memory(temporary);
        program_.scratch = Memory(schedule_.scratch(rank_) * element_ * fields_);
    }

    // The memory of a piece in one field, for a box of the given shape.
    View view(const Piece& piece, std::size_t field, const std::array<Index, 3>& shape) const {
        if (piece.buffer == Buffer::scratch) {
            const Index begin = piece.offset + static_cast<Index>(field) * schedule_.scratch(rank_);
            return {program_.scratch.data() + begin * element_, dense_strides(shape, element_)};
        }
        const bool from_source = piece.buffer == Buffer::source;
        const Field& f = from_source ? request_.source[field] : request_.target[field];
        const Box& storage = from_source ? source_ : target_;
        if (!storage.contains(piece.box)) throw InputError("a piece lies outside the array of rank " + who());
        std::byte* data = f.data;
        for (int a = 0; a < 3; ++a) data += (piece.box.begin[a] - storage.begin[a]) * f.stride[a];
        return {data, f.stride};
    }
    std::string who() const { return std::to_string(rank_) + " in " + schedule_.algorithm(); }

    // Copies between pieces and a message; several fields lie one after another in it.
    Range between(const std::vector<Piece>& pieces, std::byte* message, bool into_message, Index bytes) {
        Range range{program_.copies.size(), 0};
        std::byte* const end = message + bytes;
        for (std::size_t f = 0; f < static_cast<std::size_t>(fields_); ++f)
            for (const Piece& piece : pieces) {
                if (piece.box.empty()) continue;
                const auto shape = shape_of(piece.box);
                const View memory = view(piece, f, shape), dense{message, dense_strides(shape, element_)};
                program_.copies.push_back(into_message ? make_copy(memory, dense, shape, element_)
                                                       : make_copy(dense, memory, shape, element_));
                message += piece.box.volume() * element_;
            }
        if (message != end) throw InputError("the pieces of a message do not add up to its count: rank " + who());
        range.end = program_.copies.size();
        return range;
    }

    Range transfer(const Numbered& n, std::byte* data) {
        Range range{program_.transfers.size(), 0};
        Index left = message_bytes(n.message);
        while (left > 0) {
            const Index bytes = std::min(left, request_.largest_message.value);
            program_.transfers.push_back({n.message.peer, n.tag, data, static_cast<int>(bytes)});
            data += bytes;
            left -= bytes;
        }
        range.end = program_.transfers.size();
        return range;
    }

    void add_sends(int s, StageProgram& stage) {
        std::byte* data = program_.outgoing.data();
        stage.sent.begin = program_.transfers.size();
        std::vector<Piece> pieces;
        for (const Numbered& n : sends(s)) {
            pieces.clear();
            schedule_.send_pieces(rank_, s, n.j, pieces);
            const Index bytes = message_bytes(n.message);
            const Range pack = between(pieces, data, true, bytes);
            stage.sends.push_back({pack, transfer(n, data)});
            data += bytes;
        }
        stage.sent.end = program_.transfers.size();
    }

    void add_receives(int s, StageProgram& stage) {
        std::byte* data = program_.incoming.data();
        stage.received.begin = program_.transfers.size();
        stage.unpack.begin = program_.copies.size();
        std::vector<Incoming> incoming;
        for (const Numbered& n : receives(s)) {
            Incoming in{n.message, data, {}};
            schedule_.receive_pieces(rank_, s, n.j, in.pieces);
            const Index bytes = message_bytes(n.message);
            if (!schedule_.combines(s)) between(in.pieces, data, false, bytes);
            transfer(n, data);
            data += bytes;
            incoming.push_back(std::move(in));
        }
        stage.received.end = program_.transfers.size();
        stage.unpack.end = program_.copies.size();
        if (schedule_.combines(s)) add_combinations(std::move(incoming), stage);
        program_.most_transfers = std::max(program_.most_transfers, stage.sent.size() + stage.received.size());
    }

    struct Incoming {
        Message message;
        std::byte* data;
        std::vector<Piece> pieces;
    };
    static bool same(const std::vector<Piece>& a, const std::vector<Piece>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Piece& p, const Piece& q) {
            return p.buffer == q.buffer && p.box == q.box && p.offset == q.offset;
        });
    }

    void add_combinations(std::vector<Incoming> incoming, StageProgram& stage) {
        std::stable_sort(incoming.begin(), incoming.end(),
                         [](const Incoming& a, const Incoming& b) { return a.message.peer < b.message.peer; });
        std::vector<bool> done(incoming.size());
        for (std::size_t i = 0; i < incoming.size(); ++i) {
            if (done[i]) continue;
            Combination c;
            std::size_t own = 0;
            for (std::size_t k = i; k < incoming.size(); ++k)
                if (!done[k] && same(incoming[i].pieces, incoming[k].pieces)) {
                    done[k] = true;
                    own += incoming[k].message.peer < rank_;
                    c.parts.push_back(incoming[k].data);
                }
            c.own = own;
            add_own(incoming[i], c);
            stage.combinations.push_back(std::move(c));
        }
    }

    // The rank's own value: where it lies in one piece of memory it is combined in place.
    void add_own(const Incoming& in, Combination& c) {
        const Index bytes = message_bytes(in.message);
        c.count = in.message.count * fields_;
        std::byte* own = program_.temporary.data() + temporary_used_;
        c.fetch = between(in.pieces, own, true, bytes);
        const StridedCopy& first = program_.copies[c.fetch.begin];
        if (c.fetch.end - c.fetch.begin == 1 && first.contiguous()) {
            own = const_cast<std::byte*>(first.from);
            program_.copies.pop_back();
            c.fetch = {};
        } else {
            c.store = between(in.pieces, own, false, bytes);
            temporary_used_ += bytes;
        }
        c.parts.insert(c.parts.begin() + static_cast<std::ptrdiff_t>(c.own), own);
    }

    // Whether a copy would write what another one (or itself) has still to read.
    bool interfere(const std::vector<Copy>& all) const {
        for (const Copy& a : all)
            for (const Copy& b : all)
                if (overlap(a.to, b.from)) return true;
        return false;
    }
    bool overlap(const Piece& a, const Piece& b) const {
        if ((a.buffer == Buffer::scratch) != (b.buffer == Buffer::scratch)) return false;
        if (a.buffer == Buffer::scratch)
            return a.offset < b.offset + b.box.volume() && b.offset < a.offset + a.box.volume();
        if (a.buffer != b.buffer && !schedule_.pattern().in_place()) return false;
        return !intersection(a.box, b.box).empty();
    }

    void add_copies(int s, StageProgram& stage) {
        const std::vector<Copy> local = copies(s);
        stage.local.begin = program_.copies.size();
        if (interfere(local)) {
            std::vector<Piece> from, to;
            Index bytes = 0;
            for (const Copy& c : local) {
                from.push_back(c.from);
                to.push_back(c.to);
                bytes += c.from.box.volume() * element_ * fields_;
            }
            between(from, program_.temporary.data(), true, bytes);
            between(to, program_.temporary.data(), false, bytes);
            temporary_used_ = bytes;
        } else {
            for (const Copy& c : local)
                for (std::size_t f = 0; f < static_cast<std::size_t>(fields_); ++f) add_copy(c, f);
        }
        stage.local.end = program_.copies.size();
    }
    void add_copy(const Copy& c, std::size_t field) {
        const auto shape = shape_of(c.from.buffer == Buffer::scratch ? c.to.box : c.from.box);
        if (c.to.buffer != Buffer::scratch && shape_of(c.to.box) != shape)
            throw InputError("a copy between boxes of different shapes: rank " + who());
        program_.copies.push_back(make_copy(view(c.from, field, shape), view(c.to, field, shape), shape, element_));
    }

    const Schedule& schedule_;
    const Rank rank_;
    const PlanRequest& request_;
    const int largest_tag_;
    const Index element_, fields_;
    const Box source_, target_;
    Program program_;
    Index temporary_used_ = 0;
};

}  // namespace

void check_fields(const Pattern& pattern, Rank rank, const PlanRequest& request) {
    if (request.source.empty()) throw InputError("a plan needs one field or more");
    if (request.source.size() != request.target.size())
        throw InputError(std::to_string(request.source.size()) + " source fields and " +
                         std::to_string(request.target.size()) + " target fields: as many of both are allowed");
    check_shapes("source", request.source, pattern.source_box(rank), pattern, rank);
    check_shapes("target", request.target, pattern.target_box(rank), pattern, rank);
}

Program compile(const Schedule& schedule, Rank rank, const PlanRequest& request, int largest_tag) {
    return Compiler(schedule, rank, request, largest_tag).compile();
}

}  // namespace tradewind
