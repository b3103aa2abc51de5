// The exchange between the processes of a simulation at the end of a window.
#pragma once

#include <span>
#include <vector>

#include "base/peers.hpp"
#include "sim/outbox.hpp"
#include "sim/parts.hpp"
#include "sim/report.hpp"

namespace tradewind::sim {

// One buffer a window from each process to each other one: its report, then the events that its parts have for each
// part there.
class ProcessExchange {
  public:
    ProcessExchange(Peers& peers, const Parts& parts);

    // Collective, by one thread of each process while the others wait. Returns the sum of all reports.
    Report exchange(const Report& mine, const std::vector<Outbox*>& outboxes);
    // By each thread afterwards: puts what has come for its part into its outbox.
    void deliver(std::uint32_t thread, Outbox& outbox) const;

  private:
    void write(std::uint32_t process, const Report& mine, const std::vector<Outbox*>& outboxes);
    Report read(std::uint32_t process);

    Peers& peers_;
    Parts parts_;
    std::vector<ByteBuffer> sent_, received_;      // [process]
    std::vector<std::span<const Event>> arrived_;  // [process * threads + thread]
};

}  // namespace tradewind::sim
