// The ranks of one part of a simulation: what they post and receive, stage after stage, and what their NICs send.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/begun_stage.hpp"
#include "sim/early_packets.hpp"
#include "sim/outbox.hpp"
#include "sim/pool.hpp"
#include "sim/recorder.hpp"
#include "sim/replay.hpp"
#include "sim/state.hpp"
#include "sim/unexpected.hpp"
#include "sim/wheel.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

class Ranks {
  public:
    Ranks(World& world, Outbox& outbox, std::uint32_t id);

    // Lets the ranks of this part begin, at time 0.
    void start();
    // Takes their actions of this window; early, so that their states come while packets are dealt with.
    void take();
    void process();

    // A packet whose tail reaches its rank at `time`, in a later window.
    [[gnu::always_inline]] void deliver(const Event& event, std::int64_t time) {
        if (event.kind() == Event::data && world_.unexpected_byte_time > 0) [[unlikely]]
            note_unexpected(static_cast<Rank>(event.rank()), event.program_stage(), event.bytes(), time);
        if (event.kind() == Event::data && !(event.last() && world_.receive_overhead > 0)) [[likely]]
            receive(static_cast<Rank>(event.rank()), event.program_stage(), event.bytes(), time);
        else
            deliver_other(event, time);
    }
    // A message that has bypassed the network, in this window.
    void come_past(const Event& event);
    // A packet of a message, before it is delivered; for those whose trace events are kept.
    void record_arrival(const Event& event, std::int64_t time);
    void add_trace_events_to(std::vector<TraceEvent>& events) const {
        if (recorder_) recorder_->add_to(events);
    }
    // The switch of a terminal has room for `bytes` more bytes from its NIC.
    void add_credit(std::uint32_t terminal, std::int64_t time, std::uint32_t bytes) {
        enqueue(time, terminal, sim::credit, 0, bytes);
    }

    struct Counts {
        std::int64_t messages = 0, sent = 0, arrived = 0, hops = 0, finished = 0;
        BusyTime busy;                // of the ranks that have finished, with noise
        std::int64_t unexpected = 0;  // bytes that came before their receive was posted, and were copied
        std::uint64_t actions = 0;
        std::vector<std::int64_t> step_end;  // [step] ps
        std::vector<std::int64_t> ended;     // [question of the program's ending] ranks that it does not wait for
        std::uint32_t furthest = 0;          // the last stage that a rank has begun
    };
    const Counts& counts() const { return counts_; }

    // When the first of them began what is watched for, since this was asked last; `never` if none has.
    std::int64_t take_begun() { return std::exchange(begun_, Wheel::never); }
    std::int64_t begun() const { return begun_; }
    // Null: ranks follow a program.
    const Replay* replay() const { return replay_.get(); }
    // See state.hpp.
    void settle();
    void write(StateWriter& out) const;
    void tally(Tally& count);
    StateWriter::Pulled pulled(std::uint32_t record) const;

  private:
    friend class Replay;  // which sends by its NICs

    static constexpr int packets_ahead = 8;
    static constexpr std::size_t early_actions = 1024, actions_ahead = 12, states_ahead = 5;

    // A message that its receiver has asked for.
    struct Pull {
        std::int64_t left, time;
        std::uint32_t source, stage, message, next;
    };
    // A request that came before its stage.
    struct Request {
        std::uint32_t source, stage, message, next;
    };
    // Something that has come while its rank was in no call.
    struct Held {
        Event event;
        std::uint32_t next;
    };
    // Something that a NIC sends beside the messages of a stage: a control packet, or a message that was asked for.
    struct Job {
        std::int64_t post, left;
        std::uint32_t from, to, size, stage, payload, message, next;
        bool is_control, takes_turns = false;
    };
    // With finite buffers: room for a NIC at its switch, and which of its senders wait for it.
    // The first stands here: to look it up elsewhere would cost a cache miss, and most NICs have one sender.
    struct alignas(32) Credits {
        std::uint32_t credit, first;
        Queue others;
        std::uint32_t peer;     // of the message that the first one sends + 1; 0: not known
        std::uint32_t actions;  // list of those of the window in hand; numbers + 1, 0: none
    };
    struct Waiter {
        std::uint32_t sender, next;
    };
    // A NIC that several share: who has it, whether that one wants it again, and who else waits for it.
    struct Line {
        std::uint32_t user;
        bool again;
        Queue others;
        bool empty() const { return !again && others.empty(); }
    };
    void write_line(StateWriter& out, Rank r, std::size_t line) const;
    void write_nic(StateWriter& out, std::uint32_t terminal) const;
    void write_jobs(StateWriter& out, std::uint32_t terminal, const Queue& queue) const;
    static constexpr std::uint32_t jobs_wait = ~0u;  // for a sender: the terminal's jobs
    static constexpr std::uint32_t no_sender = ~0u - 1;

    void prefetch(const Event& event) const;
    void prefetch_early(const Event& event) const;
    void process_in_order();
    void process_by_node();
    void process(const Event& event);
    void process_in_turn(const Event& event);
    bool process_replayed(const Event& event);
    void enqueue(std::int64_t time, std::uint32_t who, RankEvent what, std::uint32_t stage, std::uint32_t size,
                 std::uint32_t memory = 0) {
        outbox_.enqueue({time, what, who, size, stage, memory, 0});
    }

    void receive(Rank r, std::uint32_t stage, std::int64_t bytes, std::int64_t time) {
        counts_.arrived += bytes;
        Receiver& rank = world_.receivers[world_.line(r, stage)];
        if (stage - rank.stage >= Receiver::ring) [[unlikely]] {
            receive_early(rank, r, stage, time);
            return;
        }
        std::int64_t& last = rank.time[stage % Receiver::ring];
        last = std::max(last, time);
        if (--rank.missing[stage % Receiver::ring] == 0 && stage == rank.stage) [[unlikely]]
            end_receiving(rank, r, stage, last);
    }
    // Out of the way of most packets, which are neither the last of a stage nor come so early.
    [[gnu::noinline]] void receive_early(Receiver& rank, Rank r, std::uint32_t stage, std::int64_t time) {
        ++rank.early;
        early_.add(r, stage, time);
    }
    [[gnu::noinline]] void end_receiving(const Receiver& rank, Rank r, std::uint32_t stage, std::int64_t last) {
        if (all_sent(world_.line(r, stage), rank))
            enqueue(std::max(rank.departed, last), static_cast<std::uint32_t>(r), advance, line_bits(stage), 0);
    }
    void deliver_other(const Event& event, std::int64_t time);
    void take_pulled(const Event& event, std::int64_t time);
    // The CPU deals with something of a stage at `time`, or when it is free; returns when it is done.
    std::int64_t attend(Rank r, std::uint32_t stage, std::int64_t time);

    // Whether all that a rank has to send in its stage is sent.
    bool all_sent(std::size_t line, const Receiver& rank) const {
        return rank.sending == 0 && (world_.handshakes.empty() || world_.handshakes[line].unacknowledged == 0);
    }
    void begin_stage(std::size_t line, std::int64_t time);
    void leave_stage(Rank r, Receiver& receiver);
    void skip_to(Rank r, Receiver& receiver, std::uint32_t stage);
    std::int64_t post_receives(std::size_t line, std::int64_t time);
    // The receives that are posted together: those of the stage, or of the exchange; by its first stage, and the one
    // after its last.
    std::array<std::uint32_t, 2> posted_at_once(std::uint32_t stage) const;
    void note_unexpected(Rank r, std::uint32_t stage, std::uint32_t bytes, std::int64_t time);
    bool is_posted(Rank r, std::uint32_t stage) const {
        const std::size_t line = world_.line(r, stage);
        if (!world_.posted.empty()) return stage < world_.posted[line];
        return stage == world_.receivers[line].stage && (world_.walkers.empty() || has_begun(line));
    }
    // Whether the stage has ended, and another has begun at once; if it ends later, an action will see to it.
    bool end_stage_if_done(std::size_t line);
    bool end_stage(std::size_t line, std::int64_t time);
    void run(std::size_t line);
    // The bits of a stage that name its line.
    std::uint32_t line_bits(std::uint32_t stage) const {
        return world_.lines == 1 ? 0 : stage >> program::Order::line_shift << program::Order::line_shift;
    }
    std::uint32_t sender_id(Rank r, std::uint32_t stage, std::uint32_t nic) const {
        return static_cast<std::uint32_t>(world_.line(r, stage)) * world_.nics_per_node + nic;
    }

    // Ranks that follow an order of operations (ranks_order.cpp).
    void start_walk(Rank r);
    void walk(Rank r);
    bool start(Rank r, const program::Operation& operation);
    bool wait(Rank r, const program::Operation& operation);
    bool poke(Rank r);
    // The rank has come to its end.
    void finish(Rank r) {
        ++counts_.finished;
        if (!world_.busy.empty()) counts_.busy.add_rank(world_.busy[r]);
    }
    void finish_operation(Rank r, const program::Operation& operation);
    void stage_over(std::size_t line, std::int64_t time);
    void bring_on(std::size_t line);
    void post_stage(std::size_t line);
    // Whether the receives of a line's stage have been posted.
    bool has_begun(std::size_t line) const {
        const LineState::What what = world_.line_states[line].what;
        return what == LineState::under_way || what == LineState::over;
    }
    // Whether the CPU, or a thread, can deal with what comes.
    bool attends(Rank r) const {
        return world_.progress == Progress::thread || calling_ == r || world_.walkers[r].waits > 0;
    }
    bool held(Rank r, const Event& event);
    void call(Rank r);
    // Until when the CPU or thread that handles messages is busy.
    std::int64_t& clock(Rank r) { return world_.helpers.empty() || calling_ == r ? world_.cpus[r] : world_.helpers[r]; }

    void run_sender(std::uint32_t sender, std::uint32_t peer = 0);
    bool send(std::size_t line, std::uint32_t nic, int& packets, std::uint32_t peer = 0);
    bool must_wait_to_copy(Rank r, const Sender& sender, const program::Program::Stage& at,
                           const schedule::Message& message, std::uint32_t nic);
    bool send_message(Rank r, Sender& sender, const program::Program::Stage& at, const schedule::Message& message,
                      std::uint32_t nic);
    void copy(Sender& sender, Rank from, Rank to, std::int64_t bytes);
    void carry(Sender& sender, Rank from, Rank to, std::int64_t bytes);
    void send_past(Sender& sender, Rank from, Rank to, std::int64_t bytes);
    bool inject(Rank r, Sender& sender, Rank peer, std::uint32_t nic, int& packets);

    bool arbitrate(std::uint32_t terminal, std::uint32_t sender);
    void grant(std::uint32_t terminal);
    void queue_up(Queue& queue, std::uint32_t sender);
    std::uint32_t where_of(std::uint32_t terminal) const;
    void emit_packet(std::uint32_t terminal, std::int64_t start, const Event& packet);
    void wait_for_credit(Credits& credits, std::uint32_t sender, std::uint32_t peer);
    bool take_credit(std::uint32_t terminal, std::uint32_t bytes, std::uint32_t sender, std::uint32_t peer = 0);
    void return_credit(std::uint32_t terminal, std::uint32_t bytes);
    std::uint32_t draw(std::uint32_t from, std::uint32_t to, std::uint32_t stage, std::int64_t left) const;

    void send_control(ControlKind kind, Rank from, Rank to, std::uint32_t stage, std::uint32_t message,
                      std::uint32_t payload, std::uint32_t nic, std::int64_t time);
    void add_job(std::uint32_t terminal, const Job& job);
    void serve_jobs(std::uint32_t terminal);
    void send_packet(std::uint32_t terminal, Job& job, std::uint32_t bytes, std::int64_t start);
    void send_ahead(std::uint32_t terminal, Job job);
    void reply_to_request(Rank r, std::uint32_t source, std::uint32_t stage, std::uint32_t message, std::int64_t time);
    void send_pulled(Rank r, std::uint32_t stage, std::uint32_t message, std::uint32_t record);

    World& world_;
    Outbox& outbox_;
    std::uint32_t id_;
    bool prefetches_;   // the number of a rank is that of its NIC
    bool independent_;  // with finite buffers: only actions of the same node have an effect on each other
    std::vector<Event> actions_;
    std::vector<std::uint32_t> following_;  // [action]: the next one in the list of its node + 1; 0: none
    std::vector<std::uint32_t> of_node_;    // actions of one that has several
    HugeVector<std::uint64_t> keys_, other_keys_;
    std::int64_t time_ = 0;  // of the action in hand
    BegunStage begun_stage_;
    EarlyPackets early_;
    Unexpected unexpected_;
    Pool<Pull> pulls_;
    Pool<Request> requests_;
    Pool<Job> jobs_;
    Pool<Waiter> waiters_;
    std::unordered_map<std::uint32_t, Queue> job_queues_;  // by terminal, of those with jobs
    LazyArray<Credits> credits_;                           // [terminal]
    LazyArray<Line> lines_;                                // [terminal]; none where NICs are not shared
    bool granted_ = false;                                 // the sender that goes on now
    bool resuming_ = false;
    Rank calling_ = -1;                    // the rank whose CPU is in a call that does not wait
    std::size_t going_ = ~std::size_t{0};  // the line that is being brought on
    Pool<Held> held_;                      // what has come, and waits for a call
    Counts counts_;
    std::int64_t begun_ = Wheel::never;
    std::unique_ptr<Recorder> recorder_;  // null: no trace events are kept
    std::unique_ptr<Replay> replay_;
};

}  // namespace tradewind::sim
