// The model's end of the way to a server: slots, from which blocks of fields go to it, and what it says.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agreement.hpp"
#include "handover.hpp"
#include "part.hpp"
#include "plan.hpp"
#include "talk.hpp"

namespace tradewind::c {

// The part of a step that a share of the output has: share, step.
using StepPart = std::pair<int, Index>;

// A field, or levels of it, in a block, and the sinks and files that it goes to.
struct Entry {
    std::string field;
    Index step;
    std::vector<Index> places;
    std::vector<std::string> sinks, paths;
    int share;

    StepPart part() const { return {share, step}; }
};

inline constexpr std::size_t most_slots = 64;

// News of a server that the first rank has heard, and all ranks learn.
struct ServerNews {
    std::array<Index, most_slots> released{};  // blocks of each slot whose memory is free
    Index finished = 0, lost = 0;
};

// To the server `number`, which is the last rank of `pair`; the first of the others has `talk`. Shares of the output
// are its own, of that number, and those that it has taken over. Collective, where nothing else is said.
class Channel {
  public:
    // A block that goes from the model's own array: its slot, and its number there.
    struct Sent {
        std::size_t slot;
        Index number;
    };
    struct Kept {
        Entry entry;
        ModelPart values;
    };

    Channel(int number, MPI_Comm pair, const OutputPlan& plan, ServerMethod method, Agreement& agreement);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    int number() const { return number_; }
    MPI_Comm pair() const { return pair_; }
    // Gives the server an order; the first rank does it for all. Not collective.
    void say(const Json::Object& order);
    // Returns what the server says with a tag; none where it gives no sign of life: then it is lost, on all ranks.
    // `go`: unless it tells of an error it waits to do something together with the model, and is told that this will.
    std::optional<Json> answer(ServerTag tag, bool go = false);

    // Puts a part of a field into a block, which goes when it is full; false where there is no room yet. `grows`: there
    // may be a new slot.
    bool add(const FieldForm& form, const Entry& entry, const ModelPart& values, bool grows);
    // Lets a field go from the model's own array; none where there is no room yet.
    std::optional<Sent> start(const FieldForm& form, const Entry& entry, const ModelPart& values, bool grows);
    // Whether this rank's part is with the server; waits where its transport must. Not collective.
    bool has_gone(const Sent& sent);
    // The array of a block is the model's own again: if the server is lost now, the field is. Not collective.
    void give_back(const Sent& sent);
    // Lets all blocks go.
    void flush();
    // Nothing more comes of a step of a share.
    void end_step(const StepPart& part);
    // Gives a file up, for one of its fields. Not collective.
    void drop(const StepPart& part, const std::string& path);
    // Gives a part up, of which fields are lost: it must not look whole. Not collective.
    void spoil(const StepPart& part);
    // The model waits for room.
    void hurry();
    // Waits until the server has all blocks.
    void arrive();
    // Forgets what has not been sent.
    void discard() { pending_.clear(); }

    std::string lost;  // why nothing goes there any more, on all ranks
    bool hurried = false;
    ServerNews known;  // on all ranks
    void learn(const ServerNews& news);
    // Whether steps that have ended are not known to be finished.
    bool owes() const { return !ended_.empty(); }

    // Parts of steps that another server has to write if this one is lost: they are not finished and have ended, or
    // have fields or files given up here; by step.
    std::vector<StepPart> unfinished() const;
    // The fields that lie here of such parts, those that have not been sent, too.
    std::vector<Kept> kept() const;
    std::vector<std::string> dropped(const StepPart& part) const;  // once for each field
    bool has_ended(const StepPart& part) const;
    // Whether its memory was used again before it was finished: it could not be written again.
    bool is_spoilt(const StepPart& part) const { return reused_.count(part) > 0; }

    std::string gone;  // why the server is lost, as this rank has found
    // These are on the first rank alone.
    ServerNews heard;
    std::deque<std::string> errors;
    std::unique_ptr<Talk> talk;
    // Takes in what the server has said. Not collective.
    void listen();
    // Its last answer, for which this waits as long as it gives signs of life; false: it does not come.
    bool part();

  private:
    using Clock = std::chrono::steady_clock;
    struct Slot {
        std::string alike;  // "" where it has no memory
        std::vector<PartMemory> memory;
        std::vector<ModelPart> parts;
        bool of_model = false;                                                  // its one part is the model's own array
        std::shared_ptr<mpi::SharedMemory> shared;                              // in which that lies
        std::vector<std::pair<std::size_t, std::unique_ptr<mpi::Plan>>> plans;  // of so many fields, as made
        Index number = 0;                                                       // blocks so far
        std::vector<Entry> entries;
        mpi::Plan* under_way = nullptr;

        bool is_from(const ModelPart& values) const;
    };

    Json heard_or_lost(ServerTag tag);
    void take_in(const Json& news);
    void hear_news();
    double silent_s() const { return std::chrono::duration<double>(Clock::now() - heard_at_).count(); }
    bool is_done(const StepPart& part) const;
    bool has_room(Index more) const { return bytes() + more <= plan_.slot_bytes; }
    Index bytes() const;
    bool is_free(std::size_t place) const;
    std::size_t next_place() const;
    // `from`: the model's own array. -1: none yet.
    int free_slot(const FieldForm& form, const std::string& field, bool grows, const ModelPart* from = nullptr);
    std::uint64_t alike_slots(const FieldForm& form, const ModelPart* from) const;
    int new_slot(const FieldForm& form);
    int instead_of(const FieldForm& form, const std::string& field);
    // Waits until a block has gone; false where the server takes no part in that, of which the next news tell.
    bool await(Slot& slot);
    void take(Slot& slot);
    bool send(std::size_t place);
    bool bind(Slot& slot, std::size_t count);
    // Keeps for good what a lost server may still take.
    static void keep_unsettled(const Slot& slot);

    const int number_;
    const MPI_Comm pair_;
    const OutputPlan& plan_;
    const ServerMethod method_;
    Agreement& agreement_;
    std::map<std::string, std::unique_ptr<ServerHandover>> handovers_;
    std::deque<Slot> slots_;
    std::map<std::string, std::size_t> pending_;  // the slot that is being filled, of fields that are alike
    std::deque<StepPart> ended_;                  // and not known to be finished, in the order of their ends
    std::map<int, Index> done_;                   // by share, the last step that is finished
    std::set<StepPart> reused_;
    std::vector<std::pair<StepPart, std::string>> dropped_;
    Clock::time_point heard_at_ = Clock::now(), owing_since_{};
    bool owing_ = false;
};

}  // namespace tradewind::c
