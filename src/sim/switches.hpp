// The switches of one part of a simulation, as the engine knows them, whatever their routing and their buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/delays.hpp"
#include "sim/outbox.hpp"
#include "sim/ranks.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

class StateWriter;
class Tally;

class Switches {
  public:
    virtual ~Switches() = default;

    // Takes the window's packets from the outboxes of all parts. Returns the number of slices to process.
    virtual std::size_t collect(const std::vector<Outbox*>& outboxes) = 0;
    virtual void process(std::size_t slice) = 0;

    virtual std::int64_t hops() const = 0;
    virtual std::uint64_t events() const = 0;
    virtual Delays& delays() = 0;
    virtual const std::vector<Passage>& passages() const = 0;

    // See state.hpp.
    virtual void write(StateWriter& out) const = 0;
    virtual void tally(Tally& count) = 0;
};

// Makes the switches of each part, which share a routing.
struct SwitchFactory {
    int channels;  // virtual channels of finite buffers; 0: unbounded ones
    bool spreads;  // see routing/packet.hpp
    std::function<std::unique_ptr<Switches>(World&, Outbox&, Ranks&)> make;
};
SwitchFactory unbounded_switches(const machine::Machine& machine);
SwitchFactory finite_switches(const machine::Machine& machine);

}  // namespace tradewind::sim
