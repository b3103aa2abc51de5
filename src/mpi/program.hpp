// A schedule compiled for one rank and its arrays: flat lists of copies and of the messages that MPI carries.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "mpi/memory.hpp"
#include "mpi/packing/block.hpp"
#include "mpi/packing/copier.hpp"
#include "mpi/packing/listed.hpp"
#include "mpi/packing/run_copies.hpp"
#include "mpi/plan.hpp"

namespace tradewind::mpi {

struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

// Bytes of a message, and the copies that gather or scatter them.
struct Part {
    Range copies;
    Index begin = 0, bytes = 0;
};

// One end of a message on this rank.
struct End {
    int peer = 0;
    int tag = 0;  // the messages of one stage between two ranks are numbered, alike at both ends
    int j = 0;    // its number in the schedule
    Index bytes = 0;
    std::vector<Block> memory;    // where its bytes lie in arrays and scratch, in the order of the message
    std::byte* buffer = nullptr;  // where it is gathered, or arrives; none where it goes straight from or to memory
    std::byte* mirror = nullptr;  // the buffer in the memory of the arrays; the same where MPI reaches that
    Range copies;                 // between memory and buffer, or mirror; none of a message that is combined
    std::vector<Part> parts;      // of a mirrored message: what is gathered while the part before is copied on
    bool ahead = false;           // of a send: it may be gathered while the stage before is under way
    std::int8_t parity = 0;       // see schedule::Message

    // The address of a message that is buffered, or lies in one run.
    std::byte* data() const { return buffer ? buffer : memory[0].data; }
    std::vector<Block> place() const { return buffer ? std::vector{buffer_block(buffer, bytes)} : memory; }
    bool staged() const { return mirror && mirror != buffer; }
};

// Messages into the same elements, and the rank's own value: combined in ascending order of rank.
struct Combination {
    std::vector<std::byte*> parts;  // where the values are, in ascending order of rank; of arrays on a device there
    std::size_t own = 0;            // which of them is the rank's own
    Index count = 0;                // elements of one part
    Range fetch, store;  // copies of the own value into its part and back; none where it is combined in place
};

struct StageProgram {
    std::vector<End> sends, receives;
    Range local;  // copies within the rank
    std::vector<Combination> combinations;
    bool adds = false;               // the copies that bring what came, and those within the rank, add to what is there
    Stores stores = Stores::cached;  // into arrays and buffers
    // Whether what came is not simply what lies in its place afterwards.
    bool combines() const { return adds || !combinations.empty(); }
};

struct Program {
    std::vector<StageProgram> stages;
    std::vector<StridedCopy> copies;
    PlaceLists places;
    std::shared_ptr<const pattern::Pattern> pattern;    // along whose lists copies go
    std::shared_ptr<Copier> copier;                     // of the arrays; none: they lie in the host's memory
    PlanMemory scratch, temporary, outgoing, incoming;  // the last two: mirrors of the buffers

    // Those of a device are only begun.
    void copy(Range range) const {
        if (copier) {
            if (range.size() > 0) copier->copy(copies.data() + range.begin, range.size());
            return;
        }
        for (std::size_t i = range.begin; i < range.end; ++i) copies[i].execute(copies[i]);
    }
    void gather(const End& end) const {
        if (end.parts.empty()) return copy(end.copies);
        for (const Part& part : end.parts) {
            copy(part.copies);
            if (end.staged()) copier->to_host(end.buffer + part.begin, end.mirror + part.begin, part.bytes);
        }
    }
    void scatter(const End& end) const {
        if (end.parts.empty()) return copy(end.copies);
        for (const Part& part : end.parts) {
            if (end.staged()) copier->from_host(end.mirror + part.begin, end.buffer + part.begin, part.bytes);
            copy(part.copies);
        }
    }
    // Before MPI, or the host, uses what copies have written or read.
    void finish_copies() const {
        if (copier) copier->finish();
    }
};

// Which messages go through buffers, by peer and where their bytes lie. One that need not still does where its memory
// would change too early: where a stage receives into, or copies to, what it sends. Those of arrays that do not lie in
// the host's memory always do.
using NeedsBuffer = std::function<bool(int peer, const std::vector<Block>&)>;
struct Buffering {
    NeedsBuffer send, receive;
};

// Compiles in two steps, as the buffers may have to come from MPI or from shared memory.
class Compiler {
  public:
    Compiler(const schedule::Schedule& schedule, Rank rank, const PlanRequest& request, Buffering buffering);

    Index outgoing_bytes() const { return (any_ahead_ ? 2 : 1) * outgoing_; }  // of two stages where one is ahead
    Index incoming_bytes() const { return incoming_; }
    // Arrays of a device are gathered in mirrors of the buffers, or in the buffers where these are `direct`, in their
    // memory; messages with peers that are `reached` there leave the buffers out.
    using Reached = std::function<bool(int peer)>;
    Program compile(std::byte* outgoing, std::byte* incoming, bool direct = false, const Reached& reached = {});

  private:
    struct Stage {
        std::vector<std::vector<schedule::Piece>> send_pieces, receive_pieces;
        std::vector<bool> send_buffered, receive_buffered;
        std::vector<schedule::RunList> send_runs, receive_runs;  // in place of pieces, where the schedule has lists
        schedule::RunCopy kept;
        std::vector<schedule::Copy> copies;
        bool combines = false;
        StageProgram program;
    };

    void draft(int s);
    void draft_lists(int s);
    void copy_runs(const schedule::RunList& list, End& end, bool sending, Stores stores);
    void copy_kept(Stage& stage);
    RunMemory memory(const schedule::RunList& list, std::size_t field) const;
    template <typename Get>
    std::vector<End> ends(int count, Get get) const;
    void find_ahead(const Stage& before, Stage& stage) const;
    void place(std::vector<End>& ends, const std::vector<bool>& buffered, std::byte* data) const;
    Index buffered_bytes(const std::vector<End>& ends, const std::vector<bool>& buffered) const;

    std::vector<Block> blocks(const std::vector<schedule::Piece>& pieces) const;
    Block block(const schedule::Piece& piece, std::size_t field) const;
    bool overlap(const schedule::Piece& a, const schedule::Piece& b) const;
    bool any_overlap(const std::vector<schedule::Piece>& a, const std::vector<schedule::Piece>& b) const;
    std::vector<schedule::Piece> written(const Stage& stage) const;
    bool interfere(const std::vector<schedule::Copy>& copies) const;
    Index bytes_written(const Stage& stage) const;

    void make_additions(const StageProgram& stage);
    Range copies_between(const std::vector<Block>& from, const std::vector<Block>& to, Stores stores);
    void copy_message(End& end, bool sending, Stores stores);
    void fuse_copies(std::size_t first);
    void add_local(Stage& stage);
    void add_combinations(Stage& stage);
    void add_own(const End& in, Combination& combination);
    std::string who() const { return std::to_string(rank_) + " in " + schedule_.algorithm(); }

    const schedule::Schedule& schedule_;
    const Rank rank_;
    const PlanRequest& request_;
    const Buffering buffering_;
    const Index element_, fields_;
    const layout::Box source_, target_;
    const layout::Patch source_patch_, target_patch_;
    const bool by_runs_;  // messages are gathered straight from the schedule's lists of runs
    std::vector<Stage> stages_;
    Index outgoing_ = 0, incoming_ = 0, temporary_used_ = 0;
    bool any_ahead_ = false;
    Program program_;
};

// Throws InputError where the arrays do not have the shapes of the pattern on this rank.
void check_fields(const pattern::Pattern& pattern, Rank rank, const PlanRequest& request);

}  // namespace tradewind::mpi
