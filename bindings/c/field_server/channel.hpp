// The model's end of the way to a server: slots, from which blocks of fields go to it, and what it says.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agreement.hpp"
#include "handover.hpp"
#include "part.hpp"
#include "plan.hpp"
#include "talk.hpp"

namespace tradewind::c {

// A field, or levels of it, in a block.
struct Entry {
    std::string field;
    Index step;
    std::vector<Index> places;
    std::vector<std::string> sinks;
    int share;
};

inline constexpr std::size_t most_slots = 64;

// News of a server that the first rank has heard, and all ranks learn.
struct ServerNews {
    std::array<Index, most_slots> released{};  // blocks of each slot whose memory is free
    Index finished = 0, lost = 0;
};

// To the server `number`, which is the last rank of `pair`; the first of the others has `talk`. Collective, where
// nothing else is said.
class Channel {
  public:
    Channel(int number, MPI_Comm pair, const OutputPlan& plan, ServerMethod method, Agreement& agreement);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    int number() const { return number_; }
    MPI_Comm pair() const { return pair_; }
    // Gives the server an order; the first rank does it for all. Not collective.
    void say(const Json::Object& order);
    // Returns what the server says with a tag. Throws PlanError where it is lost. `go`: unless it tells of an error it
    // waits to do something together with the model, and is told that this will.
    Json answer(ServerTag tag, bool go = false);

    // Puts a part of a field into a block, which goes when it is full; false where there is no room yet. `grows`: there
    // may be a new slot.
    bool add(const FieldForm& form, const Entry& entry, const ModelPart& values, bool grows);
    // Lets all blocks go.
    void flush();
    void end_step(Index step);
    // The model waits for room.
    void hurry();
    // Waits until the server has all blocks.
    void arrive();
    // Forgets what has not been sent.
    void discard() { pending_.clear(); }

    bool hurried = false;
    ServerNews known;  // on all ranks
    Index ended = 0;   // steps
    // These are on the first rank alone.
    ServerNews heard;
    std::string gone;  // why the server is lost
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
        std::vector<PartMemory> parts;
        std::vector<std::pair<std::size_t, std::unique_ptr<mpi::Plan>>> plans;  // of so many fields, as made
        Index number = 0;                                                       // blocks so far
        std::vector<Entry> entries;
        mpi::Plan* under_way = nullptr;
    };

    Json heard_or_lost(ServerTag tag);
    void take_in(const Json& news);
    void hear_news();
    double silent_s() const { return std::chrono::duration<double>(Clock::now() - heard_at_).count(); }
    bool has_room(Index more) const { return bytes() + more <= plan_.slot_bytes; }
    Index bytes() const;
    bool is_free(std::size_t place) const;
    std::size_t next_place() const;
    int free_slot(const FieldForm& form, const std::string& field, bool grows);  // -1: none yet
    int new_slot(const FieldForm& form);
    int instead_of(const FieldForm& form, const std::string& field);
    void take(Slot& slot);
    void send(std::size_t place);

    const int number_;
    const MPI_Comm pair_;
    const OutputPlan& plan_;
    const ServerMethod method_;
    Agreement& agreement_;
    std::map<std::string, std::unique_ptr<ServerHandover>> handovers_;
    std::deque<Slot> slots_;
    std::map<std::string, std::size_t> pending_;  // the slot that is being filled, of fields that are alike
    Clock::time_point heard_at_ = Clock::now(), owing_since_{};
    bool owing_ = false;
};

}  // namespace tradewind::c
