#pragma once

#include <stdexcept>

namespace tradewind {

// A file could not be written: the disk is full, or fails.
class WriteError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace tradewind
