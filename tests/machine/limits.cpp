// Limits of the values of a machine.
#include <functional>

#include "base/error.hpp"
#include "testing/networks.hpp"
#include "testing/testing.hpp"

namespace testing::limits {

using namespace tradewind;
using machine::Machine;

TEST("a value beyond its limits is refused by its name") {
    const struct {
        const char* problem;
        std::function<void(Machine&)> change;
    } cases[] = {
        {"link bandwidth: 1MB/s to 1000TB/s are allowed", [](Machine& m) { m.local.bandwidth = {2e15}; }},
        {"global link latency: 0 or more are allowed", [](Machine& m) { m.global.latency = {-1}; }},
        {"ejection bandwidth: 1MB/s to 1000TB/s are allowed", [](Machine& m) { m.ejection.bandwidth = {0}; }},
        {"overhead per message: 0 or more are allowed", [](Machine& m) { m.receive_overhead = {-1}; }},
        {"memory bandwidth of a node: 1MB/s or more are allowed", [](Machine& m) { m.memory_bandwidth = {0}; }},
        {"buffer of a switch: 1B to 1GiB are allowed", [](Machine& m) { m.buffer = {0}; }},
        {"buffer of a port or for a NIC: 1B to 1GiB are allowed", [](Machine& m) { m.nic_buffer = {1LL << 31}; }},
        {"channels of a port: 1 to 16 are allowed", [](Machine& m) { m.channels = 17; }},
        {"bandwidth of a switch: 1MB/s to 1000TB/s are allowed", [](Machine& m) { m.crossbar_bandwidth = {1}; }},
        {"messages that bypass the network: 0B to 128MiB are allowed", [](Machine& m) { m.bypass = {1 << 28}; }},
        {"NICs per node: 1 to 16 are allowed", [](Machine& m) { m.nics = 17; }},
    };
    const Machine right = machine_on(networks().front().make());
    right.check();
    for (const auto& [problem, change] : cases) {
        Machine wrong = right;
        change(wrong);
        CHECK_THROWS(InputError, ({problem}), wrong.check());
    }
}

}  // namespace testing::limits
