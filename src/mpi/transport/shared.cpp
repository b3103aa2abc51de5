// Ranks of a node read each other's memory. The sender sets a flag when a message may be read, the receiver when it
// was read; messages between nodes are non-blocking MPI messages.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/pause.hpp"
#include "mpi/carrier.hpp"
#include "mpi/error.hpp"
#include "mpi/node.hpp"
#include "mpi/notes.hpp"
#include "mpi/prepare.hpp"
#include "mpi/shared_memory.hpp"
#include "mpi/transport/transfers.hpp"

namespace tradewind::mpi {

namespace {

// A long message out of memory that its receiver cannot read is handed over in chunks, through a few slots that are
// used again and again: as fast as through a buffer of its length, which would be as large as the arrays. Slots are
// written past the cache: their lines are still in the receiver's, and to take them from there costs twice as much as
// memory.
constexpr Index slots = 4;
Index chunk_of(const PlanRequest& request) {
    return std::min(Index{128} << 10, request.largest_message.value);
}

bool peers_can_read(const std::vector<Block>& blocks) {
    return std::all_of(blocks.begin(), blocks.end(), [](const Block& block) {
        const Extent e = extent_of(block);
        return find_shared(e.begin, e.end - e.begin).has_value();
    });
}

// The numbers of chunks of a message that have been made ready and that have been read, over all calls. Each is written
// by one rank and polled by another, hence a cache line for each.
struct Flags {
    alignas(64) std::atomic<std::uint64_t> ready;
    alignas(64) std::atomic<std::uint64_t> read;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

void pause(unsigned attempt) {
    constexpr unsigned patience = 1000;  // then another rank may need this core
    if (attempt > patience) {
        sched_yield();
        return;
    }
    tradewind::pause();
}

// One end of a message within the node. A message that lies ready is one chunk.
struct Handover {
    Flags* flags = nullptr;                        // the sender's; none between nodes
    std::vector<std::vector<StridedCopy>> chunks;  // the copies of each; of a send that lies ready there are none
    std::uint64_t all = 1;                         // chunks
    Index chunk = 0;                               // bytes of each but the last; 0: of one that is the whole message
    std::uint64_t before = 0;                      // chunks of the calls before this one
    std::uint64_t done = 0;                        // chunks of this call
    bool complete() const { return flags == nullptr || done == all; }
    void begin(std::uint64_t call) {
        before = (call - 1) * all;
        done = 0;
    }
};

class Shared : public Carrier {
  public:
    Shared(const Work& work, const Node& node)
        : work_(work),
          node_(node),
          chunk_(chunk_of(work.request)),
          own_(allocated(flag_bytes())),
          slots_(allocated(std::max<Index>(slot_bytes(), 1))) {
        std::size_t flag = 0;
        for (int s = 0; s < work.stages(); ++s) {
            sends_.emplace_back();
            Index used = 0;
            for (const End& end : work.stage(s).sends) sends_.back().push_back(sending(end, flag++, used));
        }
        const Notes notes = exchange_notes(work, true, [&](int s, std::size_t i) { return describe(s, i); });
        for (int s = 0; s < work.stages(); ++s) {
            receives_.emplace_back();
            const std::vector<End>& ends = work.stage(s).receives;
            for (std::size_t i = 0; i < ends.size(); ++i)
                receives_.back().push_back(
                    reading(ends[i], notes[static_cast<std::size_t>(s)][i], work.stage(s).stores));
        }
        std::size_t maximum = 0;
        for (int s = 0; s < work.stages(); ++s) maximum = std::max(maximum, add_messages(s));
        requests_.assign(maximum, MPI_REQUEST_NULL);
        statuses_.resize(maximum);
        // Nobody uses a flag before its owner has zeroed it, which it was when it was made.
    }

    void post(int s) override {
        if (s == 0) ++call_;
        post_messages(s);
        for (Handover& r : receives(s)) r.begin(call_);
        for (std::size_t i = 0; i < sends(s).size(); ++i) {
            Handover& h = sends(s)[i];
            h.begin(call_);
            if (!h.flags || !h.chunks.empty()) continue;
            const End& end = work_.stage(s).sends[i];
            if (!end.buffer) work_.recorder.during(Activity::pack, s, end.peer, end.bytes, [] {});
            give(h);
        }
        while (give_chunks(s)) {
        }
    }
    // Takes messages as they become ready, and makes the rank's own ready meanwhile.
    void arrive(int s) override {
        const auto taken = [&] { return all_complete(receives(s)); };
        Deadline deadline(work_.request.watchdog_s);
        while (!taken()) {
            const bool gave = give_chunks(s), took = take_chunks(s);
            if (!gave && !took) await(s, deadline, [&] { return waited_for(s, true); });
        }
        const Messages& messages = of(s);
        wait_for_messages(s, 0, messages.received);
        for (std::size_t i = 0; i < messages.received; ++i)
            check_length(statuses_[i], messages.parts[i], [&] { return work_.where(s); });
    }
    void leave(int s) override {
        Deadline deadline(work_.request.watchdog_s);
        while (!all_read(s))
            if (!give_chunks(s)) await(s, deadline, [&] { return waited_for(s, false); });
        wait_for_messages(s, of(s).received, of(s).parts.size());
    }
    bool records() const override { return true; }
    Index messages() const override {
        Index count = 0;
        for (const StageProgram& stage : work_.program.stages) count += static_cast<Index>(stage.sends.size());
        return count;
    }

  private:
    using Handovers = std::vector<Handover>;
    struct Messages {                 // of a stage, between nodes
        std::vector<Transfer> parts;  // receives first
        std::size_t received = 0;
    };
    const Messages& of(int stage) const { return messages_[static_cast<std::size_t>(stage)]; }
    Handovers& sends(int stage) { return sends_[static_cast<std::size_t>(stage)]; }
    Handovers& receives(int stage) { return receives_[static_cast<std::size_t>(stage)]; }

    // --- when the plan is made ---

    Index flag_bytes() const {
        std::size_t sends = 0;
        for (const StageProgram& stage : work_.program.stages) sends += stage.sends.size();
        return static_cast<Index>(std::max<std::size_t>(sends, 1) * sizeof(Flags));
    }
    // A message within the node that is neither gathered by the plan nor lies where its receiver can read it.
    bool in_chunks(const End& end) const {
        return node_.has(end.peer) && !end.buffer &&
               !(work_.request.packed_by(schedule::Packing::direct) && peers_can_read(end.memory));
    }
    // The bytes of the stage that needs most: the messages of a stage have been read when the next one begins.
    Index slot_bytes() const {
        Index maximum = 0;
        for (const StageProgram& stage : work_.program.stages)
            maximum = std::max(maximum, slots * chunk_ *
                                            std::count_if(stage.sends.begin(), stage.sends.end(),
                                                          [&](const End& end) { return in_chunks(end); }));
        return maximum;
    }
    // On all ranks or none: others would wait for the notes of a rank that has no memory.
    std::unique_ptr<SharedMemory> allocated(Index bytes) const {
        return prepare(work_.comm(), "", [&] { return std::make_unique<SharedMemory>(bytes); });
    }
    std::byte* slot(Index first, Index chunk) const { return slots_->data() + first + chunk % slots * chunk_; }
    // The handover of a message to send. Adds the slots that it needs to the `used` bytes of the stage.
    Handover sending(const End& end, std::size_t flag, Index& used) const {
        Handover h;
        if (!node_.has(end.peer)) return h;
        h.flags = reinterpret_cast<Flags*>(own_->data()) + flag;
        if (!in_chunks(end)) return h;
        h.chunk = chunk_;
        for (Index begin = 0; begin < end.bytes; begin += h.chunk) {
            const Index bytes = std::min(h.chunk, end.bytes - begin);
            append_copies(slice(end.memory, begin, begin + bytes),
                          {buffer_block(slot(used, static_cast<Index>(h.chunks.size())), bytes)}, Stores::streamed,
                          h.chunks.emplace_back());
            compile(h.chunks.back());
        }
        h.all = h.chunks.size();
        used += slots * h.chunk;
        return h;
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
    // The flags of a send and where its bytes lie, or the slots that they go through, which are fewer bytes than the
    // message; nothing between nodes.
    std::vector<Block> describe(int s, std::size_t i) {
        std::vector<Block> note;
        const End& end = work_.stage(s).sends[i];
        const Handover& h = sends(s)[i];
        if (!h.flags) return note;
        append_place(*find_shared(reinterpret_cast<const std::byte*>(h.flags), sizeof(Flags)),
                     buffer_block(nullptr, sizeof(Flags)), note);
        std::vector<Block> blocks;
        if (h.chunks.empty()) blocks = end.place();
        for (std::size_t k = 0; k < std::min<std::size_t>(slots, h.chunks.size()); ++k)
            blocks.push_back(buffer_block(h.chunks[k][0].to, h.chunk));
        for (const Block& block : blocks) {
            const Extent extent = extent_of(block);
            const std::optional<SharedPlace> low = find_shared(extent.begin, extent.end - extent.begin);
            if (!low) throw PlanError(work_.where(s) + ": a message lies in memory that is not shared");
            append_place({low->handle, low->offset + (block.data - extent.begin)}, block, note);
        }
        return note;
    }
    Handover reading(const End& end, const std::vector<Block>& note, Stores stores) {
        Handover h;
        if (note.empty()) return h;
        std::vector<Block> from;
        for (std::size_t b = 0; b < note.size(); b += 2) {
            const auto& [file, bytes, mark] = note[b].shape;
            const SharedHandle handle{note[b].run, file, bytes, mark};
            Block block = note[b + 1];
            block.data = peers_.at({handle, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(block.data))});
            from.push_back(block);
        }
        h.flags = reinterpret_cast<Flags*>(from[0].data);
        from.erase(from.begin());
        Index there = 0;
        for (const Block& block : from) there += block.bytes();
        if (there == end.bytes) {
            append_copies(from, end.place(), stores, h.chunks.emplace_back());
            compile(h.chunks.back());
            return h;
        }
        h.chunk = from[0].bytes();
        for (Index begin = 0; begin < end.bytes; begin += h.chunk) {
            const Index bytes = std::min(h.chunk, end.bytes - begin);
            const Block& slot = from[h.chunks.size() % from.size()];
            append_copies({buffer_block(slot.data, bytes)}, slice(end.place(), begin, begin + bytes), stores,
                          h.chunks.emplace_back());
            compile(h.chunks.back());
        }
        h.all = h.chunks.size();
        return h;
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

    static bool all_complete(const Handovers& all) {
        return std::all_of(all.begin(), all.end(), [](const Handover& h) { return h.complete(); });
    }
    static bool is_read(const Handover& h) {
        return !h.flags || h.flags->read.load(std::memory_order_acquire) >= h.before + h.all;
    }
    bool all_read(int s) { return std::all_of(sends(s).begin(), sends(s).end(), is_read); }
    // The next chunk can be gathered, as its slot is free; or read, as it is there.
    static bool can_give(const Handover& h) {
        return !h.complete() && h.before + h.done < h.flags->read.load(std::memory_order_acquire) + slots;
    }
    static bool can_take(const Handover& h) {
        return !h.complete() && h.flags->ready.load(std::memory_order_acquire) > h.before + h.done;
    }
    static void give(Handover& h) {
        ++h.done;
        h.flags->ready.store(h.before + h.done, std::memory_order_release);
    }
    // At most one chunk of each message; whether there was any.
    bool give_chunks(int s) {
        bool any = false;
        for (std::size_t i = 0; i < sends(s).size(); ++i) {
            Handover& h = sends(s)[i];
            if (!can_give(h)) continue;
            carry(Activity::pack, s, work_.stage(s).sends[i], h);
            give(h);
            any = true;
        }
        return any;
    }
    bool take_chunks(int s) {
        bool any = false;
        for (std::size_t i = 0; i < receives(s).size(); ++i) {
            Handover& h = receives(s)[i];
            if (!can_take(h)) continue;
            carry(Activity::unpack, s, work_.stage(s).receives[i], h);
            ++h.done;
            h.flags->read.store(h.before + h.done, std::memory_order_release);
            any = true;
        }
        return any;
    }
    void carry(Activity activity, int s, const End& end, const Handover& h) {
        const Index bytes =
            h.chunk == 0 ? end.bytes : std::min(h.chunk, end.bytes - static_cast<Index>(h.done) * h.chunk);
        work_.recorder.during(activity, s, end.peer, bytes, [&] {
            for (const StridedCopy& c : h.chunks[h.done]) c.execute(c);
        });
    }
    // Until there is something to do: a chunk to take or to make ready, or the last one has been read.
    template <typename For>
    void await(int s, Deadline& deadline, For waited_for) {
        const auto ready = [&] {
            return std::any_of(receives(s).begin(), receives(s).end(), can_take) ||
                   std::any_of(sends(s).begin(), sends(s).end(), can_give) ||
                   (all_complete(receives(s)) && all_read(s));
        };
        work_.recorder.during(Activity::wait, s, -1, 0, [&] {
            for (unsigned attempt = 0; !ready(); ++attempt) {
                pause(attempt);
                if (deadline.passed())
                    throw PlanError(timed_out(work_.where(s), work_.request.watchdog_s, waited_for()));
            }
        });
    }
    std::string waited_for(int s, bool receiving) {
        const std::vector<End>& ends = receiving ? work_.stage(s).receives : work_.stage(s).sends;
        const Handovers& all = receiving ? receives(s) : sends(s);
        std::string text;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (receiving ? !all[i].complete() : !is_read(all[i]))
                text += (text.empty() ? "rank " : ", rank ") + std::to_string(ends[i].peer) +
                        (receiving ? " to have its message ready" : " to read its message");
        return text;
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
    const Index chunk_;                    // bytes
    std::unique_ptr<SharedMemory> own_;    // Flags of every send of the plan
    std::unique_ptr<SharedMemory> slots_;  // of the messages of a stage that go in chunks
    PeerMemories peers_;
    std::vector<Handovers> sends_, receives_;  // by stage
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
        const bool direct = request.packed_by(schedule::Packing::direct);
        const Index at_once = slots * chunk_of(request);
        const auto send = [node, direct, at_once](int peer, const std::vector<Block>& blocks) {
            if (!node->has(peer)) return !one_run(blocks);
            Index bytes = 0;
            for (const Block& block : blocks) bytes += block.bytes();
            return bytes <= at_once && !(direct && peers_can_read(blocks));
        };
        return {send,
                [node](int peer, const std::vector<Block>& blocks) { return !node->has(peer) && !one_run(blocks); }};
    }
    std::unique_ptr<Buffers> buffers(const Communicator&, const PlanRequest&, Index outgoing, Index incoming) override {
        return std::make_unique<SharedBuffers>(outgoing, incoming);
    }
    bool reaches(int peer) const override { return node_->has(peer); }
    std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule&, Buffers&) override {
        if (work.program.copier) return make_pushes(work, node_);
        return std::make_unique<Shared>(work, *node_);
    }

    std::shared_ptr<Node> node_;
};

}  // namespace

std::unique_ptr<Transport> make_shared() {
    return std::make_unique<SharedTransport>();
}

}  // namespace tradewind::mpi
