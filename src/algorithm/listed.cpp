#include "algorithm/listed.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "pattern/fetch.hpp"

namespace tradewind::algorithm {

namespace {

constexpr int max_stages = 1 << 20;

void check_messages(Rank ranks, const std::vector<ListedMessage>& messages) {
    std::set<std::array<std::int64_t, 4>> seen;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const ListedMessage& m = messages[i];
        const auto refuse = [i](const std::string& problem) {
            throw InputError("message " + std::to_string(i) + ": " + problem);
        };
        if (m.stage < 0 || m.stage >= max_stages)
            refuse("stage " + std::to_string(m.stage) + "; 0.." + std::to_string(max_stages - 1) + " are allowed");
        for (const Rank rank : {m.source, m.destination})
            if (rank < 0 || rank >= ranks)
                refuse("rank " + std::to_string(rank) + "; 0.." + std::to_string(ranks - 1) + " are allowed");
        if (m.source == m.destination)
            refuse("rank " + std::to_string(m.source) + " sends to itself; another rank is allowed");
        if (m.points < 1) refuse(std::to_string(m.points) + " points; 1 or more are allowed");
        if (m.parity != 0 && m.parity != 1) refuse("half " + std::to_string(m.parity) + "; 0 and 1 are allowed");
        if (!seen.insert({m.stage, m.source, m.destination, m.tag}).second)
            refuse("rank " + std::to_string(m.source) + " sends rank " + std::to_string(m.destination) +
                   " a second one with tag " + std::to_string(m.tag) + " in stage " + std::to_string(m.stage) +
                   "; another tag is allowed");
    }
}

// Where the points of a message lie in the arrays of its two ends.
struct Places {
    Index source = 0, target = 0;
};

// Bundles all messages of two ranks as one: those of a pair read one part of the source array after another.
std::shared_ptr<const pattern::Fetch> fetch_of(Rank ranks, const std::vector<ListedMessage>& messages,
                                               std::vector<Places>& places) {
    std::map<std::pair<Rank, Rank>, Index> points;  // by destination and source
    places.clear();
    for (const ListedMessage& m : messages) {
        Index& sum = points[{m.destination, m.source}];
        places.push_back({sum, sum});
        add_checked(sum, m.points, "messages between two ranks", "points");
    }
    const auto size = static_cast<std::size_t>(ranks);
    std::vector<Index> sources(size, 0), targets(size, 0);
    std::vector<std::vector<pattern::FetchBundle>> bundles(size);
    std::map<std::pair<Rank, Rank>, Index> begins;
    for (const auto& [ends, sum] : points) {
        const auto to = static_cast<std::size_t>(ends.first), from = static_cast<std::size_t>(ends.second);
        begins[ends] = targets[to];
        bundles[to].push_back({ends.second, sum, pattern::Runs({0, targets[to], sum})});
        add_checked(targets[to], sum, "target array of a fetch", "points");
        sources[from] = std::max(sources[from], sum);
    }
    for (std::size_t i = 0; i < messages.size(); ++i)
        places[i].target += begins[{messages[i].destination, messages[i].source}];
    return std::make_shared<pattern::Fetch>(sources, targets, std::move(bundles));
}

// A round in which a rank sends or receives: its places in the list, -1: none.
struct Round {
    std::int64_t sent = -1, received = -1;
};

// The next round without a message, from any round on, for each stage and receiver.
class FreeRounds {
  public:
    std::int64_t take(int stage, Rank receiver, std::int64_t round) {
        std::int64_t free = round;
        for (auto at = next_.find({receiver, stage, free}); at != next_.end(); at = next_.find({receiver, stage, free}))
            free = at->second;
        for (std::int64_t at = round; at < free;)  // all that were passed lead here from now on
            at = std::exchange(next_.at({receiver, stage, at}), free);
        next_[{receiver, stage, free}] = free + 1;
        return free;
    }

  private:
    using Place = std::tuple<Rank, int, std::int64_t>;
    struct Hash {
        std::size_t operator()(const Place& place) const {
            const auto [rank, stage, round] = place;
            return mix(mix(static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(stage)),
                       static_cast<std::uint64_t>(round));
        }
    };
    std::unordered_map<Place, std::int64_t, Hash> next_;
};

// A message goes to the first round behind all that its sender has sent in which its receiver has none: so ranks that
// do one round after another meet, whichever messages there are. A rank has the rounds in which it does something.
class Listed : public schedule::Schedule {
  public:
    Listed(std::shared_ptr<const pattern::Fetch> fetch, std::vector<ListedMessage> messages, std::vector<Places> places)
        : Schedule(fetch, "listed"),
          fetch_(std::move(fetch)),
          messages_(std::move(messages)),
          places_(std::move(places)),
          first_(static_cast<std::size_t>(ranks()) + 1, 0) {
        struct End {
            Rank rank;
            int stage;
            std::int64_t round, message;
            bool sends;
            auto place() const { return std::tuple(rank, stage, round); }
        };
        std::vector<End> ends;
        ends.reserve(2 * messages_.size());
        FreeRounds free;
        std::unordered_map<std::uint64_t, std::int64_t> sent;  // by rank and stage: the round after the last one
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            const ListedMessage& m = messages_[i];
            stages_ = std::max(stages_, m.stage + 1);
            const auto sender = static_cast<std::uint64_t>(m.source) << 32 | static_cast<std::uint64_t>(m.stage);
            const std::int64_t round = free.take(m.stage, m.destination, sent[sender]);
            sent[sender] = round + 1;
            ends.push_back({m.source, m.stage, round, static_cast<std::int64_t>(i), true});
            ends.push_back({m.destination, m.stage, round, static_cast<std::int64_t>(i), false});
        }
        std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.place() < b.place(); });
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const End& end = ends[i];
            if (i == 0 || ends[i - 1].rank != end.rank || ends[i - 1].stage != end.stage) {
                stages_of_.push_back({end.stage, rounds_.size()});
                ++first_[static_cast<std::size_t>(end.rank) + 1];
            }
            if (i == 0 || ends[i - 1].place() != end.place()) rounds_.emplace_back();
            (end.sends ? rounds_.back().sent : rounds_.back().received) = end.message;
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
    }

    int stages() const override { return stages_; }
    int sends(Rank rank, int stage) const override { return static_cast<int>(rounds(rank, stage).size()); }
    int receives(Rank rank, int stage) const override { return sends(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override {
        const std::int64_t i = round(rank, stage, j).sent;
        return i < 0 ? schedule::Message{rank, 0, 0, 0}
                     : message(i, messages_[static_cast<std::size_t>(i)].destination);
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        const std::int64_t i = round(rank, stage, j).received;
        return i < 0 ? schedule::Message{rank, 0, 0, 0} : message(i, messages_[static_cast<std::size_t>(i)].source);
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const std::int64_t i = round(rank, stage, j).sent;
        if (i < 0) return;
        const auto at = static_cast<std::size_t>(i);
        pieces.push_back(
            {schedule::Buffer::source, fetch_->source_of(rank, {places_[at].source, 0, messages_[at].points})});
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const std::int64_t i = round(rank, stage, j).received;
        if (i < 0) return;
        const auto at = static_cast<std::size_t>(i);
        pieces.push_back({schedule::Buffer::target, fetch_->target_of({0, places_[at].target, messages_[at].points})});
    }

  private:
    struct OfStage {
        int stage;
        std::size_t first;  // of its rounds
    };

    std::span<const Round> rounds(Rank rank, int stage) const {
        const auto begin = stages_of_.begin() + first_[static_cast<std::size_t>(rank)],
                   end = stages_of_.begin() + first_[static_cast<std::size_t>(rank) + 1];
        // Most ranks have all stages.
        auto at = begin + std::min<std::ptrdiff_t>(stage, end - begin);
        if (at == end || at->stage != stage)
            at = std::lower_bound(begin, end, stage, [](const OfStage& a, int b) { return a.stage < b; });
        if (at == end || at->stage != stage) return {};
        const std::size_t after = at + 1 == stages_of_.end() ? rounds_.size() : (at + 1)->first;
        return {rounds_.data() + at->first, after - at->first};
    }
    const Round& round(Rank rank, int stage, int j) const { return rounds(rank, stage)[static_cast<std::size_t>(j)]; }
    schedule::Message message(std::int64_t i, Rank peer) const {
        const ListedMessage& m = messages_[static_cast<std::size_t>(i)];
        return {peer, m.points, m.tag, m.parity};
    }

    std::shared_ptr<const pattern::Fetch> fetch_;
    std::vector<ListedMessage> messages_;
    std::vector<Places> places_;
    int stages_ = 0;
    std::vector<std::ptrdiff_t> first_;  // by rank: of its stages
    std::vector<OfStage> stages_of_;     // in which a rank sends or receives, rank after rank
    std::vector<Round> rounds_;          // of these stages, one after another
};

}  // namespace

std::shared_ptr<const schedule::Schedule> listed(Rank ranks, std::vector<ListedMessage> messages) {
    if (ranks < 1) throw InputError("messages of " + std::to_string(ranks) + " ranks: 1 or more are allowed");
    check_messages(ranks, messages);
    std::vector<Places> places;
    auto fetch = fetch_of(ranks, messages, places);
    return std::make_shared<Listed>(std::move(fetch), std::move(messages), std::move(places));
}

}  // namespace tradewind::algorithm
