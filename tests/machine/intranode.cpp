// Tables of how transports carry messages within a node: what lies between their values.
#include "machine/intranode.hpp"

#include <cmath>

#include "base/error.hpp"
#include "testing/testing.hpp"

namespace testing::intranode {

using namespace tradewind;
using machine::IntranodeTransport, machine::RateTable;

void close(double found, double expected) {
    CHECK(std::abs(found - expected) <= 1e-12 * std::abs(expected));
}

TEST("rates between sizes and runs") {
    const RateTable table({1000, 100'000}, {10, 40}, {{1e9, 2e9}, {4e9}}, {8e9});
    // One run, at the given sizes.
    close(table.seconds(1000, 1), 1000 / 8e9);
    close(table.seconds(1000, 100), 1000 / 1e9);
    close(table.seconds(100'000, 10'000), 100'000 / 2e9);
    // Half way along the logarithm of the bytes: a byte takes the mean of 1 ns and 0.5 ns.
    close(table.seconds(10'000, 1000), 10'000 * 0.75e-9);
    // 1/20 lies a third of the way from 1/40 to 1/10.
    close(table.seconds(1000, 50), 1000 * (0.25e-9 + 0.75e-9 / 3));
    // Shorter runs cost as much each as the shortest; longer ones a byte as the longest. Fewer rates: the last one.
    close(table.seconds(1000, 200), 2 * 1000 / 1e9);
    close(table.seconds(1000, 10), 1000 / 4e9);
    close(table.seconds(1e6, 1e6 / 40), 1e6 / 4e9);
    CHECK_EQUAL(table.seconds(0, 0), 0.0);
}

TEST("tables that cannot be are refused") {
    const auto refused = [](std::vector<double> sizes, std::vector<double> runs, std::vector<std::vector<double>> rates,
                            std::vector<double> whole) {
        CHECK_THROWS(InputError, ({}), RateTable(sizes, runs, rates, whole));
    };
    refused({}, {}, {}, {1e9});
    refused({100, 10}, {}, {}, {1e9});
    refused({10}, {8, 8}, {{1e9}, {1e9}}, {1e9});
    refused({10}, {8}, {}, {1e9});
    refused({10}, {}, {}, {});
    refused({10}, {}, {}, {1e9, 1e9});
    refused({10}, {}, {}, {0.0});
}

TEST("the cost of a message is shared by its ends; what is combined counts as the longest runs") {
    const RateTable rates({1024, 1 << 20}, {8, 64}, {{1e9}, {2e9, 1e9}}, {4e9, 2e9}), copies({1024}, {}, {}, {10e9});
    IntranodeTransport transport{{1'000'000}, {400'000}, rates, {}, copies, {8}, {}};
    close(transport.send_seconds(1024, 1, true), 1024 / 4e9 / 2);
    close(transport.receive_seconds(1 << 20, (1 << 20) / 64, true), (1 << 20) / 1e9 / 2);
    close(transport.combined_seconds(1024), 1024 / 2e9 / 2);
    // The measured cost of scattering is the receiver's; the sender has the rest but for the copy.
    transport.scattered = RateTable({1024}, {64}, {{2.5e9}}, {4e9});
    const double whole = 1024 / 4e9, both = 1024 / 2e9, receiver = 1024 / 2.5e9, copy = 1024 / 10e9;
    close(transport.receive_seconds(1024, 16, true), both / 2);
    close(transport.send_seconds(1024, 16, true), both / 2);
    close(transport.receive_seconds(1024, 16, false), receiver - whole / 2);
    close(transport.send_seconds(1024, 16, false), both - copy - whole / 2);
    close(transport.send_seconds(1024, 1, true), whole / 2);
    close(transport.receive_seconds(1024, 1, false), whole / 2);
    // Messages that are combined and not gathered count as if they were gathered.
    const RateTable slow({1024}, {8, 64}, {{1e6}, {2e6}}, {4e6});
    IntranodeTransport direct{{0}, {0}, slow, {}, copies, {8}, rates};
    close(direct.combined_seconds(1024), 1024 / 2e9 / 2);
    close(direct.send_seconds(1024, 1, true), 1024 / 4e6 / 2);
    direct.gathered.reset();
    close(direct.combined_seconds(1024), 1024 / 2e6 / 2);
    direct.rates = RateTable({1024}, {}, {}, {4e9});  // no runs: as one
    close(direct.combined_seconds(1024), 1024 / 4e9 / 2);
}

}  // namespace testing::intranode
