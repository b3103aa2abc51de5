// Makes the calls of one rank from its rows. What is the same each time that a row comes is found out the first time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/trace_rows.hpp"

namespace tradewind::program {

class RowReader {
  public:
    // `calls`: where they are added.
    RowReader(CallsOfTrace& trace, Rank rank, const RowSequence& sequence, std::vector<Call>& calls);

    // Throws InputError for a row that is invalid.
    void read();
    // The rows of requests that are begun, and neither waited for nor freed.
    std::vector<std::uint32_t> never_awaited() const;

  private:
    struct Message {
        Call::Kind kind;
        std::uint32_t stream;
        Rank peer;
        std::int64_t bytes;
    };
    // The messages of a collective call, stage by stage.
    struct Stages {
        std::vector<Message> messages;
        std::vector<std::size_t> ends;      // [stage]
        std::int64_t* instances = nullptr;  // calls of the communicator so far
    };
    struct Row {
        RowKind kind;
        std::uint8_t collective;
        std::uint16_t flags, label;
        std::uint32_t communicator;
        std::int32_t peer;
        std::int64_t tag, amount, request;
        std::uint32_t slot;                        // of its request
        std::uint32_t stream = MessageEnds::none;  // of a message, once it is known
        std::shared_ptr<const Stages> stages{};    // of a collective call, once they are known
    };
    // Messages that are under way by one request of MPI; a collective call goes on from stage to stage.
    struct UnderWay {
        bool is_open = false;
        std::vector<std::uint32_t> requests{};  // of this stage
        std::shared_ptr<const Stages> stages{};
        std::size_t next_stage = 0;
        std::uint32_t instance = 0, communicator = 0;
        std::vector<std::uint32_t> from_anywhere{};  // calls: receives whose sender the wait names
        std::uint32_t row = 0;                       // with which it began

        bool has_later_stages() const { return stages && next_stage < stages->ends.size(); }
        void clear();
    };

    std::string place() const;
    void take(Row& row);
    void carry_out(Row& row, bool in_the_background);
    void begin_message(Row& row, UnderWay& under_way);
    void begin_collective(Row& row, UnderWay& under_way);
    std::shared_ptr<const Stages> stages_of(const Row& row);
    void begin_stage(UnderWay& under_way);
    void begin_all_stages();
    void end(UnderWay& under_way);
    void end_request(const Row& row);
    std::uint32_t begin(Call::Kind kind, std::int64_t bytes, bool synchronous, bool in_collective, UnderWay& under_way);
    std::uint32_t stream(Call::Kind kind, Rank peer, std::uint32_t communicator, std::int64_t tag);
    void enter(std::uint32_t call, std::uint32_t stream, Rank peer, std::uint32_t instance);
    void wait(std::uint32_t request) { calls_.push_back({Call::wait, false, false, label_, request, 0, number_, 0}); }

    CallsOfTrace& trace_;
    Rank rank_;
    const RowSequence& sequence_;
    std::vector<Call>& calls_;
    std::vector<Row> rows_;
    std::uint32_t number_ = 0;  // of the row in hand
    std::uint16_t label_ = 0;
    std::vector<std::uint32_t> of_request_;            // [request]: call
    std::vector<UnderWay> slots_;                      // [slot]
    std::vector<std::vector<Row*>> prepared_;          // [slot] rows that are carried out later
    UnderWay in_call_;                                 // what begins and ends in one call
    std::map<std::int64_t, std::uint32_t> staged_;     // requests that are open and have later stages: slot
    std::map<std::uint32_t, std::int64_t> instances_;  // [communicator] collective calls so far
};

}  // namespace tradewind::program
