#include "mpi/program.hpp"

#include <algorithm>
#include <map>

#include "mpi/overlap.hpp"
#include "mpi/packing/stream.hpp"

namespace tradewind::mpi {

namespace {

// Bytes of a message between a device and MPI that are copied while others are gathered or scattered: enough for the
// full rate of a bus, and a small part of the messages that are worth it.
constexpr Index staged_part = Index{1} << 20;

// MPI guarantees tags up to 32767; the checksums of messages have tags of their own (see mpi/checksum.cpp).
constexpr int max_tags = 16384;

std::array<Index, 3> shape_of(const layout::Box& box) {
    return {box.width(layout::X), box.width(layout::Y), box.width(layout::Z)};
}

Index volume_of(const std::array<Index, 3>& s) {
    return s[layout::X] * s[layout::Y] * s[layout::Z];
}

std::string shape_text(const std::array<Index, 3>& s) {
    return "(nz, ny, nx) = (" + std::to_string(s[layout::Z]) + ", " + std::to_string(s[layout::Y]) + ", " +
           std::to_string(s[layout::X]) + ")";
}

void check_shapes(const char* what, const std::vector<Field>& fields, const layout::Box& box,
                  const pattern::Pattern& pattern, Rank rank) {
    for (std::size_t f = 0; f < fields.size(); ++f)
        if (fields[f].shape != shape_of(box) && (volume_of(fields[f].shape) > 0 || !box.empty()))
            throw InputError(std::string(what) + " field " + std::to_string(f) + " has the shape " +
                             shape_text(fields[f].shape) + ", but rank " + std::to_string(rank) + " of " +
                             pattern.describe() + " needs " + shape_text(shape_of(box)));
}

// Others than these want to know where each piece of a message lies.
bool gathered_by_runs(const schedule::Schedule& schedule, const PlanRequest& request) {
    return schedule.has_runs() && request.packed_by(schedule::Packing::buffer) &&
           request.carried_by().family != schedule::Family::shared && !request.check;
}

Buffering buffering_of(const std::vector<Field>& fields, Buffering wanted) {
    if (!fields[0].copier) return wanted;  // no transport knows of the memory of a device
    const auto always = [](int, const std::vector<Block>&) { return true; };
    return {always, always};
}

std::string memory_of(const Field& field) {
    return field.copier ? field.copier->memory() : "the host";
}

bool same(const std::vector<schedule::Piece>& a, const std::vector<schedule::Piece>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const schedule::Piece& p, const schedule::Piece& q) {
        return p.buffer == q.buffer && p.box == q.box && p.offset == q.offset;
    });
}

}  // namespace

Compiler::Compiler(const schedule::Schedule& schedule, Rank rank, const PlanRequest& request, Buffering buffering)
    : schedule_(schedule),
      rank_(rank),
      request_(request),
      buffering_(buffering_of(request.source, std::move(buffering))),
      element_(bytes_of(request.element)),
      fields_(static_cast<Index>(request.source.size())),
      source_(schedule.pattern().source_box(rank)),
      target_(schedule.pattern().target_box(rank)),
      source_patch_(schedule.pattern().source_patch(rank)),
      target_patch_(schedule.pattern().target_patch(rank)),
      by_runs_(gathered_by_runs(schedule, request)) {
    program_.copier = request.source[0].copier;
    program_.scratch = PlanMemory(schedule_.scratch(rank_) * element_ * fields_, program_.copier);
    Index temporary = 0;
    for (int s = 0; s < schedule_.stages(); ++s) {
        if (by_runs_)
            draft_lists(s);
        else
            draft(s);
        Stage& stage = stages_.back();
        if (s > 0 && request_.pack_ahead) find_ahead(stages_[stages_.size() - 2], stage);
        outgoing_ = std::max(outgoing_, buffered_bytes(stage.program.sends, stage.send_buffered));
        incoming_ = std::max(incoming_, buffered_bytes(stage.program.receives, stage.receive_buffered));
        Index needed = 0;
        if (interfere(stage.copies))
            for (const schedule::Copy& c : stage.copies) needed += c.from.box.volume() * element_ * fields_;
        if (stage.combines)  // room for the own values
            for (const End& end : stage.program.receives) needed += end.bytes;
        temporary = std::max(temporary, needed);
        for (std::size_t i = 0; i < stage.program.sends.size(); ++i)
            any_ahead_ = any_ahead_ || (stage.program.sends[i].ahead && stage.send_buffered[i]);
    }
    program_.temporary = PlanMemory(temporary, program_.copier);
}

Program Compiler::compile(std::byte* outgoing, std::byte* incoming, bool direct, const Reached& reached) {
    std::byte *out_mirror = outgoing, *in_mirror = incoming;
    if (program_.copier && !direct) {
        program_.outgoing = PlanMemory(outgoing_bytes(), program_.copier);
        program_.incoming = PlanMemory(incoming_bytes(), program_.copier);
        out_mirror = program_.outgoing.data();
        in_mirror = program_.incoming.data();
    }
    const auto mirror = [&](std::vector<End>& ends, const std::byte* buffers, std::byte* mirrors) {
        for (End& end : ends) {
            if (!end.buffer || !program_.copier) continue;
            end.mirror = mirrors + (end.buffer - buffers);
            if (reached && reached(end.peer)) end.buffer = end.mirror;
        }
    };
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        Stage& stage = stages_[s];
        place(stage.program.sends, stage.send_buffered, outgoing + (any_ahead_ && s % 2 == 1 ? outgoing_ : 0));
        place(stage.program.receives, stage.receive_buffered, incoming);
        mirror(stage.program.sends, outgoing, out_mirror);
        mirror(stage.program.receives, incoming, in_mirror);
        const Stores stores = stage.program.stores;
        for (std::size_t i = 0; i < stage.program.sends.size(); ++i)
            if (End& end = stage.program.sends[i]; end.buffer && by_runs_)
                copy_runs(stage.send_runs[i], end, true, stores);
            else if (end.buffer)
                copy_message(end, true, stores);
        temporary_used_ = 0;
        if (by_runs_)
            copy_kept(stage);
        else
            add_local(stage);
        if (stage.combines) add_combinations(stage);
        if (stage.combines && program_.copier)  // which are combined where the arrays lie
            for (End& end : stage.program.receives) end.parts = {{{}, 0, end.bytes}};
        for (std::size_t i = 0; i < stage.program.receives.size() && !stage.combines; ++i)
            if (End& end = stage.program.receives[i]; end.buffer && by_runs_)
                copy_runs(stage.receive_runs[i], end, false, stores);
            else if (end.buffer)
                copy_message(end, false, stores);
        if (stage.program.adds) make_additions(stage.program);
        program_.stages.push_back(std::move(stage.program));
    }
    tradewind::mpi::compile(program_.copies);
    return std::move(program_);
}

// --- what there is in a stage ---

void Compiler::draft(int s) {
    Stage stage;
    stage.combines = schedule_.combines(s);
    stage.program.adds = schedule_.adds();
    schedule_.copies(rank_, s, stage.copies);
    std::erase_if(stage.copies, [](const schedule::Copy& c) { return c.from.box.empty(); });
    stage.program.sends = ends(schedule_.sends(rank_, s), [&](int j) { return schedule_.send(rank_, s, j); });
    stage.program.receives = ends(schedule_.receives(rank_, s), [&](int j) { return schedule_.receive(rank_, s, j); });
    for (End& end : stage.program.sends) schedule_.send_pieces(rank_, s, end.j, stage.send_pieces.emplace_back());
    for (End& end : stage.program.receives)
        schedule_.receive_pieces(rank_, s, end.j, stage.receive_pieces.emplace_back());
    const std::vector<schedule::Piece> changed = written(stage);
    std::vector<schedule::Piece> copied;
    for (const schedule::Copy& c : stage.copies) copied.push_back(c.from);
    for (std::size_t i = 0; i < stage.program.sends.size(); ++i) {
        End& end = stage.program.sends[i];
        end.memory = blocks(stage.send_pieces[i]);
        stage.send_buffered.push_back(buffering_.send(end.peer, end.memory) ||
                                      any_overlap(stage.send_pieces[i], changed));
    }
    for (std::size_t i = 0; i < stage.program.receives.size(); ++i) {
        End& end = stage.program.receives[i];
        end.memory = blocks(stage.receive_pieces[i]);
        stage.receive_buffered.push_back(buffering_.receive(end.peer, end.memory) || stage.combines ||
                                         stage.program.adds || any_overlap(stage.receive_pieces[i], copied));
    }
    for (const auto* all : {&stage.program.sends, &stage.program.receives})
        for (const End& end : *all) {
            Index bytes = 0;
            for (const Block& b : end.memory) bytes += b.bytes();
            if (bytes != end.bytes)
                throw InputError("the pieces of a message do not add up to its count: rank " + who());
        }
    if (!stage.program.adds && bytes_written(stage) > max_cached) stage.program.stores = Stores::streamed;
    stages_.push_back(std::move(stage));
}

// A message lies in one run if it has no second one; all that is in buffers needs no more than its list.
void Compiler::draft_lists(int s) {
    Stage stage;
    stage.program.adds = schedule_.adds();
    stage.program.sends = ends(schedule_.sends(rank_, s), [&](int j) { return schedule_.send(rank_, s, j); });
    stage.program.receives = ends(schedule_.receives(rank_, s), [&](int j) { return schedule_.receive(rank_, s, j); });
    stage.kept = schedule_.kept_runs(rank_, s);
    program_.pattern = schedule_.shared_pattern();
    const auto some = [this](const schedule::RunList& list) {
        std::vector<schedule::Piece> pieces;
        append_pieces(list, list.buffer == schedule::Buffer::source ? source_ : target_, pieces, 2);
        return blocks(pieces);
    };
    Index written =
        stage.kept.to.runs->points() * source_.width(layout::Y) * source_.width(layout::Z) * element_ * fields_;
    for (End& end : stage.program.sends) {
        stage.send_runs.push_back(schedule_.send_runs(rank_, s, end.j));
        end.memory = some(stage.send_runs.back());
        stage.send_buffered.push_back(stage.send_runs.back().runs->size() > 1 || buffering_.send(end.peer, end.memory));
    }
    for (End& end : stage.program.receives) {
        stage.receive_runs.push_back(schedule_.receive_runs(rank_, s, end.j));
        end.memory = some(stage.receive_runs.back());
        stage.receive_buffered.push_back(stage.receive_runs.back().runs->size() > 1 || stage.program.adds ||
                                         buffering_.receive(end.peer, end.memory));
        written += end.bytes;
    }
    if (!stage.program.adds && written > max_cached) stage.program.stores = Stores::streamed;
    stages_.push_back(std::move(stage));
}

RunMemory Compiler::memory(const schedule::RunList& list, std::size_t field) const {
    const Field& f = (list.buffer == schedule::Buffer::source ? request_.source : request_.target)[field];
    return {f.data, f.stride, list.places, f.copier.get()};
}

void Compiler::copy_runs(const schedule::RunList& list, End& end, bool sending, Stores stores) {
    end.copies.begin = program_.copies.size();
    for (std::size_t f = 0; f < static_cast<std::size_t>(fields_); ++f) {
        const RunMemory array = memory(list, f);
        std::byte* const message = end.mirror ? end.mirror : end.buffer;
        const RunMemory buffer{message + end.bytes / fields_ * static_cast<Index>(f), {}, nullptr, array.copier};
        append_run_copies(*list.runs, sending ? array : buffer, sending ? buffer : array,
                          {source_.width(layout::Y), source_.width(layout::Z)}, element_, stores, program_.copies);
    }
    end.copies.end = program_.copies.size();
    if (end.mirror) end.parts = {{end.copies, 0, end.bytes}};
}

void Compiler::copy_kept(Stage& stage) {
    stage.program.local.begin = program_.copies.size();
    for (std::size_t f = 0; f < static_cast<std::size_t>(fields_); ++f)
        append_run_copies(*stage.kept.from.runs, memory(stage.kept.from, f), memory(stage.kept.to, f),
                          {source_.width(layout::Y), source_.width(layout::Z)}, element_, stage.program.stores,
                          program_.copies);
    stage.program.local.end = program_.copies.size();
}

Index Compiler::bytes_written(const Stage& stage) const {
    Index bytes = 0;
    for (const End& end : stage.program.receives) bytes += end.bytes;
    for (const schedule::Copy& c : stage.copies) bytes += c.to.box.volume() * element_ * fields_;
    return bytes;
}

// The messages that are not empty, in the order of the schedule. Those of one pair of ranks are numbered in ascending
// order of the schedule's tags, at both ends alike; stages need no numbers, as no message overtakes another.
template <typename Get>
std::vector<End> Compiler::ends(int count, Get get) const {
    std::vector<End> all;
    std::map<Rank, std::vector<std::pair<std::int32_t, std::size_t>>> of_peer;
    for (int j = 0; j < count; ++j)
        if (const schedule::Message m = get(j); m.count > 0) {
            of_peer[m.peer].emplace_back(m.tag, all.size());
            End& end = all.emplace_back();
            end.peer = m.peer;
            end.j = j;
            end.bytes = m.count * element_ * fields_;
            end.parity = m.parity;
        }
    for (auto& [peer, messages] : of_peer) {
        std::sort(messages.begin(), messages.end());
        if (messages.size() > static_cast<std::size_t>(max_tags))
            throw InputError(std::to_string(messages.size()) + " messages in one stage between rank " + who() +
                             " and rank " + std::to_string(peer) + ": " + std::to_string(max_tags) + " are allowed");
        for (std::size_t i = 0; i < messages.size(); ++i) all[messages[i].second].tag = static_cast<int>(i);
    }
    return all;
}

std::vector<schedule::Piece> Compiler::written(const Stage& stage) const {
    std::vector<schedule::Piece> all;
    for (const auto& pieces : stage.receive_pieces) all.insert(all.end(), pieces.begin(), pieces.end());
    for (const schedule::Copy& c : stage.copies) all.push_back(c.to);
    return all;
}

// A message may be gathered while the stage before is under way if that does not write what it sends.
void Compiler::find_ahead(const Stage& before, Stage& stage) const {
    const std::vector<schedule::Piece> changed = written(before);
    for (std::size_t i = 0; i < stage.program.sends.size(); ++i)
        stage.program.sends[i].ahead = !any_overlap(stage.send_pieces[i], changed);
}

bool Compiler::overlap(const schedule::Piece& a, const schedule::Piece& b) const {
    if ((a.buffer == schedule::Buffer::scratch) != (b.buffer == schedule::Buffer::scratch)) return false;
    if (a.buffer == schedule::Buffer::scratch)
        return a.offset < b.offset + b.box.volume() && b.offset < a.offset + a.box.volume();
    if (a.buffer != b.buffer && !schedule_.pattern().in_place()) return false;
    return !layout::intersection(a.box, b.box).empty();
}

bool Compiler::any_overlap(const std::vector<schedule::Piece>& a, const std::vector<schedule::Piece>& b) const {
    // The ends of a transposition's messages are many, and never in one array.
    const auto only = [this](const std::vector<schedule::Piece>& all, schedule::Buffer buffer) {
        return !schedule_.pattern().in_place() &&
               std::all_of(all.begin(), all.end(), [&](const schedule::Piece& p) { return p.buffer == buffer; });
    };
    if (only(a, schedule::Buffer::source) && only(b, schedule::Buffer::target)) return false;
    return std::any_of(a.begin(), a.end(), [&](const schedule::Piece& p) {
        return std::any_of(b.begin(), b.end(), [&](const schedule::Piece& q) { return overlap(p, q); });
    });
}

// Whether a copy would write what another one (or itself) has still to read.
bool Compiler::interfere(const std::vector<schedule::Copy>& copies) const {
    // Those of a fetch are many, and never within one array.
    if (!schedule_.pattern().in_place() && std::all_of(copies.begin(), copies.end(), [](const schedule::Copy& c) {
            return c.from.buffer != schedule::Buffer::scratch && c.to.buffer != schedule::Buffer::scratch &&
                   c.from.buffer != c.to.buffer;
        }))
        return false;
    for (const schedule::Copy& a : copies)
        for (const schedule::Copy& b : copies)
            if (overlap(a.to, b.from)) return true;
    return false;
}

// --- where it lies ---

Index Compiler::buffered_bytes(const std::vector<End>& ends, const std::vector<bool>& buffered) const {
    Index bytes = 0;
    for (std::size_t i = 0; i < ends.size(); ++i)
        if (buffered[i]) bytes += ends[i].bytes;
    return bytes;
}

// Messages of one peer lie next to each other, so that a collective finds them as one.
void Compiler::place(std::vector<End>& ends, const std::vector<bool>& buffered, std::byte* data) const {
    std::vector<std::pair<std::pair<int, int>, std::size_t>> order;
    for (std::size_t i = 0; i < ends.size(); ++i)
        if (buffered[i]) order.push_back({{ends[i].peer, ends[i].tag}, i});
    std::sort(order.begin(), order.end());
    for (const auto& [key, i] : order) {
        ends[i].buffer = data;
        data += ends[i].bytes;
    }
}

// Several fields lie one after another in a message.
std::vector<Block> Compiler::blocks(const std::vector<schedule::Piece>& pieces) const {
    std::vector<Block> all;
    for (std::size_t f = 0; f < static_cast<std::size_t>(fields_); ++f)
        for (const schedule::Piece& piece : pieces)
            if (!piece.box.empty()) all.push_back(block(piece, f));
    return all;
}

Block Compiler::block(const schedule::Piece& piece, std::size_t field) const {
    const auto shape = shape_of(piece.box);
    if (piece.buffer == schedule::Buffer::scratch) {
        const Index begin = piece.offset + static_cast<Index>(field) * schedule_.scratch(rank_);
        return {program_.scratch.data() + begin * element_, element_, shape, dense_strides(shape, element_),
                program_.copier.get()};
    }
    const bool from_source = piece.buffer == schedule::Buffer::source;
    const Field& f = from_source ? request_.source[field] : request_.target[field];
    const layout::Patch& storage = from_source ? source_patch_ : target_patch_;
    if (!storage.contains(piece.box)) throw InputError("a piece lies outside the array of rank " + who());
    std::byte* data = f.data;
    for (int a = 0; a < 3; ++a) data += storage.place(a, piece.box.begin[a]) * f.stride[a];
    return {data, element_, shape, f.stride, f.copier.get()};
}

Range Compiler::copies_between(const std::vector<Block>& from, const std::vector<Block>& to, Stores stores) {
    Range range{program_.copies.size(), 0};
    append_copies(from, to, stores, program_.copies);
    list_alike(program_.copies, range.begin, program_.places);
    range.end = program_.copies.size();
    return range;
}

// Between the arrays and the buffer; a long message that the host passes on is divided into parts.
void Compiler::copy_message(End& end, bool sending, Stores stores) {
    const auto between = [&](const std::vector<Block>& arrays, const std::vector<Block>& message) {
        return sending ? copies_between(arrays, message, stores) : copies_between(message, arrays, stores);
    };
    if (!end.mirror) {
        end.copies = between(end.memory, end.place());
        return;
    }
    end.copies.begin = program_.copies.size();
    const Index longest = end.staged() ? staged_part : end.bytes;
    for (Index begin = 0; begin < end.bytes; begin += longest) {
        const Index bytes = std::min(longest, end.bytes - begin);
        const std::vector<Block> message{buffer_block(end.mirror + begin, bytes, program_.copier.get())};
        const Range copies =
            between(bytes == end.bytes ? end.memory : slice(end.memory, begin, begin + bytes), message);
        end.parts.push_back({copies, begin, bytes});
    }
    end.copies.end = program_.copies.size();
}

// Those from `first` on, which do not depend on each other.
void Compiler::fuse_copies(std::size_t first) {
    std::vector<StridedCopy>& all = program_.copies;
    std::size_t kept = first;
    for (std::size_t i = first; i < all.size(); ++i)
        if (kept == first || !fuse(all[kept - 1], all[i])) all[kept++] = all[i];
    all.resize(kept);
}

void Compiler::add_local(Stage& stage) {
    stage.program.local.begin = program_.copies.size();
    std::vector<schedule::Piece> from, to;
    for (const schedule::Copy& c : stage.copies) {
        from.push_back(c.from);
        to.push_back(c.to);
    }
    if (interfere(stage.copies)) {
        const std::vector<Block> source = blocks(from);
        Index bytes = 0;
        for (const Block& b : source) bytes += b.bytes();
        const std::vector<Block> temporary{
            buffer_block(program_.temporary.data() + temporary_used_, bytes, program_.copier.get())};
        copies_between(source, temporary, stage.program.stores);
        const Range second = copies_between(temporary, blocks(to), stage.program.stores);
        if (second.size() > 0) program_.copies[second.begin].waits = true;
        temporary_used_ += bytes;
    } else {
        append_copies(blocks(from), blocks(to), stage.program.stores, program_.copies);
        fuse_copies(stage.program.local.begin);
        list_alike(program_.copies, stage.program.local.begin, program_.places);
    }
    stage.program.local.end = program_.copies.size();
}

// --- reductions ---

void Compiler::make_additions(const StageProgram& stage) {
    const auto add = [this](Range range) {
        for (std::size_t i = range.begin; i < range.end; ++i) {
            program_.copies[i].adds = true;
            program_.copies[i].element = request_.element;
        }
    };
    add(stage.local);
    for (const End& end : stage.receives) add(end.copies);
}

void Compiler::add_combinations(Stage& stage) {
    const std::vector<End>& receives = stage.program.receives;
    std::vector<std::size_t> order(receives.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return receives[a].peer < receives[b].peer; });
    std::vector<bool> done(receives.size());
    for (std::size_t first = 0; first < order.size(); ++first) {
        const std::size_t i = order[first];
        if (done[i]) continue;
        Combination c;
        for (std::size_t next = first; next < order.size(); ++next) {
            const std::size_t k = order[next];
            if (done[k] || !same(stage.receive_pieces[i], stage.receive_pieces[k])) continue;
            done[k] = true;
            c.own += receives[k].peer < rank_;
            c.parts.push_back(receives[k].mirror ? receives[k].mirror : receives[k].buffer);
        }
        add_own(receives[i], c);
        stage.program.combinations.push_back(std::move(c));
    }
}

// The rank's own value: where it lies in one piece it is combined in place.
void Compiler::add_own(const End& in, Combination& c) {
    c.count = in.bytes / element_;
    std::byte* own = program_.temporary.data() + temporary_used_;
    if (one_run(in.memory)) {
        own = in.memory[0].data;
    } else {
        const std::vector<Block> dense{buffer_block(own, in.bytes, program_.copier.get())};
        c.fetch = copies_between(in.memory, dense, Stores::cached);
        c.store = copies_between(dense, in.memory, Stores::cached);
        temporary_used_ += in.bytes;
    }
    c.parts.insert(c.parts.begin() + static_cast<std::ptrdiff_t>(c.own), own);
}

void check_fields(const pattern::Pattern& pattern, Rank rank, const PlanRequest& request) {
    if (request.source.empty()) throw InputError("a plan needs one field or more");
    if (request.source.size() != request.target.size())
        throw InputError(std::to_string(request.source.size()) + " source fields and " +
                         std::to_string(request.target.size()) + " target fields: as many of both are allowed");
    check_shapes("source", request.source, pattern.source_box(rank), pattern, rank);
    check_shapes("target", request.target, pattern.target_box(rank), pattern, rank);
    const std::string memory = memory_of(request.source[0]);
    for (const auto* fields : {&request.source, &request.target})
        for (std::size_t i = 0; i < fields->size(); ++i)
            if ((*fields)[i].copier != request.source[0].copier)
                throw InputError((fields == &request.source ? "source field " : "target field ") + std::to_string(i) +
                                 " lies in the memory of " + memory_of((*fields)[i]) + ", source field 0 in that of " +
                                 memory + ": all fields of a plan lie in one memory");
    for (std::size_t i = 0; i < request.target.size(); ++i)
        if (overlaps_itself(request.target[i], request.element))
            throw InputError((request.target[i].data == request.source[i].data ? "field " : "target field ") +
                             std::to_string(i) +
                             " overlaps itself: its strides bring two of its elements to one place, but the plan "
                             "writes into it");
}

}  // namespace tradewind::mpi
