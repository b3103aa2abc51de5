// Messages of a channel: orders to a server, its replies and its status.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "fieldserver/agreement.hpp"
#include "fieldserver/control_channel.hpp"
#include "fieldserver/json.hpp"
#include "fieldserver/message.hpp"

namespace tradewind::fieldserver {

inline constexpr std::size_t most_slots = 64;

// Status of a server, which the first rank receives and all ranks learn.
struct ServerStatus {
    std::array<Index, most_slots> released{};  // blocks of each slot whose memory is free
    Index finished = 0, lost = 0;
};

// With the server that is the last rank of `pair`; the first of the others has `control`. `patience`: seconds after
// which a server that is silent is lost.
class ServerMessages {
  public:
    ServerMessages(MPI_Comm pair, double patience, Agreement& agreement);

    // Sends the server an order; the first rank does so for all. Not collective.
    void send_order(const Json::Object& order);
    // Returns the reply with a tag, an error or ""; none where the server is silent: then it is lost, on all ranks.
    // `go`: reply `go` when the server is ready to do something together with the model, and has met no error.
    // Collective.
    std::optional<std::string> reply(ServerTag tag, bool go = false);

    std::string lost;      // why nothing goes there any more, on all ranks
    std::string gone;      // why the server is lost, as this rank has found
    bool awaited = false;  // the model waits for room, or for its array

    // These are on the first rank alone.
    ServerStatus received;
    std::deque<std::string> errors;
    std::unique_ptr<ControlChannel> control;
    // Takes in the messages of a server that is to finish `parts` parts of steps.
    void receive(Index parts);
    // Waits for the last message of the server as long as it gives signs of life; false: it does not come.
    bool await_end();

  private:
    using Clock = std::chrono::steady_clock;

    std::string received_or_lost(ServerTag tag);
    void update(Message status);
    void receive_status();
    double silent_s() const { return std::chrono::duration<double>(Clock::now() - received_at_).count(); }

    const double patience_;
    const Agreement& agreement_;
    Clock::time_point received_at_ = Clock::now(), owing_since_{};
    bool owing_ = false;
};

}  // namespace tradewind::fieldserver
