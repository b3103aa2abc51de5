// Short messages between the first rank of a model and a server, which no rank waits to send.
#pragma once

#include <mpi.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>

namespace tradewind::fieldserver {

// Version of the messages; python/tradewind/fieldserver/server/control_channel.py has the same.
inline constexpr int server_protocol = 5;

// Between two looks for a message of a server.
inline constexpr std::chrono::microseconds pause{100};

// Tags, as there: orders to the server; from it its status, at any time, and replies: to define and check, when it is
// ready to do something together with the model, when it has been asked to read ahead, before it sends input, and as it
// ends.
enum ServerTag { order_tag = 7001, status_tag, answer_tag, ready_tag, available_tag, input_tag, end_tag = 7008 };

// One end of the messages with the rank `peer` of a communicator. Not collective.
class ControlChannel {
  public:
    ControlChannel(MPI_Comm comm, int peer) : comm_(comm), peer_(peer) {}
    ~ControlChannel();
    ControlChannel(const ControlChannel&) = delete;
    ControlChannel& operator=(const ControlChannel&) = delete;

    void send(std::string order);
    // The next message with a tag, if it has come.
    std::optional<std::string> receive(ServerTag tag);
    // Waits until all orders have gone.
    void finish();

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
