// Replays an exchange on SimGrid: replay FILE together|in-turn [SimGrid's options]. In a stage a rank sends all
// messages together, or each when the one before has arrived. Prints the simulated seconds, then the seconds of a
// core that SimGrid took for them, its set-up not included.
//
// FILE holds numbers, a line a thing: `ranks stages links routes messages`; a link: bandwidth (B/s) and latency (s); a
// route: two ranks, the number of its links, and these; a message: sender, receiver, stage and bytes.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

struct Sent {
    std::size_t receiver;
    std::uint64_t bytes;
};

// What a rank does in a stage.
struct Turn {
    std::vector<Sent> sends;
    std::size_t receives = 0;
};

struct Replay {
    std::vector<sg4::Host*> hosts;
    std::vector<std::vector<Turn>> turns;  // [rank][stage]
};

template <class Value>
Value read(std::istream& file) {
    Value value{};
    if (!(file >> value)) throw std::runtime_error("the file ends too early, or holds something else than numbers");
    return value;
}

void read_platform(std::istream& file, std::size_t ranks, std::size_t links, std::size_t routes, Replay& replay) {
    sg4::NetZone* zone = sg4::create_full_zone("network");
    std::vector<sg4::LinkInRoute> known;
    for (std::size_t i = 0; i < links; ++i) {
        const auto bandwidth = read<double>(file), latency = read<double>(file);
        known.emplace_back(zone->create_link("link" + std::to_string(i), bandwidth)->set_latency(latency)->seal());
    }
    for (std::size_t r = 0; r < ranks; ++r)
        replay.hosts.push_back(zone->create_host("rank" + std::to_string(r), 1e9)->seal());
    for (std::size_t i = 0; i < routes; ++i) {
        const auto from = read<std::size_t>(file), to = read<std::size_t>(file), count = read<std::size_t>(file);
        std::vector<sg4::LinkInRoute> route;
        for (std::size_t l = 0; l < count; ++l) route.push_back(known.at(read<std::size_t>(file)));
        zone->add_route(replay.hosts.at(from)->get_netpoint(), replay.hosts.at(to)->get_netpoint(), nullptr, nullptr,
                        route, false);
    }
    zone->seal();
}

sg4::Mailbox* mailbox(std::size_t rank, std::size_t stage) {
    return sg4::Mailbox::by_name(std::to_string(rank) + "/" + std::to_string(stage));
}

// A stage ends when what the rank sends and what it receives in it has arrived.
void run(const std::vector<Turn>& turns, std::size_t rank, bool together) {
    static int payload = 0;
    for (std::size_t stage = 0; stage < turns.size(); ++stage) {
        std::vector<sg4::CommPtr> open;
        std::vector<int*> received(turns[stage].receives);
        for (int*& place : received) open.push_back(mailbox(rank, stage)->get_async(&place));
        for (const Sent& sent : turns[stage].sends) {
            open.push_back(mailbox(sent.receiver, stage)->put_async(&payload, sent.bytes));
            if (!together) open.back()->wait();
        }
        sg4::Comm::wait_all(open);
    }
}

double replay(const std::string& path, bool together, const sg4::Engine& engine) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    const auto ranks = read<std::size_t>(file), stages = read<std::size_t>(file), links = read<std::size_t>(file),
               routes = read<std::size_t>(file), messages = read<std::size_t>(file);
    Replay all;
    read_platform(file, ranks, links, routes, all);
    all.turns.assign(ranks, std::vector<Turn>(stages));
    for (std::size_t i = 0; i < messages; ++i) {
        const auto from = read<std::size_t>(file), to = read<std::size_t>(file), stage = read<std::size_t>(file);
        all.turns.at(from).at(stage).sends.push_back({to, read<std::uint64_t>(file)});
        ++all.turns.at(to).at(stage).receives;
    }
    for (std::size_t r = 0; r < ranks; ++r) {
        const sg4::ActorPtr actor = sg4::Actor::create("rank" + std::to_string(r), all.hosts[r],
                                                       [&all, r, together] { run(all.turns[r], r, together); });
        // So messages leave at once, also those to ranks that are not yet in the stage.
        for (std::size_t s = 0; s < stages; ++s)
            if (all.turns[r][s].receives > 0) mailbox(r, s)->set_receiver(actor);
    }
    const std::clock_t begin = std::clock();
    engine.run();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
    sg4::Engine engine(&argc, argv);
    const std::string order = argc == 3 ? argv[2] : "";
    if (order != "together" && order != "in-turn") {
        std::fprintf(stderr, "usage: replay FILE together|in-turn\n");
        return 2;
    }
    try {
        const double cpu = replay(argv[1], order == "together", engine);
        std::printf("%.15g %.6g\n", sg4::Engine::get_clock(), cpu);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
        return 1;
    }
    return 0;
}
