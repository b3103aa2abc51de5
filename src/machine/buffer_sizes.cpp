#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "machine/machine.hpp"
#include "machine/routing/dispatch.hpp"

namespace tradewind::machine {

std::int64_t BufferSizes::packet() const {
    std::int64_t minimum = std::min(channel, nic);
    if (output > 0) minimum = std::min(minimum, output);
    return minimum;
}

BufferSizes buffer_sizes(const Machine& machine) {
    const int used = with_routing(machine, [](const auto& routing) { return routing.channels(); });
    if (machine.channels > 0 && machine.channels < used)
        throw InputError("switch.channels = " + std::to_string(machine.channels) + ": routing " + machine.routing +
                         " uses " + std::to_string(used) + " virtual channels");
    const int among = machine.channels > 0 ? machine.channels : used;
    const std::int64_t exit = machine.output_buffer.value, port = machine.port_buffer.value;
    if ((port > 0 && port < among) || (exit > 0 && exit < among))
        throw InputError("a buffer of " + std::to_string(port > 0 && port < among ? port : exit) +
                         " bytes per port leaves nothing for each of " + std::to_string(among) + " channels");
    const std::int64_t channel = port > 0 ? port / among : machine.buffer.value;
    return {channel, exit / among, exit, machine.nic_buffer.value > 0 ? machine.nic_buffer.value : channel};
}

}  // namespace tradewind::machine
