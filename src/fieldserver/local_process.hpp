// A `tradewind serve` beside a rank of the model, as a process that this one has started.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace tradewind::fieldserver {

// It has one end of a socket as its file 3, and no other file of this process but standard output and error; of the
// environment it has nothing of MPI. It ends when the socket is closed, so also when this process is killed.
class LocalProcess {
  public:
    // `patience_s`: the silence after which a process that is to end is ended. Throws InputError where the program is
    // not found, or does not start.
    explicit LocalProcess(double patience_s = 10);
    // As `finish`, with nothing to send.
    ~LocalProcess();
    LocalProcess(const LocalProcess&) = delete;
    LocalProcess& operator=(const LocalProcess&) = delete;

    int socket() const { return socket_; }
    // Sends the rest of its orders, closes this direction of the socket, and lets it end: it may take as long as it
    // likes to write what it has, as long as it sends something meanwhile. Ends it when it is silent.
    void finish(std::string_view orders);
    // Ends it at once: files that are not whole do not appear.
    void kill();
    // How it has ended, or is about to.
    std::string end();

  private:
    bool has_ended();
    bool wait(double seconds);

    double patience_s_;
    int socket_ = -1;
    pid_t process_ = -1;
    bool ended_ = false;
    int status_ = 0;  // as of waitpid; -1: unknown
};

}  // namespace tradewind::fieldserver
