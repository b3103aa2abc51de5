// Ranks of a node read each other's memory. The sender says when a message may be read, the receiver when it has been;
// messages between nodes are non-blocking MPI messages.
#include <sched.h>

#include <algorithm>
#include <atomic>

#include "mpi/carrier.hpp"
#include "mpi/error.hpp"
#include "mpi/node.hpp"
#include "mpi/notes.hpp"
#include "mpi/shared_memory.hpp"
#include "mpi/transport/transfers.hpp"

namespace tradewind {

namespace {

// The numbers of the last call in which a message was ready and was read. Each is written by one rank and polled by
// another, hence a cache line for each.
struct Flags {
    alignas(64) std::atomic<std::uint64_t> ready;
    alignas(64) std::atomic<std::uint64_t> read;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

void pause(unsigned turn) {
    constexpr unsigned patience = 1000;  // then another rank may need this core
    if (turn > patience) {
        sched_yield();
        return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

class Shared : public Carrier {
  public:
    Shared(const Work& work, const Node& node) : work_(work), node_(node), own_(flag_bytes()) {
        number();
        const Notes notes = exchange_notes(work, true, [&](int s, std::size_t i) { return describe(s, i); });
        for (int s = 0; s < work.stages(); ++s) {
            receives_.emplace_back();
            const std::vector<End>& ends = work.stage(s).receives;
            for (std::size_t i = 0; i < ends.size(); ++i)
                receives_.back().push_back(reading(ends[i], notes[static_cast<std::size_t>(s)][i]));
        }
        std::size_t most = 0;
        for (int s = 0; s < work.stages(); ++s) most = std::max(most, add_messages(s));
        requests_.assign(most, MPI_REQUEST_NULL);
        statuses_.resize(most);
        // Nobody uses a flag before its owner has zeroed it, which it was when it was made.
    }

    void post(int s) override {
        if (s == 0) ++call_;
        post_messages(s);
        const std::vector<End>& sends = work_.stage(s).sends;
        for (std::size_t i = 0; i < sends.size(); ++i)
            if (node_.has(sends[i].peer)) flags_of(s, i).ready.store(call_, std::memory_order_release);
    }
    // Takes messages as they become ready.
    void arrive(int s) override {
        std::vector<Reading>& all = receives_[static_cast<std::size_t>(s)];
        for (Reading& r : all) r.done = r.flags == nullptr;
        Deadline deadline(work_.request.watchdog_s);
        for (std::size_t left = unread(all); left > 0;) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                Reading& r = all[i];
                if (r.done || r.flags->ready.load(std::memory_order_acquire) < call_) continue;
                const End& end = work_.stage(s).receives[i];
                work_.recorder.during(Activity::unpack, s, end.peer, end.bytes, [&] {
                    for (const StridedCopy& c : r.copies) c.execute(c);
                });
                r.flags->read.store(call_, std::memory_order_release);
                r.done = true;
                --left;
            }
            if (left > 0) work_.recorder.during(Activity::wait, s, -1, 0, [&] { until_any_ready(s, all, deadline); });
        }
        const Messages& messages = of(s);
        wait_for_messages(s, 0, messages.received);
        for (std::size_t i = 0; i < messages.received; ++i)
            check_length(statuses_[i], messages.parts[i], [&] { return work_.where(s); });
    }
    void leave(int s) override {
        const std::vector<End>& sends = work_.stage(s).sends;
        Deadline deadline(work_.request.watchdog_s);
        work_.recorder.during(Activity::wait, s, -1, 0, [&] {
            for (std::size_t i = 0; i < sends.size(); ++i) {
                if (!node_.has(sends[i].peer)) continue;
                for (unsigned turn = 0; flags_of(s, i).read.load(std::memory_order_acquire) < call_; ++turn) {
                    pause(turn);
                    if (deadline.passed())
                        throw PlanError(timed_out(work_.where(s), work_.request.watchdog_s,
                                                  "rank " + std::to_string(sends[i].peer) + " to read its message"));
                }
            }
        });
        wait_for_messages(s, of(s).received, of(s).parts.size());
    }
    bool records() const override { return true; }
    Index messages() const override {
        Index count = 0;
        for (const StageProgram& stage : work_.program.stages) count += static_cast<Index>(stage.sends.size());
        return count;
    }

  private:
    struct Reading {
        Flags* flags = nullptr;  // the sender's; none between nodes
        std::vector<StridedCopy> copies;
        bool done = false;
    };
    struct Messages {                 // of a stage, between nodes
        std::vector<Transfer> parts;  // receives first
        std::size_t received = 0;
    };
    const Messages& of(int stage) const { return messages_[static_cast<std::size_t>(stage)]; }

    // --- when the plan is made ---

    Index flag_bytes() const {
        std::size_t sends = 0;
        for (const StageProgram& stage : work_.program.stages) sends += stage.sends.size();
        return static_cast<Index>(std::max<std::size_t>(sends, 1) * sizeof(Flags));
    }
    void number() {
        std::size_t next = 0;
        for (const StageProgram& stage : work_.program.stages) {
            first_flag_.push_back(next);
            next += stage.sends.size();
        }
    }
    Flags& flags_of(int s, std::size_t i) const {
        return reinterpret_cast<Flags*>(own_.data())[first_flag_[static_cast<std::size_t>(s)] + i];
    }

    // A place in shared memory as two blocks: which memory, and where in it.
    static void append_place(const SharedPlace& place, Block block, std::vector<Block>& note) {
        Block memory;
        memory.run = place.handle.process;
        memory.shape = {place.handle.file, place.handle.bytes, place.handle.mark};
        block.data = reinterpret_cast<std::byte*>(place.offset);
        note.push_back(memory);
        note.push_back(block);
    }
    // The flags of a send and where its bytes lie; nothing between nodes.
    std::vector<Block> describe(int s, std::size_t i) const {
        std::vector<Block> note;
        const End& end = work_.stage(s).sends[i];
        if (!node_.has(end.peer)) return note;
        const auto* flags = reinterpret_cast<const std::byte*>(&flags_of(s, i));
        append_place(*find_shared(flags, sizeof(Flags)), buffer_block(nullptr, sizeof(Flags)), note);
        for (const Block& block : end.place()) {
            const Extent extent = extent_of(block);
            const std::optional<SharedPlace> low = find_shared(extent.begin, extent.end - extent.begin);
            if (!low) throw PlanError(work_.where(s) + ": a message lies in memory that is not shared");
            append_place({low->handle, low->offset + (block.data - extent.begin)}, block, note);
        }
        return note;
    }
    Reading reading(const End& end, const std::vector<Block>& note) {
        Reading reading;
        if (note.empty()) return reading;
        std::vector<Block> from;
        for (std::size_t b = 0; b < note.size(); b += 2) {
            const auto& [file, bytes, mark] = note[b].shape;
            const SharedHandle handle{note[b].run, file, bytes, mark};
            Block block = note[b + 1];
            block.data = peers_.at({handle, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(block.data))});
            from.push_back(block);
        }
        reading.flags = reinterpret_cast<Flags*>(from[0].data);
        from.erase(from.begin());
        append_copies(from, end.place(), reading.copies);
        return reading;
    }
    // Between nodes; how many there are.
    std::size_t add_messages(int s) {
        Messages messages;
        const auto add = [&](const std::vector<End>& ends) {
            for (const End& end : ends)
                if (!node_.has(end.peer))
                    for (const Transfer& part : in_parts(end, work_.request.largest_message))
                        messages.parts.push_back(part);
        };
        add(work_.stage(s).receives);
        messages.received = messages.parts.size();
        add(work_.stage(s).sends);
        messages_.push_back(std::move(messages));
        return messages_.back().parts.size();
    }

    // --- when it is called ---

    static std::size_t unread(const std::vector<Reading>& all) {
        std::size_t left = 0;
        for (const Reading& r : all) left += !r.done;
        return left;
    }
    void until_any_ready(int s, const std::vector<Reading>& all, Deadline& deadline) const {
        for (unsigned turn = 0;; ++turn) {
            for (const Reading& r : all)
                if (!r.done && r.flags->ready.load(std::memory_order_acquire) >= call_) return;
            pause(turn);
            if (!deadline.passed()) continue;
            std::string waited_for;
            for (std::size_t i = 0; i < all.size(); ++i)
                if (!all[i].done)
                    waited_for += (waited_for.empty() ? "rank " : ", rank ") +
                                  std::to_string(work_.stage(s).receives[i].peer) + " to have its message ready";
            throw PlanError(timed_out(work_.where(s), work_.request.watchdog_s, waited_for));
        }
    }

    std::string text(int s, std::size_t part) const { return to_text(part >= of(s).received, of(s).parts[part]); }
    void post_messages(int s) {
        const auto send = work_.request.synchronous ? MPI_Issend : MPI_Isend;
        for (std::size_t i = 0; i < of(s).parts.size(); ++i) {
            const Transfer& t = of(s).parts[i];
            MPI_Request* request = &requests_[i];
            check(i < of(s).received ? MPI_Irecv(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), request)
                                     : send(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), request),
                  [&] { return work_.where(s) + ": " + text(s, i); });
        }
    }
    void wait_for_messages(int s, std::size_t first, std::size_t last) {
        if (first == last) return;
        work_.recorder.during(Activity::wait, s, -1, 0, [&] {
            wait_all(
                static_cast<int>(last - first), &requests_[first], &statuses_[first], work_.request.watchdog_s,
                [&] { return work_.where(s); }, [&](int i) { return text(s, first + static_cast<std::size_t>(i)); });
        });
    }

    const Work& work_;
    const Node node_;
    SharedMemory own_;  // Flags of every send of the plan
    PeerMemories peers_;
    std::vector<std::size_t> first_flag_;  // by stage
    std::vector<std::vector<Reading>> receives_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> statuses_;
    std::vector<Messages> messages_;  // by stage
    std::uint64_t call_ = 0;
};

// Gathered messages are read by peers too.
class SharedBuffers : public Buffers {
  public:
    SharedBuffers(Index out, Index in) : outgoing_(std::max<Index>(out, 1)), incoming_(in) {
        outgoing = outgoing_.data();
        incoming = incoming_.data();
    }

  private:
    SharedMemory outgoing_;
    Memory incoming_;
};

class SharedTransport : public Transport {
    // Within a node the receiver takes a message straight to where it belongs; and with packing direct from where it
    // is, if that is memory that this rank shares.
    Buffering buffering(const Communicator& communicator, const PlanRequest& request) override {
        node_ = std::make_shared<Node>(communicator, request.ranks_per_node);
        const auto node = node_;
        const bool direct = request.packing == "direct";
        const auto send = [node, direct](int peer, const std::vector<Block>& blocks) {
            if (!node->has(peer) || !direct) return true;
            for (const Block& block : blocks)
                if (const Extent e = extent_of(block); !find_shared(e.begin, e.end - e.begin)) return true;
            return false;
        };
        return {send, [node](int peer, const std::vector<Block>&) { return !node->has(peer); }};
    }
    std::unique_ptr<Buffers> buffers(const Communicator&, const PlanRequest&, Index outgoing, Index incoming) override {
        return std::make_unique<SharedBuffers>(outgoing, incoming);
    }
    std::unique_ptr<Carrier> carrier(const Work& work, const Schedule&, Buffers&) override {
        return std::make_unique<Shared>(work, *node_);
    }

    std::shared_ptr<Node> node_;
};

}  // namespace

std::unique_ptr<Transport> make_shared() {
    return std::make_unique<SharedTransport>();
}

}  // namespace tradewind
