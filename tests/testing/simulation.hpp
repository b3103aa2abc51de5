// Simulations of small machines and exchanges.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sim/simulate.hpp"
#include "testing/networks.hpp"

namespace testing {

using SchedulePointer = std::shared_ptr<const tradewind::schedule::Schedule>;
using Steps = std::vector<tradewind::program::Step>;

constexpr std::int64_t ns = 1000;   // in ps
constexpr std::int64_t byte = 100;  // ps at 10 GB/s

// Topologies that tests of one particular share.
TopologyPointer crossbar(std::uint32_t nodes = 64);
TopologyPointer torus(std::vector<std::uint32_t> shape = {4, 3, 2}, std::uint32_t nodes = 2);
TopologyPointer fattree(std::vector<std::uint32_t> down = {4, 4, 4}, std::vector<std::uint32_t> up = {4, 4});
TopologyPointer dragonfly(std::uint32_t rows = 2, std::uint32_t columns = 3, std::uint32_t groups = 7,
                          std::uint32_t nodes = 2, std::uint32_t global_links = 1);
TopologyPointer complete(std::uint32_t switches, std::uint32_t nodes);
TopologyPointer v100(std::uint32_t boxes = 1);

SchedulePointer all_reduce(tradewind::Rank ranks, tradewind::Index count, const std::string& algorithm);
// Every rank sends every other `points` points.
SchedulePointer all_to_all(tradewind::Rank ranks, const std::string& algorithm, tradewind::Index points = 1);
// The transposition `slab` of a spectral model: xz, xy or yz.
SchedulePointer transpose(std::array<tradewind::Index, 3> grid, std::array<tradewind::Index, 2> split,
                          const std::string& slab, const std::string& algorithm);
// `periodic`: some of "xy".
SchedulePointer halo(std::array<tradewind::Index, 3> grid, std::array<tradewind::Index, 2> split,
                     tradewind::Index width, const std::string& periodic, const std::string& algorithm);
// One stage in which ranks send these points, all at once.
struct Sent {
    tradewind::Rank from, to;
    tradewind::Index points;
};
SchedulePointer messages(tradewind::Rank ranks, const std::vector<Sent>& messages);

tradewind::program::Step exchange(SchedulePointer schedule, int repeat = 1);
tradewind::program::Step compute(double seconds, SchedulePointer during = {}, int repeat = 1);
// One after another, `times` times.
Steps repeated(const Steps& steps, int times);

struct Simulation {
    tradewind::machine::Machine machine;
    Steps steps;
    std::int64_t bytes_per_point = 8;
    std::uint32_t ranks_per_node = 1;
    std::string placement = "linear";  // by the seed of the options
    std::array<tradewind::Index, 2> split{0, 0};
    tradewind::sim::SimulationOptions options{};  // unbounded buffers

    Simulation(tradewind::machine::Machine on, Steps these) : machine(std::move(on)), steps(std::move(these)) {}
    Simulation(tradewind::machine::Machine on, SchedulePointer schedule)
        : Simulation(std::move(on), Steps{exchange(std::move(schedule))}) {}

    tradewind::program::Program program() const { return {steps, bytes_per_point}; }
    tradewind::machine::Placement place() const;
    tradewind::sim::SimulationResult packets() const;
    // All threads in all windows.
    tradewind::sim::SimulationResult packets_on(int threads) const;
    tradewind::sim::SimulationResult loggp() const;
    // Places two ranks at a distance of `local` and `global` links.
    Simulation& apart(int local, int global);
};

// A message as the schedules say; stages are numbered through.
struct Message {
    tradewind::Rank from, to;
    std::int64_t bytes;
    std::uint32_t stage;
};
std::vector<Message> messages_of(const Simulation& simulation);

// All that a result says of the program, as text to compare: part by part a hash.
std::string bits(const tradewind::sim::SimulationResult& result);

// An exchange of any kind, by any of its algorithms, among ranks that divide a grid.
Steps drawn_steps(Draw& draw, tradewind::Rank max_ranks, std::array<tradewind::Index, 2>& split);

}  // namespace testing
