// Messages with a local server, over its socket.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "fieldserver/control_channel.hpp"
#include "fieldserver/local_process.hpp"

namespace tradewind::fieldserver {

// Time that a server has to start, and to read its plan: libraries may be on a busy file system.
inline constexpr double start_s = 300;

// Each message is its tag and its length in bytes, 8 bytes each, and its bytes. What the socket has no room for waits
// here until the next call.
class LocalControl : public ControlChannel {
  public:
    // Starts the server. Throws InputError where that does not start, or uses another version of the messages.
    LocalControl();
    // Lets the server carry out all orders, see `LocalProcess::finish`.
    ~LocalControl() override;

    void send(std::string order) override;
    std::optional<std::string> receive(ServerTag tag) override;
    void finish() override;
    std::uint64_t sent_bytes() const override { return sent_bytes_; }
    std::string problem() const override { return problem_; }
    // The next message with a tag. Throws InputError where the server ends before it, or takes longer than `seconds`.
    std::string await(ServerTag tag, double seconds);
    // Ends the server at once.
    void kill();

  private:
    void flush();
    void read_all();
    void split_messages();
    void close();

    LocalProcess process_;
    std::string out_, in_;
    std::size_t gone_ = 0;  // bytes of `out_` that the socket has
    std::uint64_t sent_bytes_ = 0;
    std::map<std::int64_t, std::deque<std::string>> received_;  // by tag
    std::string problem_;
};

}  // namespace tradewind::fieldserver
