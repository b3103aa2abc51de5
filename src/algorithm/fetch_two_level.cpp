#include "algorithm/fetch_two_level.hpp"

#include <map>
#include <set>

#include "algorithm/node_aware.hpp"
#include "base/error.hpp"

namespace tradewind::algorithm {

namespace {

// A run that a rank of another node wants.
struct Wanted {
    Rank receiver;
    pattern::FetchRun run;
};

class FetchTwoLevel : public NodeAware {
  public:
    FetchTwoLevel(std::shared_ptr<const pattern::Fetch> fetch, Index ranks_per_node, Carriers carriers)
        : NodeAware(fetch, ranks_per_node, carriers), fetch_(std::move(fetch)) {}

  private:
    void collect(NodeTraffic& traffic) const override {
        const Rank node = traffic.node(), first = nodes().first(node), end = first + nodes().members(node);
        for (Rank rank = first; rank < end; ++rank) leave(rank, node, traffic);
        std::map<Rank, std::vector<Wanted>> coming;  // by sender
        for (Rank rank = first; rank < end; ++rank)
            for (const pattern::FetchBundle& bundle : fetch_->part(rank).receives)
                if (nodes().node(bundle.peer) != node)
                    for (const pattern::FetchRun& run : bundle.runs) coming[bundle.peer].push_back({rank, run});
        for (const auto& [sender, wanted] : coming)
            for (const Tile& tile : tiles(sender, wanted)) traffic.add_incoming(node - nodes().node(sender), tile);
    }
    void own_copies(Rank rank, std::vector<schedule::Copy>& copies) const override {
        for (const pattern::FetchRun& run : fetch_->part(rank).kept)
            copies.push_back({{schedule::Buffer::source, fetch_->source_of(rank, run)},
                              {schedule::Buffer::target, fetch_->target_of(run)}});
    }

    void leave(Rank rank, Rank node, NodeTraffic& traffic) const {
        std::map<Rank, std::vector<Wanted>> leaving;  // by the distance of nodes
        for (const pattern::FetchBundle& bundle : fetch_->part(rank).sends) {
            const Rank distance = nodes().node(bundle.peer) - node;
            for (const pattern::FetchRun& run : bundle.runs)
                if (distance != 0)
                    leaving[distance].push_back({bundle.peer, run});
                else
                    traffic.add_local(rank, bundle.peer, fetch_->source_of(rank, run), fetch_->target_of(run));
        }
        for (const auto& [distance, wanted] : leaving)
            for (const Tile& tile : tiles(rank, wanted)) traffic.add_outgoing(rank, distance, tile);
    }

    // The points that one rank has for another node, cut wherever a wanted run begins or ends, in ascending order. A
    // rank alone on its node has no stage in which it could put points that it wants twice where they belong: it gets
    // them twice.
    std::vector<Tile> tiles(Rank sender, const std::vector<Wanted>& wanted) const {
        std::vector<Tile> found;
        if (nodes().width == 1) {
            for (const auto& [receiver, run] : wanted)
                found.push_back({fetch_->source_of(sender, run), {{receiver, fetch_->target_of(run)}}});
            return found;
        }
        std::set<Index> edges;
        for (const auto& [receiver, run] : wanted) edges.insert({run.source, run.source + run.length});
        std::map<Index, Tile> by_begin;
        for (const auto& [receiver, run] : wanted)
            for (auto edge = edges.find(run.source); *edge < run.source + run.length; ++edge) {
                const pattern::FetchRun part{*edge, run.target + *edge - run.source, *std::next(edge) - *edge};
                Tile& tile = by_begin[*edge];
                tile.at_sender = fetch_->source_of(sender, part);
                tile.wants.push_back({receiver, fetch_->target_of(part)});
            }
        for (auto& [begin, tile] : by_begin) found.push_back(std::move(tile));
        return found;
    }

    std::shared_ptr<const pattern::Fetch> fetch_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> fetch_two_level(std::shared_ptr<const pattern::Fetch> fetch,
                                                          Index ranks_per_node, Carriers carriers) {
    if (fetch->partial())
        throw InputError(
            "two-level and leaders pass points on from rank to rank, so they need the lists of all ranks; this " +
            fetch->describe() + " describes one rank alone: use direct, or make it known to all");
    return std::make_shared<FetchTwoLevel>(std::move(fetch), ranks_per_node, carriers);
}

}  // namespace tradewind::algorithm
