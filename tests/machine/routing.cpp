// Every routing on every small network: its paths end, are no longer than they may be, and cannot deadlock.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/random.hpp"
#include "machine/topology/dragonfly.hpp"
#include "machine/topology/fattree.hpp"
#include "machine/topology/graph.hpp"
#include "machine/topology/torus.hpp"
#include "machine/walker.hpp"
#include "testing/networks.hpp"

namespace testing::routing {

using namespace tradewind;
using namespace tradewind::machine;
using Path = std::vector<Hop>;
using Step = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // switch, port, channel

constexpr std::uint64_t queues_drawn = 3;

std::uint32_t word(std::uint64_t packet) {
    return static_cast<std::uint32_t>(mix(packet) >> 34);
}

// Paths of many packets between all switches that hold nodes; of fat-trees to all nodes.
struct Walk {
    std::uint32_t source, target;  // switches
    Path path;
};
template <class Action>
void for_walks(const Topology& topology, const std::string& routing, TopologyPointer shared, const Action& action) {
    Walker walker(machine_on(std::move(shared), routing));
    const auto each = topology.nodes_per_switch();
    const std::uint64_t packets = topology.switches() < 40 ? 12 : 3;
    std::uint64_t number = 0;
    for (std::uint32_t source = 0; source < topology.nodes(); source += each) {
        for (std::uint32_t target = 0; target < topology.nodes(); target += topology.name() == "fattree" ? 1 : each) {
            for (std::uint64_t packet = 0; packet < packets; ++packet, ++number) {
                const auto queues = packets == 3 ? packet : packet / 4;  // 0: all empty
                action(Walk{source / each, target / each, walker.walk(source, target, word(number), queues)});
            }
        }
    }
}

// Whether packets that hold links of their paths can deadlock: a cyclic dependency (Dally & Seitz 1987).
bool has_circle(const std::set<std::vector<Step>>& paths) {
    std::map<Step, std::set<Step>> waits;
    for (const auto& path : paths) {
        for (std::size_t i = 0; i + 1 < path.size(); ++i) waits[path[i]].insert(path[i + 1]);
    }
    std::map<Step, int> state;  // 1: under way, 2: done
    for (const auto& [begin, ahead] : waits) {
        std::vector<std::pair<Step, bool>> stack{{begin, false}};
        while (!stack.empty()) {
            const auto [at, seen] = stack.back();
            stack.pop_back();
            if (seen) {
                state[at] = 2;
                continue;
            }
            if (state[at] != 0) continue;
            state[at] = 1;
            stack.emplace_back(at, true);
            const auto found = waits.find(at);
            if (found == waits.end()) continue;
            for (const auto& next : found->second) {
                if (state[next] == 1) return true;
                if (state[next] == 0) stack.emplace_back(next, false);
            }
        }
    }
    return false;
}

std::vector<Step> steps_of(const Path& path, bool with_channels = true) {
    std::vector<Step> steps;
    for (const auto& hop : path) steps.emplace_back(hop.switch_id, hop.port, with_channels ? hop.channel : 0);
    return steps;
}

int sum(Topology::Distance distance) {
    return distance.local + distance.global;
}

// Links of the longest path that a routing may take.
int longest(const Topology& topology, const std::string& kind, const std::string& routing, int distance) {
    static const std::set<std::string> shortest = {"dimension-order",       "minimal", "d-mod-k", "round-robin",
                                                   "round-robin-staggered", "adaptive"};
    if (kind == "dragonfly") {  // two links in a group, one between two: not always a shortest path
        if (routing == "minimal" || routing == "ugal-sst71") return 5;
        return routing == "valiant" || routing == "ugal" ? 8 : 10;
    }
    if (kind == "cubemesh" && routing == "direct") return 4;
    if (shortest.count(routing) > 0) return distance;
    int diameter = 0;
    const auto holders = topology.nodes() / topology.nodes_per_switch();
    for (std::uint32_t a = 0; a < holders; ++a) {
        for (std::uint32_t b = 0; b < holders; ++b) diameter = std::max(diameter, sum(topology.distance(a, b)));
    }
    return 2 * diameter;
}

EVERY_ROUTING("paths end, are no longer than they may be, and cannot deadlock") {
    const auto shared = routed.network->make();
    const Topology& topology = *shared;
    const auto& kind = routed.network->kind;
    const int channels = Walker(machine_on(shared, routed.routing)).channels();
    CHECK(1 <= channels && channels <= 16);
    std::map<int, int> limit;  // by distance
    std::set<std::vector<Step>> paths;
    for_walks(topology, routed.routing, shared, [&](const Walk& walk) {
        auto at = walk.source;
        int globals = 0;
        for (const auto& hop : walk.path) {
            CHECK_EQUAL(hop.switch_id, at);
            CHECK(hop.channel < static_cast<std::uint32_t>(channels));
            const PortEnd end = topology.port(hop.switch_id, hop.port);
            CHECK(end.kind == LinkKind::local || end.kind == LinkKind::global);
            globals += end.kind == LinkKind::global;
            at = end.peer_switch;
        }
        CHECK_EQUAL(at, walk.target);
        const int distance = sum(topology.distance(walk.source, walk.target)),
                  length = static_cast<int>(walk.path.size());
        if (limit.count(distance) == 0) limit[distance] = longest(topology, kind, routed.routing, distance);
        CHECK(length <= limit[distance]);
        // Over two global links a way may be shorter than the shortest over one.
        if (globals < 2) CHECK(distance <= length);
        paths.insert(steps_of(walk.path));
    });
    CHECK(!has_circle(paths));
    if (!routed.network->typical || (kind == "cubemesh" && routed.routing == "minimal")) return;  // no use of PCIe
    std::set<std::pair<std::uint32_t, std::uint32_t>> used, all;
    std::set<std::uint32_t> on;
    for (const auto& path : paths) {
        for (const auto& [s, port, channel] : path) used.emplace(s, port), on.insert(channel);
    }
    for (const auto& link : links_of(topology)) all.emplace(link.from, link.port);
    CHECK(used == all);  // every link
    // The other channels of ugal-sst71 share the port's buffer, and stay empty.
    if (!all.empty()) CHECK_EQUAL(on.size(), routed.routing == "ugal-sst71" ? 2u : static_cast<std::size_t>(channels));
}

// Follows the packets between all nodes; `next` is the rule: the port by which a switch sends a packet for a node.
template <class Next>
void check_rule(TopologyPointer topology, const std::string& routing, const Next& next) {
    Walker walker(machine_on(topology, routing));
    for (std::uint32_t source = 0; source < topology->nodes(); source += topology->nodes_per_switch()) {
        for (std::uint32_t target = 0; target < topology->nodes(); ++target) {
            for (const auto& hop : walker.walk(source, target, 0, 0))
                CHECK_EQUAL(hop.port, next(hop.switch_id, target));
        }
    }
}

TEST("paths of dimension order, d-mod-k and a dragonfly with one link between two groups are those of their rules") {
    const std::vector<std::uint32_t> shape = {4, 3, 2};
    check_rule(std::make_shared<Torus>(shape, 2), "dimension-order", [&](std::uint32_t at, std::uint32_t target) {
        auto end = target / 2;
        for (std::uint32_t d = 0;; ++d, at /= shape[d - 1], end /= shape[d - 1]) {
            const auto steps = (end % shape[d] + shape[d] - at % shape[d]) % shape[d];
            if (steps > 0) return 2 * d + (2 * steps > shape[d]);  // the shorter way; where both are alike, on
        }
    });
    constexpr std::uint32_t k = 4, width = k * k;
    const auto tree = std::make_shared<FatTree>(std::vector<std::uint32_t>(3, k), std::vector<std::uint32_t>(2, k));
    check_rule(tree, "d-mod-k", [](std::uint32_t at, std::uint32_t target) {
        const auto power = [](std::uint32_t exponent) { return exponent == 0 ? 1 : exponent == 1 ? k : k * k; };
        const auto level = at / width, end = target / k;
        if (at % width / power(level) != end / power(level)) return k + target / power(level) % k;
        return end / power(level - 1) % k;
    });
    constexpr std::uint32_t columns = 3, size = 6;
    const auto groups = std::make_shared<Dragonfly>(2, columns, 7, 2, 1);
    check_rule(groups, "minimal", [&](std::uint32_t at, std::uint32_t target) {
        auto end = target / 2;
        if (at / size != end / size) {  // to the switch that holds the link, columns first, and across
            const auto all = links_of(*groups);
            const auto link = std::find_if(all.begin(), all.end(), [&](auto& one) {
                return one.kind == LinkKind::global && one.from / size == at / size && one.to / size == end / size;
            });
            if (link->from == at) return link->port;
            end = link->from;
        }
        const auto column = end % size % columns, row = end % size / columns;
        return column != at % size % columns ? column : columns + row;
    });
}

PROPERTY("paths through any graph are shortest and cannot deadlock", 60) {
    const auto switches = draw.integer(3, 40);
    std::set<std::pair<std::int64_t, std::int64_t>> links;
    for (std::int64_t s = 1; s < switches; ++s) links.emplace(draw.integer(0, s - 1), s);  // a tree, and more
    for (auto more = draw.integer(0, switches); more > 0; --more) {
        const auto a = draw.integer(0, switches - 1), b = draw.integer(0, switches - 1);
        if (a != b) links.emplace(std::min(a, b), std::max(a, b));
    }
    std::string text;
    for (const auto& [a, b] : links) text += std::to_string(a) + " " + std::to_string(b) + "\n";
    const auto graph = std::make_shared<Graph>(text, "drawn", 1, 0);
    Walker walker(machine_on(graph));
    std::set<std::vector<Step>> paths;
    for (std::uint32_t a = 0; a < graph->switches(); ++a) {
        for (std::uint32_t b = 0; b < graph->switches(); ++b) {
            const auto path = walker.walk(a, b, 0, 0);
            CHECK_EQUAL(static_cast<int>(path.size()), sum(graph->distance(a, b)));
            paths.insert(steps_of(path));
        }
    }
    CHECK(!has_circle(paths));
}

TEST("with one channel packets could wait in a circle, so the test above can fail") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"torus", "dimension-order"}, {"torus", "valiant"},  {"dragonfly", "minimal"}, {"dragonfly", "par"},
        {"hyperx", "valiant"},        {"hypercube", "ugal"}, {"complete", "valiant"},  {"slimfly", "minimal"},
        {"dragonflyplus", "valiant"}, {"graph", "minimal"},  {"cubemesh", "minimal"}};
    for (const auto& [kind, routing] : cases) {
        const auto network =
            std::find_if(networks().begin(), networks().end(), [&](auto& n) { return n.kind == kind; });
        const auto shared = network->make();
        std::set<std::vector<Step>> paths;
        for_walks(*shared, routing, shared, [&](const Walk& walk) { paths.insert(steps_of(walk.path, false)); });
        CHECK(has_circle(paths));
    }
}

// The queue that a walker shows at a port, by its documentation.
std::uint64_t waiting(std::uint64_t queues, const Hop& hop) {
    return queues == 0 ? 0 : 1024 * (mix(mix(queues, hop.switch_id), hop.port) >> 62);
}

TopologyPointer first_of(const std::string& kind) {
    return std::find_if(networks().begin(), networks().end(), [&](auto& n) { return n.kind == kind; })->make();
}

TEST("ugal compares bytes times links of the minimal path and of valiant's; that of SST/macro 7.1 stays minimal") {
    const auto dragonfly = first_of("dragonfly");
    const auto walker = [&](const char* name) { return Walker(machine_on(dragonfly, name)); };
    Walker minimal = walker("minimal"), aside = walker("valiant"), ugal = walker("ugal"), sst = walker("ugal-sst71");
    CHECK_EQUAL(sst.channels(), 6);
    CHECK_EQUAL(minimal.channels(), 2);
    int detours = 0;
    for (std::uint32_t source = 0; source < 48; source += 2) {
        for (std::uint32_t target = 0; target < 48; target += 2) {
            for (std::uint64_t packet = 0; packet < 20 && source != target; ++packet) {
                const auto bits = word(packet);
                const auto queues = packet / 4;
                const auto straight = minimal.walk(source, target, bits, 0);
                CHECK(steps_of(sst.walk(source, target, bits, queues)) == steps_of(straight));
                if (source / 12 == target / 12) continue;
                const auto around = aside.walk(source, target, bits, 0);
                const bool detour =
                    waiting(queues, around[0]) * around.size() < waiting(queues, straight[0]) * straight.size();
                const auto path = ugal.walk(source, target, bits, queues);
                CHECK(steps_of(path, false) == steps_of(detour ? around : straight, false));
                detours += detour;
            }
        }
    }
    CHECK(detours > 100);
}

TEST("ugal on an empty network is minimal") {
    for (const auto& pair : testing::routed()) {
        if (!pair.network->typical || pair.routing != "ugal") continue;
        const auto topology = pair.network->make();
        Walker ugal(machine_on(topology, "ugal"));
        Walker plain(machine_on(topology, pair.network->kind == "torus" ? "dimension-order" : "minimal"));
        for (std::uint32_t source = 0; source < topology->nodes(); source += topology->nodes_per_switch()) {
            for (std::uint32_t target = 0; target < topology->nodes(); target += topology->nodes_per_switch()) {
                for (std::uint64_t packet = 0; packet < 4; ++packet) {
                    CHECK(steps_of(ugal.walk(source, target, word(packet), 0), false) ==
                          steps_of(plain.walk(source, target, word(packet), 0), false));
                }
            }
        }
    }
}

TEST("par may still change its way within the source group") {
    // Channel 0 is that of packets which go the minimal way, 1 that of those on a detour, in the source group.
    const auto topology = first_of("dragonfly");
    int changed = 0, stayed = 0;
    for_walks(*topology, "par", topology, [&](const Walk& walk) {
        if (walk.source / 6 == walk.target / 6) return;
        bool detour = false;
        for (const auto& hop : walk.path) {
            detour |= hop.channel == 1;
            if (topology->port(hop.switch_id, hop.port).kind == LinkKind::global) break;
        }
        changed += walk.path[0].channel == 0 && detour;
        stayed += !detour;
    });
    CHECK(changed > 50 && stayed > 50);
}

EVERY_NETWORK(
    "round-robin begins at the first port up, staggered at another on each switch; adaptive goes where the "
    "fewest bytes wait") {
    const auto topology = network.make();
    if (network.kind != "fattree" || topology->switches() == 1) return;
    const auto each = topology->nodes_per_switch();
    const auto is_up = [&](std::uint32_t s, std::uint32_t port) {
        const PortEnd end = topology->port(s, port);
        return end.kind == LinkKind::local && end.peer_switch > s;
    };
    std::vector<std::uint32_t> ups;
    for (std::uint32_t port = 0; port < topology->radix(); ++port) {
        if (is_up(0, port)) ups.push_back(port);
    }
    Walker plain(machine_on(topology, "round-robin")), staggered(machine_on(topology, "round-robin-staggered"));
    for (std::uint32_t leaf = 0; leaf + 1 < topology->nodes() / each; ++leaf) {
        CHECK_EQUAL(plain.walk(leaf * each, topology->nodes() - 1, 0, 0)[0].port, ups[0]);
        CHECK_EQUAL(staggered.walk(leaf * each, topology->nodes() - 1, 0, 0)[0].port, ups[leaf % ups.size()]);
    }
    Walker adaptive(machine_on(topology, "adaptive"));
    int decisions = 0;
    for (std::uint32_t source = 0; source < topology->nodes(); source += each) {
        for (std::uint32_t target = 0; target < topology->nodes(); target += each) {
            for (std::uint64_t packet = 0; packet < 24; ++packet) {
                const auto path = adaptive.walk(source, target, word(packet), packet / 4);
                for (std::size_t i = 0; i < path.size() / 2; ++i) {  // as many links up as down
                    for (std::uint32_t port = 0; port < topology->radix(); ++port) {
                        if (!is_up(path[i].switch_id, port)) continue;
                        CHECK(waiting(packet / 4, path[i]) <= waiting(packet / 4, {path[i].switch_id, port, 0}));
                    }
                    ++decisions;
                }
            }
        }
    }
    CHECK(decisions > 100);
}

TEST("a walk between nodes that are not there is refused") {
    Walker walker(machine_on(first_of("crossbar")));
    CHECK(walker.walk(0, 6, 0, 0).empty());
    CHECK_THROWS(InputError, ({"node 7: 0 to 6 are allowed"}), walker.walk(0, 7, 0, 0));
    CHECK_THROWS(InputError, ({"is not one of a crossbar (known: direct)"}),
                 Walker(machine_on(first_of("crossbar"), "ugal")));
}

}  // namespace testing::routing
