// A `tradewind serve` beside a rank of the model, as a process that this one has started.
#pragma once

#include <sys/types.h>

#include <string>

namespace tradewind::fieldserver {

// It has one end of a socket as its file 3, and no other file of this process but standard output and error; of the
// environment it has nothing of MPI. It ends when the socket is closed, so also when this process is killed.
class LocalProcess {
  public:
    // Throws InputError where the program is not found, or does not start.
    LocalProcess();
    // Lets it end, and ends it where it does not.
    ~LocalProcess();
    LocalProcess(const LocalProcess&) = delete;
    LocalProcess& operator=(const LocalProcess&) = delete;

    int socket() const { return socket_; }
    // Ends it at once: files that are not whole do not appear.
    void kill();
    // How it has ended, or is about to.
    std::string end();

  private:
    bool wait(double seconds);

    int socket_ = -1;
    pid_t process_ = -1;
    bool ended_ = false;
    int status_ = 0;  // as of waitpid; -1: unknown
};

}  // namespace tradewind::fieldserver
