// CPU time of a rank for the messages of a stage, where a simulation names a transport: to gather and
// hand them over, to copy what stays, to take and scatter what comes.
#pragma once

#include <memory>
#include <vector>

#include "machine/intranode.hpp"
#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

class MessageCost {
  public:
    MessageCost(const machine::IntranodeTransport& intranode, const machine::Machine& machine,
                const machine::Placement& placement)
        : transport_(intranode), machine_(machine), placement_(placement) {}

    std::int64_t latency() const { return transport_.latency.value; }

    // ps. Before message j of a stage is on its way; 0 for one of 0 bytes.
    std::int64_t send(Rank r, const program::Program::Stage& at, int j) const;
    // For all copies of a stage within the rank, beside the messages that are under way.
    std::int64_t keep(Rank r, const program::Program::Stage& at) const;
    // For all messages of a stage once they have come.
    std::int64_t receive(Rank r, const program::Program::Stage& at) const;

  private:
    // The number of runs of memory of these pieces, of all fields together.
    double runs(const program::Program::Stage& at, Rank r, const std::vector<schedule::Piece>& pieces) const;
    // The cost at one end of a message. Between nodes it is gathered and scattered by copies, and the network does the
    // rest; what a NIC asks of the CPU comes on top.
    std::int64_t end(Rank r, const schedule::Message& message, const program::Program::Stage& at,
                     const std::vector<schedule::Piece>& pieces, bool sending) const;
    static double bytes(const program::Program::Stage& at, Index points) {
        return static_cast<double>(points) * static_cast<double>(at.bytes_per_point);
    }

    const machine::IntranodeTransport transport_;
    const machine::Machine& machine_;
    const machine::Placement& placement_;
};

}  // namespace tradewind::sim
