// A writer on a rank of the model itself.
#pragma once

#include <string>
#include <vector>

#include "fieldserver/handover.hpp"

namespace tradewind::fieldserver {

// Carries out the orders that a server gets, on its rank of the model. Not collective.
class LocalWriter {
  public:
    LocalWriter() = default;
    virtual ~LocalWriter() = default;
    LocalWriter(const LocalWriter&) = delete;
    LocalWriter& operator=(const LocalWriter&) = delete;

    // Carries out an order in JSON; returns the reply of a server, an error or "". `fields`: those of a block, which
    // are the writer's until it releases the block; or one that it fills.
    virtual std::string carry_out(const std::string& order, const std::vector<WholeField>& fields) = 0;
    // Returns what is new, as the status of a server.
    virtual std::string status() = 0;
};

}  // namespace tradewind::fieldserver
