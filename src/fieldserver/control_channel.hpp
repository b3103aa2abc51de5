// Messages between a rank of a model, their root, and a server; no rank waits until one has gone.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>

namespace tradewind::fieldserver {

// Version of the messages; python/tradewind/fieldserver/server/messages.py has the same.
inline constexpr int server_protocol = 5;

// Marks ranks and local servers that open a field server: "twfs".
inline constexpr std::int64_t server_magic = 0x74776673;
// Throws InputError where `who` is no server, or uses another version of the messages than this library.
void require_protocol(const std::string& who, std::int64_t magic, std::int64_t version);

// Waits a little, between two looks for a message of a server.
void rest();
// Called now and then while that goes on: what it throws ends the wait. Nothing unless a language sets it.
inline void (*on_rest)() = nullptr;

// Tags, as there: orders to the server; from it its status, at any time, and replies: to define and check, when it is
// ready to do something together with the model, when it has been asked to read ahead, before it sends input, as a
// local server starts, and as it ends.
enum ServerTag { order_tag = 7001, status_tag, answer_tag, ready_tag, available_tag, input_tag, join_tag, end_tag };

// One end of the messages with a server. Not collective.
class ControlChannel {
  public:
    ControlChannel() = default;
    virtual ~ControlChannel() = default;
    ControlChannel(const ControlChannel&) = delete;
    ControlChannel& operator=(const ControlChannel&) = delete;

    virtual void send(std::string order) = 0;
    // The next message with a tag, if it has come.
    virtual std::optional<std::string> receive(ServerTag tag) = 0;
    // Waits until all orders have gone.
    virtual void finish() = 0;
    // Returns the bytes of orders that have gone so far, where that is known: a server is alive while they grow.
    virtual std::uint64_t sent_bytes() const { return 0; }
    // Why no message comes any more that `receive` has not returned yet; "" where one may come.
    virtual std::string problem() const { return ""; }
};

// By MPI, with the rank `peer` of a communicator.
class RankChannel : public ControlChannel {
  public:
    RankChannel(MPI_Comm comm, int peer) : comm_(comm), peer_(peer) {}
    ~RankChannel() override;

    void send(std::string order) override;
    std::optional<std::string> receive(ServerTag tag) override;
    void finish() override;

  private:
    struct Sent {
        MPI_Request request = MPI_REQUEST_NULL;
        std::string text;
    };
    MPI_Comm comm_;
    int peer_;
    std::list<Sent> sent_;
};

}  // namespace tradewind::fieldserver
