// Graphs that are read from a file.
#include "machine/topology/graph.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "machine/walker.hpp"
#include "testing/networks.hpp"

namespace testing::graph {

using namespace tradewind;
using namespace tradewind::machine;

TEST("a graph is refused with its line") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"0 1\n1 2 3\n", "f:2: '1 2 3': two switches"},
        {"0 1\n1\n", "f:2: '1': two switches"},
        {"0 1\n\n# 5 5\n1 x\n", "f:4: switch 'x': 0 to 4095"},
        {"0 4096\n", "f:1: switch '4096': 0 to 4095"},
        {"0 -1\n", "f:1: switch '-1'"},
        {"0 99999999999999999999\n", "f:1: switch '9999"},
        {"0 1\n1 1\n", "f:2: a link from switch 1 to itself"},
        {"0 1\n1 2\n1 0 global\n", "f:3: the link between switches 1 and 0 is there already"},
        {"0 1\n2 3 # far\n3 4\n", "f:2: switch 2 cannot be reached from switch 0"},
        {"0 1\n1 3\n", "f: switch 2 of 4 has no link"},
        {"# nothing\n", "f: no links"},
        {"0 1\n1 2\n", "f: nodes on 4 switches, but it has only 3"},
    };
    for (const auto& [text, error] : cases) CHECK_THROWS(InputError, ({error}), Graph(text, "f", 1, 4));
    std::string large;
    for (int a = 0; a < 1000; ++a) {
        for (int b = 0; b < a; ++b) large += std::to_string(a) + " " + std::to_string(b) + "\n";
    }
    CHECK_THROWS(InputError, ({"f:100001: at most 100000 links"}), Graph(large, "f", 1, 0));
}

TEST("a graph is read with its kinds of links") {
    const Graph read("0 1\t# first\r\n\n2   1 global\n", "f", 3, 2);
    CHECK_EQUAL(read.switches(), 3u);
    CHECK_EQUAL(read.nodes(), 6u);
    CHECK_EQUAL(read.radix(), 5u);
    CHECK(read.port(1, 1).kind == LinkKind::global);
    CHECK_EQUAL(read.port(1, 1).peer_switch, 2u);
    CHECK_EQUAL(read.distance(0, 2).local, 1);
    CHECK_EQUAL(read.distance(0, 2).global, 1);
}

TEST("a long line of switches needs one channel, and a long ring two") {
    std::string line;
    for (int a = 0; a < 299; ++a) line += std::to_string(a) + " " + std::to_string(a + 1) + "\n";
    for (const int channels : {1, 2}) {
        const auto graph = std::make_shared<const Graph>(channels == 1 ? line : line + "299 0\n", "f", 1, 0);
        int longest = 0;
        for (std::uint32_t s = 0; s < 300; ++s) longest = std::max(longest, graph->distance(0, s).local);
        CHECK_EQUAL(longest, channels == 1 ? 299 : 150);
        CHECK_EQUAL(Walker(machine_on(graph)).channels(), channels);
    }
}

}  // namespace testing::graph
