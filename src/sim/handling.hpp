// What the CPU of a rank has to do for the messages of a stage, where a simulation names a transport: to gather and
// hand them over, to copy what stays, to take and scatter what comes.
#pragma once

#include <memory>
#include <vector>

#include "machine/carriage.hpp"
#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

class Handling {
  public:
    Handling(const machine::Carriage& carriage, const machine::Machine& machine, const machine::Placement& placement)
        : carriage_(carriage), machine_(machine), placement_(placement) {}

    std::int64_t latency() const { return carriage_.latency.value; }

    // ps. Before message j of a stage is on its way; 0 for one of 0 bytes.
    std::int64_t send(Rank r, const program::Program::Stage& at, int j) const;
    // For all copies of a stage within the rank, beside the messages that are under way.
    std::int64_t keep(Rank r, const program::Program::Stage& at) const;
    // For all messages of a stage once they have come.
    std::int64_t receive(Rank r, const program::Program::Stage& at) const;

  private:
    // How many runs of memory pieces are, of all fields together.
    double runs(const program::Program::Stage& at, Rank r, const std::vector<schedule::Piece>& pieces) const;
    // What one end of a message costs. Between nodes it is gathered and scattered by copies, and the network does the
    // rest; what a NIC asks of the CPU comes on top.
    std::int64_t end(Rank r, const schedule::Message& message, const program::Program::Stage& at,
                     const std::vector<schedule::Piece>& pieces, bool sending) const;
    static double bytes(const program::Program::Stage& at, Index points) {
        return static_cast<double>(points) * static_cast<double>(at.bytes_per_point);
    }

    const machine::Carriage carriage_;
    const machine::Machine& machine_;
    const machine::Placement& placement_;
};

}  // namespace tradewind::sim
