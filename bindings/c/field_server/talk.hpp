// Short messages between the first rank of a model and a server: JSON, which no rank waits to send.
#pragma once

#include <mpi.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>

#include "json.hpp"

namespace tradewind::c {

// Version of the orders and their answers; python/tradewind/fieldserver/talk.py has the same.
inline constexpr int server_protocol = 3;

// Between two looks for what a server says.
inline constexpr std::chrono::microseconds pause{100};

// Tags, as there: to the server; from it, when it likes, when it was asked, when it waits to do something together with
// the model, when it has been asked to read ahead, and before it sends input.
enum ServerTag { order_tag = 7001, news_tag, answer_tag, ready_tag, available_tag, input_tag };

// One end of the messages with the rank `peer` of a communicator. Not collective.
class Talk {
  public:
    Talk(MPI_Comm comm, int peer) : comm_(comm), peer_(peer) {}
    ~Talk();
    Talk(const Talk&) = delete;
    Talk& operator=(const Talk&) = delete;

    void say(const Json& order);
    // The next value with a tag, if it has come.
    std::optional<Json> hear(ServerTag tag);
    // Waits until all that was said has gone.
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

}  // namespace tradewind::c
