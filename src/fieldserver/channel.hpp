// The model's end of the way to a writer: slots, from which blocks of fields go to it, and its messages.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fieldserver/handover.hpp"
#include "fieldserver/model_part.hpp"
#include "fieldserver/output_plan.hpp"
#include "fieldserver/server_messages.hpp"
#include "fieldserver/step_parts.hpp"

namespace tradewind::fieldserver {

// A field, or levels of it, in a block, and the sinks and files that it goes to.
struct Entry {
    std::string field;
    Index step;
    std::vector<Index> places;
    std::vector<std::string> sinks, paths;
    int share;

    StepPart part() const { return {share, step}; }
};

// To the writer `number`: a server, or one on a rank of the model. Shares of the output are its own, of that number,
// and those that it has taken over. Collective, unless noted.
class Channel : public ServerMessages {
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

    // To a server that is a rank of the job; LocalChannel: to a process beside a rank.
    Channel(int number, ServerLink link, const OutputPlan& plan, ServerMethod method, Agreement& agreement);
    // To the `writer` that is on the rank `root` of the model, which has it. `waits`: it has written a step before the
    // model goes on.
    Channel(int number, std::unique_ptr<LocalWriter> writer, int root, bool waits, const OutputPlan& plan,
            ServerMethod method, Agreement& agreement);
    virtual ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    int number() const { return number_; }
    const Receiver& receiver() const { return receiver_; }
    // Whether the server is a rank, which takes part in exchanges.
    virtual bool is_rank() const { return is_remote(); }
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
    // Marks a part of which fields are lost: it must not look whole. Not collective.
    void mark_incomplete(const StepPart& part);
    // Has all blocks written now; the model waits until there is room.
    void flush_now();
    // Waits until the writer has all blocks.
    void arrive();
    // Forgets what has not been sent.
    void discard();
    // The server is lost, and another one has its shares. Not collective.
    virtual void leave() { send_order({{"op", "leave"}}); }
    // Memory of a whole field that the server reads, where it shares memory with the rank beside it; of nothing on the
    // other ranks.
    virtual std::optional<PartMemory> input_memory(const FieldForm&) { return {}; }

    ServerStatus known;  // on all ranks
    void learn(const ServerStatus& status);
    // Takes in the status of the writer, on the rank that has its messages.
    void receive() { ServerMessages::receive(known.finished + parts_.owed()); }

    // Parts of steps that another server has to write if this one is lost.
    const StepParts& parts() const { return parts_; }
    std::vector<StepPart> unfinished() const;
    // The fields that lie here of such parts, those that have not been sent, too.
    std::vector<Kept> kept() const;

  protected:
    // Memory of a further whole field of a slot, on the receiver; of nothing elsewhere.
    virtual PartMemory new_whole(std::size_t place, const FieldForm& form);

  private:
    struct Slot {
        std::string alike;  // "" where it has no memory
        std::vector<PartMemory> memory;
        std::vector<ModelPart> parts;
        std::vector<PartMemory> whole;                                          // on the receiver
        bool of_model = false;                                                  // its one part is the model's own array
        std::vector<std::pair<std::size_t, std::unique_ptr<mpi::Plan>>> plans;  // by number of fields, as made
        Index number = 0;                                                       // blocks so far
        std::vector<Entry> entries;
        mpi::Plan* under_way = nullptr;

        bool is_from(const ModelPart& values) const;
    };

    bool has_room(Index more) const { return bytes() + more <= plan_.slot_bytes; }
    Index bytes() const;
    bool is_free(std::size_t place) const;
    std::size_t next_place() const;
    // `from`: the model's own array. -1: none yet.
    int free_slot(const FieldForm& form, const std::string& field, bool grows, const ModelPart* from = nullptr);
    std::uint64_t alike_slots(const FieldForm& form, const ModelPart* from) const;
    int new_slot(const FieldForm& form);
    int instead_of(const FieldForm& form, const std::string& field);
    // Waits until a block has gone; false where the server takes no part in that, as the next status has.
    bool await(Slot& slot);
    void take(Slot& slot);
    bool send(std::size_t place);
    void start_plan(Slot& slot, mpi::Plan& plan);
    void hand_to_writer(const Slot& slot, mpi::Plan& plan, const Json::Object& order);
    mpi::Plan* plan_of(Slot& slot, std::size_t count);
    // Keeps for good what a lost server may still take.
    static void keep_unsettled(const Slot& slot);

    const int number_;
    const Receiver receiver_;
    const bool waits_;
    const OutputPlan& plan_;
    const ServerMethod method_;
    Agreement& agreement_;
    std::map<std::string, std::unique_ptr<ServerHandover>> handovers_;
    std::deque<Slot> slots_;
    std::map<std::string, std::size_t> pending_;  // the slot that is being filled, of fields that are alike
    StepParts parts_;
};

}  // namespace tradewind::fieldserver
