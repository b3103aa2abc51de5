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
#include "fieldserver/handover.hpp"
#include "fieldserver/json.hpp"
#include "fieldserver/message.hpp"

namespace tradewind::fieldserver {

inline constexpr std::size_t most_slots = 64;

// Status of a server, which its root receives and all ranks learn.
struct ServerStatus {
    std::array<Index, most_slots> released{};  // blocks of each slot whose memory is free
    Index finished = 0, lost = 0, errors = 0;  // errors: their number so far
};

// The way to a server.
struct ServerLink {
    Receiver receiver;                        // of fields: the server, or a rank of the model that is beside it
    int root;                                 // the rank of the model that exchanges messages with the server
    std::unique_ptr<ControlChannel> control;  // there
};

// `patience`: seconds after which a server that is silent is lost.
class ServerMessages {
  public:
    ServerMessages(int root, std::unique_ptr<ControlChannel> control, double patience, Agreement& agreement)
        : control(std::move(control)), root_(root), patience_(patience), agreement_(agreement) {}

    int root() const { return root_; }
    // Sends the server an order; its root does so for all. Not collective.
    void send_order(const Json::Object& order) { send_text(Json(order).text()); }
    void send_text(std::string order);
    // Returns the reply with a tag, an error or ""; none where the server is silent: then it is lost, on all ranks.
    // `go`: reply `go` when the server is ready to do something together with the model, and has met no error.
    // Collective.
    std::optional<std::string> reply(ServerTag tag, bool go = false);

    std::string lost;      // why nothing goes there any more, on all ranks
    std::string gone;      // why the server is lost, as this rank has found
    bool awaited = false;  // the model waits for room, or for its array

    // These are on the root alone.
    ServerStatus received;
    std::deque<std::string> errors;  // those that no call has returned yet
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

    const int root_;
    const double patience_;
    const Agreement& agreement_;
    Clock::time_point received_at_ = Clock::now(), owing_since_{};
    bool owing_ = false;
};

}  // namespace tradewind::fieldserver
