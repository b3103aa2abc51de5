// The families of errors that the core throws. Nothing in the core aborts, exits or prints.
#pragma once

#include <stdexcept>
#include <string>

namespace tradewind {

// Invalid input: the text has the problem, the value, and what is allowed.
class InputError : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

// A schedule does not do what its pattern asks, or can deadlock.
class VerificationError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The caller asked to stop (for example Ctrl-C), seen at a point where that is safe.
class Interrupted : public std::runtime_error {
  public:
    Interrupted() : std::runtime_error("interrupted") {}
};

// Another of the processes that share the work has failed, and has the reason.
class PeerFailed : public std::runtime_error {
  public:
    PeerFailed() : std::runtime_error("another process that shares this has failed") {}
};

}  // namespace tradewind
