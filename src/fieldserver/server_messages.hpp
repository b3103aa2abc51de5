// Messages of a channel: orders to a writer, its replies and its status.
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
#include "fieldserver/local_writer.hpp"
#include "fieldserver/message.hpp"
#include "fieldserver/silence.hpp"

namespace tradewind::fieldserver {

inline constexpr std::size_t most_slots = 64;

// Status of a writer, which one rank receives and all ranks learn.
struct ServerStatus {
    std::array<Index, most_slots> released{};  // blocks of each slot whose memory is free
    Index finished = 0, lost = 0;
};

// The way to a server.
struct ServerLink {
    Receiver receiver;                        // of fields: the server, or a rank of the model that is beside it
    int root;                                 // the rank of the model that exchanges messages with the server
    std::unique_ptr<ControlChannel> control;  // there
};

// With a server, or a writer on a rank of the model; one rank of the model, the root, has them for all.
class ServerMessages {
  public:
    // With a server, on its root by `control`. `patience`: seconds after which a server that is silent is lost.
    ServerMessages(int root, std::unique_ptr<ControlChannel> control, double patience, const Agreement& agreement);
    // With the writer that is on the rank `root` of the model, which has it.
    ServerMessages(std::unique_ptr<LocalWriter> writer, int root, const Agreement& agreement);

    // Whether it is a server, which may be lost.
    bool is_remote() const { return remote_; }
    int root() const { return root_; }
    // Whether this rank has the messages.
    bool is_here() const { return control != nullptr || writer_ != nullptr; }
    // Sends an order. `fields`: those of the order, of a writer on this rank. Not collective.
    void send_order(const Json::Object& order, const std::vector<WholeField>& fields = {}) {
        if (is_here()) send_text(Json(order).text(), fields);
    }
    void send_text(std::string order, const std::vector<WholeField>& fields = {});
    // Returns the reply with a tag, an error or ""; none where the server is silent: then it is lost, on all ranks.
    // `go`: reply `go` when the server is ready to do something together with the model, and has met no error.
    // Collective.
    std::optional<std::string> reply(ServerTag tag, bool go = false);
    // That of the writer on this rank to the last order. Not collective.
    const std::string& own_reply() const { return reply_; }

    std::string lost;      // why nothing goes there any more, on all ranks
    std::string gone;      // why the server is lost, as this rank has found
    bool awaited = false;  // the model waits for room, or for its array

    // These are on the rank alone that has the messages.
    ServerStatus received;
    std::deque<std::string> errors;
    std::unique_ptr<ControlChannel> control;
    // Takes in the status of a writer that is to finish `parts` parts of steps.
    void receive(Index parts);
    // Returns the last message of the server, its figures, for which it waits as long as there are signs of life.
    std::optional<std::string> await_end();

  private:
    std::string received_or_lost(ServerTag tag);
    std::string remote_reply(ServerTag tag, bool go);
    void update(Message status);
    void receive_status();

    const double patience_ = 0;
    const bool remote_;
    const int root_;
    std::unique_ptr<LocalWriter> writer_;
    std::string reply_;  // of the writer on this rank to the last order
    const Agreement& agreement_;
    Silence silence_;
};

}  // namespace tradewind::fieldserver
