#include "algorithm/alltoall_two_level.hpp"

#include "algorithm/closed_groups.hpp"
#include "algorithm/node_aware.hpp"
#include "base/error.hpp"

namespace tradewind::algorithm {

namespace {

// See NodeMember for who deals with which node. Stage e of the exchange between nodes has distances e W + 1 .. (e + 1)
// W, where no node has more than W ranks of a group; a rank of a node that has fewer deals with several in a stage.
template <class Groups>
class AllToAllTwoLevel : public schedule::Schedule {
  public:
    AllToAllTwoLevel(std::shared_ptr<const pattern::Pattern> pattern, Groups groups, Index ranks_per_node)
        : Schedule(std::move(pattern), "two-level-" + std::to_string(ranks_per_node)),
          groups_(std::move(groups)),
          ranks_per_node_(ranks_per_node),
          positions_(groups_.positions()),
          width_(NodeLine::maximum(groups_.stride(), positions_, ranks_per_node)),
          gathers_(width_ > 1),
          exchanges_(static_cast<int>((max_nodes() + width_ - 2) / width_)),
          scatters_(gathers_ && exchanges_ > 0) {}

    int stages() const override { return std::max(1, gathers_ + exchanges_ + scatters_); }
    int sends(Rank rank, int stage) const override { return messages(rank, stage); }
    int receives(Rank rank, int stage) const override { return messages(rank, stage); }

    schedule::Message send(Rank rank, int stage, int j) const override {
        const NodeMember me = member(rank);
        if (exchanges(stage)) return between(me, me.node, distance(me, stage, j));
        return inside(me, me.local, ahead(me, j), j + 1, gathers(stage));
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        const NodeMember me = member(rank);
        if (!exchanges(stage)) return inside(me, behind(me, j), me.local, j + 1, gathers(stage));
        const Index d = distance(me, stage, j);
        return between(me, me.behind(d), d);
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const NodeMember me = member(rank);
        if (exchanges(stage))
            exchanged(me, me.node, distance(me, stage, j), true, pieces);
        else if (gathers(stage))
            gathered(me, me.local, ahead(me, j), true, pieces);
        else
            scattered(me, me.local, ahead(me, j), true, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const NodeMember me = member(rank);
        if (exchanges(stage))
            exchanged(me, me.behind(distance(me, stage, j)), distance(me, stage, j), false, pieces);
        else if (gathers(stage))
            gathered(me, behind(me, j), me.local, false, pieces);
        else
            scattered(me, behind(me, j), me.local, false, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        if (stage == 0) append_own(groups_, rank, copies);
    }
    Index scratch(Rank rank) const override {
        return gathers_ == 0 ? 0 : member(rank).distances() * slots() * groups_.largest_block();
    }

  private:
    Index max_nodes() const {
        Index maximum = 1;
        for (Index g = 0, groups = ranks() / positions_; g < groups; ++g) {
            const Index first = groups_.coordinate() == 0 ? g * positions_ : g;
            maximum = std::max(maximum, NodeLine(first, groups_.stride(), positions_, ranks_per_node_).nodes());
        }
        return maximum;
    }
    NodeMember member(Rank rank) const {
        const Index position = groups_.position(rank), stride = groups_.stride();
        return {rank, position, {rank - position * stride, stride, positions_, ranks_per_node_}, stride};
    }

    bool gathers(int stage) const { return stage < gathers_; }
    bool exchanges(int stage) const { return stage >= gathers_ && stage < gathers_ + exchanges_; }
    int messages(Rank rank, int stage) const {
        const NodeMember me = member(rank);
        if (!exchanges(stage)) return static_cast<int>(me.own.size() - 1);
        const Index last = std::min((stage - gathers_ + 1) * width_, me.nodes - 1), first = distance(me, stage, 0);
        return first > last ? 0 : static_cast<int>((last - first) / me.own.size() + 1);
    }
    // The j-th distance that a rank deals with in a stage.
    Index distance(const NodeMember& me, int stage, int j) const {
        return me.distance_above((stage - gathers_) * width_) + j * me.own.size();
    }
    // The receiver of a rank's j-th message inside its node, and the sender of the j-th one that it receives.
    static Index ahead(const NodeMember& me, int j) { return (me.local + j + 1) % me.own.size(); }
    static Index behind(const NodeMember& me, int j) { return (me.local + me.own.size() - j - 1) % me.own.size(); }

    // Points that some positions of a group have for others.
    Index volume(const NodeMember& me, Positions from, Positions to) const { return groups_.volume(me.rank, from, to); }
    // The message from `node` to the node `distance` ahead, as its end on the node of `me` sees it.
    schedule::Message between(const NodeMember& me, Index node, Index distance) const {
        const Positions from = me.line.on(node), to = me.line.on((node + distance) % me.nodes);
        const Positions other = node == me.node ? to : from;
        return {me.rank_at(other.begin + (distance - 1) % other.size()), volume(me, from, to), 0,
                static_cast<std::int8_t>((node / distance) & 1)};
    }
    // The message from one member of my node to the one `offset` further on.
    schedule::Message inside(const NodeMember& me, Index from, Index to, int offset, bool gathers) const {
        const Positions sender{me.position(from), me.position(from) + 1},
            receiver{me.position(to), me.position(to) + 1};
        Index count = gathers ? volume(me, sender, receiver) : 0;
        for (Index d = (gathers ? to : from) + 1; d < me.nodes; d += me.own.size())
            count +=
                gathers ? volume(me, sender, me.line.on(me.ahead(d))) : volume(me, me.line.on(me.behind(d)), receiver);
        return {me.rank_at(me.position(from == me.local ? to : from)), count, offset,
                static_cast<std::int8_t>((from / offset) & 1)};
    }

    // Where a rank keeps blocks on their way: for each distance that it deals with, one from every member of a node to
    // every member of another. What comes from the node behind takes the place of what went to the node ahead.
    Index slots() const { return width_ * width_; }
    Index slot(const NodeMember& me, Index distance, Index from, Index to) const {
        const Index index = (distance - 1) / me.own.size() * slots() + from * width_ + to;
        return index * groups_.largest_block();
    }
    void append(const NodeMember& me, Index from, Index to, schedule::Buffer buffer, Index offset,
                std::vector<schedule::Piece>& pieces) const {
        groups_.append(me.rank_at(from), me.rank_at(to), buffer, offset, pieces);
    }

    // All blocks from `node` to the node `distance` ahead. My own are in my arrays, those of the others in slots.
    void exchanged(const NodeMember& me, Index node, Index distance, bool sending,
                   std::vector<schedule::Piece>& pieces) const {
        const Positions from = me.line.on(node), to = me.line.on((node + distance) % me.nodes);
        for (Index p = from.begin; p < from.end; ++p)
            for (Index q = to.begin; q < to.end; ++q)
                if ((sending ? p : q) == me.position(me.local))
                    append(me, p, q, sending ? schedule::Buffer::source : schedule::Buffer::target, 0, pieces);
                else
                    append(me, p, q, schedule::Buffer::scratch, slot(me, distance, p - from.begin, q - to.begin),
                           pieces);
    }
    // Blocks of a member of my node for another one, and for all nodes that this one deals with.
    void gathered(const NodeMember& me, Index from, Index to, bool sending,
                  std::vector<schedule::Piece>& pieces) const {
        const Index p = me.position(from);
        append(me, p, me.position(to), sending ? schedule::Buffer::source : schedule::Buffer::target, 0, pieces);
        for (Index d = to + 1; d < me.nodes; d += me.own.size()) {
            const Positions others = me.line.on(me.ahead(d));
            for (Index q = others.begin; q < others.end; ++q)
                append(me, p, q, sending ? schedule::Buffer::source : schedule::Buffer::scratch,
                       slot(me, d, from, q - others.begin), pieces);
        }
    }
    // Blocks that a member of my node has received for another one, from all nodes that it deals with.
    void scattered(const NodeMember& me, Index from, Index to, bool sending,
                   std::vector<schedule::Piece>& pieces) const {
        const Index q = me.position(to);
        for (Index d = from + 1; d < me.nodes; d += me.own.size()) {
            const Positions others = me.line.on(me.behind(d));
            for (Index p = others.begin; p < others.end; ++p)
                append(me, p, q, sending ? schedule::Buffer::scratch : schedule::Buffer::target,
                       slot(me, d, p - others.begin, to), pieces);
        }
    }

    Groups groups_;
    Index ranks_per_node_, positions_;
    Index width_;                         // W: maximum ranks of a group on one node
    int gathers_, exchanges_, scatters_;  // stages
};

// Where senders and receivers are not the same groups: what each rank of a node has for others, and they for it.
class RedistributionTwoLevel : public NodeAware {
  public:
    RedistributionTwoLevel(std::shared_ptr<const pattern::Redistribution> pattern, Index ranks_per_node)
        : NodeAware(pattern, ranks_per_node, Carriers::all), pattern_(std::move(pattern)) {}

  private:
    void collect(NodeTraffic& traffic) const override {
        const Rank node = traffic.node(), first = nodes().first(node), end = first + nodes().members(node);
        for (Rank rank = first; rank < end; ++rank)
            each_receiver(rank, [&](Rank receiver) {
                const Rank distance = nodes().node(receiver) - node;
                for (const layout::Box& box : blocks(rank, receiver))
                    if (distance != 0)
                        traffic.add_outgoing(rank, distance, {box, {{receiver, box}}});
                    else if (receiver != rank)
                        traffic.add_local(rank, receiver, box, box);
            });
        // Both ends of a message between two nodes go through senders first, then through their receivers.
        std::vector<std::pair<Rank, Rank>> coming;
        for (Rank rank = first; rank < end; ++rank)
            each_sender(rank, [&](Rank sender) {
                if (nodes().node(sender) != node) coming.emplace_back(sender, rank);
            });
        std::sort(coming.begin(), coming.end());
        for (const auto& [sender, receiver] : coming)
            for (const layout::Box& box : blocks(sender, receiver))
                traffic.add_incoming(node - nodes().node(sender), {box, {{receiver, box}}});
    }
    void own_copies(Rank rank, std::vector<schedule::Copy>& copies) const override {
        for (const layout::Box& box : blocks(rank, rank))
            copies.push_back({{schedule::Buffer::source, box}, {schedule::Buffer::target, box}});
    }

    std::vector<layout::Box> blocks(Rank sender, Rank receiver) const {
        std::vector<layout::Box> boxes;
        pattern_->append_blocks(sender, receiver, boxes);
        return boxes;
    }
    // In ascending order.
    template <class Take>
    void each_receiver(Rank rank, Take take) const {
        std::vector<Rank> found;
        for (const auto& place : pattern_->places())
            if (pattern_->sending(place, rank))
                for (Index q = 0; q < place.receivers; ++q)
                    if (const auto partner = pattern_->receiver_at(place, rank, q)) found.push_back(partner->rank);
        std::sort(found.begin(), found.end());
        for (const Rank receiver : found) take(receiver);
    }
    template <class Take>
    void each_sender(Rank rank, Take take) const {
        for (const auto& place : pattern_->places())
            if (pattern_->receiving(place, rank))
                for (Index p = 0; p < place.senders; ++p)
                    if (const auto partner = pattern_->sender_at(place, rank, p)) take(partner->rank);
    }

    std::shared_ptr<const pattern::Redistribution> pattern_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> alltoall_two_level(std::shared_ptr<const pattern::Transpose> transpose,
                                                             Index ranks_per_node) {
    if (!transpose->complete())
        throw InputError(
            "two-level passes blocks on from rank to rank, so the ranks of each group must all have something for each "
            "other; this " +
            transpose->describe() + " is not like that: use ring-k, pairwise or burst");
    return std::make_shared<AllToAllTwoLevel<BlockGroups>>(transpose, BlockGroups(transpose), ranks_per_node);
}

std::shared_ptr<const schedule::Schedule> redistribution_two_level(
    std::shared_ptr<const pattern::Redistribution> pattern, Index ranks_per_node) {
    if (pattern->closed())
        return std::make_shared<AllToAllTwoLevel<ClosedGroups>>(pattern, ClosedGroups(pattern), ranks_per_node);
    return std::make_shared<RedistributionTwoLevel>(std::move(pattern), ranks_per_node);
}

}  // namespace tradewind::algorithm
