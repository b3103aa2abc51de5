#include "testing/simulation.hpp"

#include <algorithm>

#include "algorithm/registry.hpp"
#include "base/random.hpp"
#include "machine/topology/complete.hpp"
#include "machine/topology/crossbar.hpp"
#include "machine/topology/cubemesh.hpp"
#include "machine/topology/dragonfly.hpp"
#include "machine/topology/fattree.hpp"
#include "machine/topology/torus.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/fetch.hpp"
#include "pattern/halo.hpp"
#include "pattern/transpose.hpp"

namespace testing {

using namespace tradewind;
using PatternPointer = std::shared_ptr<const pattern::Pattern>;

namespace {

PatternPointer transposition(const layout::Grid& grid, std::array<Index, 2> split, const std::string& slab) {
    // The axes divided before and after (Zheng & Marguinaud 2018, figure 3).
    const std::string before = slab == "xz" ? "xy" : slab == "xy" ? "zy" : "zx";
    const std::string after = slab == "xz" ? "zy" : slab == "xy" ? "zx" : "yx";
    return std::make_shared<pattern::Transpose>(layout::Blocks(grid, split, before),
                                                layout::Blocks(grid, split, after));
}

// Algorithms of the registry that a pattern allows, with radices up to 8.
std::vector<std::string> algorithms_of(const PatternPointer& pattern) {
    const auto* transpose = dynamic_cast<const pattern::Transpose*>(pattern.get());
    std::vector<std::string> names;
    for (const auto& entry : algorithm::algorithms()) {
        if (entry.pattern != pattern->name()) continue;
        const bool all_for_each = entry.name == "bruck" || entry.name == "two-level-k";
        if (transpose && all_for_each && !transpose->complete()) continue;
        if (!entry.has_radix) names.push_back(entry.name);
        const auto [minimum, maximum] = entry.radices(*pattern);
        for (Index k = minimum; entry.has_radix && k <= std::min<Index>(8, maximum); ++k) {
            names.push_back(entry.name.substr(0, entry.name.size() - 1) + std::to_string(k));
        }
    }
    return names;
}

class Hash {
  public:
    template <class... Values>
    void add(Values... values) {
        ((hash_ = mix(hash_, static_cast<std::uint64_t>(values))), ...);
    }
    void add(const sim::Delayed& delayed) {
        add(delayed.packets, std::bit_cast<std::uint64_t>(delayed.delay.picoseconds()));
    }
    std::string text() const { return std::to_string(hash_ % 1'000'000'000); }

  private:
    std::uint64_t hash_ = 1;
};

template <class Values, class Add>
std::string part(const std::string& name, const Values& values, const Add& add) {
    Hash hash;
    for (const auto& value : values) add(hash, value);
    return " " + name + " " + hash.text();
}

}  // namespace

TopologyPointer crossbar(std::uint32_t nodes) {
    return std::make_shared<machine::Crossbar>(nodes);
}
TopologyPointer torus(std::vector<std::uint32_t> shape, std::uint32_t nodes) {
    return std::make_shared<machine::Torus>(std::move(shape), nodes);
}
TopologyPointer fattree(std::vector<std::uint32_t> down, std::vector<std::uint32_t> up) {
    return std::make_shared<machine::FatTree>(std::move(down), std::move(up));
}
TopologyPointer dragonfly(std::uint32_t rows, std::uint32_t columns, std::uint32_t groups, std::uint32_t nodes,
                          std::uint32_t global_links) {
    return std::make_shared<machine::Dragonfly>(rows, columns, groups, nodes, global_links);
}
TopologyPointer complete(std::uint32_t switches, std::uint32_t nodes) {
    return std::make_shared<machine::Complete>(switches, 1, nodes);
}
TopologyPointer v100(std::uint32_t boxes) {
    return std::make_shared<machine::CubeMesh>(machine::CubeMesh::Gpu::v100, boxes);
}

SchedulePointer all_reduce(Rank ranks, Index count, const std::string& algorithm) {
    return algorithm::make_schedule(std::make_shared<pattern::AllReduce>(ranks, count), algorithm);
}
SchedulePointer all_to_all(Rank ranks, const std::string& algorithm, Index points) {
    return transpose({ranks, points, ranks}, {ranks, 1}, "xz", algorithm);
}
SchedulePointer transpose(std::array<Index, 3> grid, std::array<Index, 2> split, const std::string& slab,
                          const std::string& algorithm) {
    return algorithm::make_schedule(transposition({grid[0], grid[1], grid[2]}, split, slab), algorithm);
}
SchedulePointer halo(std::array<Index, 3> grid, std::array<Index, 2> split, Index width, const std::string& periodic,
                     const std::string& algorithm) {
    const layout::Blocks blocks({grid[0], grid[1], grid[2]}, split);
    const std::array<bool, 2> periods{periodic.find('x') != periodic.npos, periodic.find('y') != periodic.npos};
    return algorithm::make_schedule(std::make_shared<pattern::Halo>(blocks, width, periods), algorithm);
}

SchedulePointer messages(Rank ranks, const std::vector<Sent>& messages) {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<Index> sources(n), targets(n);
    std::vector<std::vector<pattern::FetchBundle>> bundles(n);
    for (const auto& [from, to, points] : messages) {
        const auto at = static_cast<std::size_t>(to), of = static_cast<std::size_t>(from);
        sources[of] = std::max(sources[of], points);
        bundles[at].push_back({from, points, pattern::Runs({0, targets[at], points})});
        targets[at] += points;
    }
    return algorithm::make_schedule(std::make_shared<pattern::Fetch>(sources, targets, std::move(bundles)), "direct");
}

program::Step exchange(SchedulePointer schedule, int repeat) {
    program::Step step;
    step.name = "exchange";
    step.schedule = std::move(schedule);
    step.repeat = repeat;
    return step;
}
program::Step compute(double seconds, SchedulePointer during, int repeat) {
    auto step = exchange(std::move(during), repeat);
    step.compute.seconds = seconds;
    return step;
}
Steps repeated(const Steps& steps, int times) {
    Steps all;
    for (int i = 0; i < times; ++i) all.insert(all.end(), steps.begin(), steps.end());
    return all;
}

machine::Placement Simulation::place() const {
    return {placement, program().ranks(), ranks_per_node, machine.nodes(), options.seed, split};
}
sim::SimulationResult Simulation::packets() const {
    return sim::simulate_packets(machine, program(), place(), options);
}
sim::SimulationResult Simulation::packets_on(int threads) const {
    auto chosen = options;
    chosen.threads = threads;
    chosen.adaptive = false;
    return sim::simulate_packets(machine, program(), place(), chosen);
}
sim::SimulationResult Simulation::loggp() const {
    return sim::simulate_loggp(machine, program(), place(), options);
}

Simulation& Simulation::apart(int local, int global) {
    placement = "random";
    for (options.seed = 0; options.seed < 2000; ++options.seed) {
        const auto at = place();
        const auto& topology = *machine.topology;
        const auto found = topology.distance(topology.switch_of(at.node(0)), topology.switch_of(at.node(1)));
        if (found.local == local && found.global == global) return *this;
    }
    throw std::logic_error("no two nodes have this distance in links");
}

std::vector<Message> messages_of(const Simulation& simulation) {
    std::vector<Message> all;
    std::uint32_t stage = 0;
    for (const auto& step : simulation.steps) {
        for (int i = 0; i < step.repeat * step.schedule->stages(); ++i, ++stage) {
            const int number = i % step.schedule->stages();
            for (Rank rank = 0; rank < step.schedule->ranks(); ++rank) {
                for (int j = 0; j < step.schedule->sends(rank, number); ++j) {
                    const auto message = step.schedule->send(rank, number, j);
                    if (message.count == 0) continue;
                    all.push_back({rank, message.peer, message.count * simulation.bytes_per_point, stage});
                }
            }
        }
    }
    return all;
}

std::string bits(const sim::SimulationResult& r) {
    std::string text = "time " + std::to_string(r.time.value) + ", messages " + std::to_string(r.messages) +
                       ", bytes " + std::to_string(r.bytes) + ", unexpected " + std::to_string(r.unexpected_bytes) +
                       ", hops " + std::to_string(r.packet_hops) + ", bound " + std::to_string(r.bound.value) + " by " +
                       r.bound_by + ", imbalance " + text_of(r.imbalance) + ", hashes:";
    const auto number = [](Hash& hash, auto value) { hash.add(value); };
    text += ", busy " + std::to_string(static_cast<std::int64_t>(r.busy.sum)) + " " + std::to_string(r.busy.minimum) +
            " " + std::to_string(r.busy.maximum);
    text += part("steps", r.step_end, [](Hash& hash, Picoseconds time) { hash.add(time.value); });
    text += part("delays", r.delay.counts, number);
    text += part("series " + std::to_string(r.delay_series.shift), r.delay_series.values, number);
    text += part("pairs", r.delay_pairs.values, number);
    text += part("ports", r.port_bytes.all(), number) + part("NICs", r.nic_bytes.all(), number);
    return text;
}

Steps drawn_steps(Draw& draw, Rank max_ranks, std::array<Index, 2>& split) {
    const auto columns = draw.integer(1, max_ranks), rows = draw.integer(1, max_ranks / columns);
    split = {columns, rows};
    const auto least = std::max(columns, rows);
    PatternPointer pattern;
    const auto kind = draw.integer(0, 2);
    if (kind == 0) {
        pattern = std::make_shared<pattern::AllReduce>(static_cast<Rank>(columns * rows), draw.integer(1, 600));
    } else {
        const layout::Grid grid(least + draw.integer(0, 8), least + draw.integer(0, 8), least + draw.integer(0, 8));
        if (kind == 1) {
            const std::array<bool, 2> periodic{draw.boolean(), draw.boolean()};
            pattern = std::make_shared<pattern::Halo>(layout::Blocks(grid, split), draw.integer(0, 6), periodic);
        } else {
            pattern = transposition(grid, split, draw.from(std::vector<std::string>{"xz", "xy", "yz"}));
        }
    }
    const auto schedule = algorithm::make_schedule(pattern, draw.from(algorithms_of(pattern)));
    draw.note(pattern->describe() + ", " + std::to_string(columns) + " x " + std::to_string(rows) + " ranks, " +
              schedule->algorithm());
    return repeated({exchange(schedule)}, static_cast<int>(draw.integer(1, 2)));
}

}  // namespace testing
