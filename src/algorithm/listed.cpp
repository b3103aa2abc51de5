#include "algorithm/listed.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "pattern/fetch.hpp"

namespace tradewind::algorithm {

namespace {

constexpr int max_stages = 1 << 20;
constexpr std::int64_t max_ends = std::int64_t{1} << 26;  // ranks x stages: 3 GiB

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

// The messages of a rank in a stage, by round; -1: none.
using Rounds = std::vector<std::int64_t>;

std::int64_t in_round(const Rounds& rounds, int round) {
    return static_cast<std::size_t>(round) < rounds.size() ? rounds[static_cast<std::size_t>(round)] : -1;
}

void put(Rounds& rounds, int round, std::int64_t message) {
    if (static_cast<std::size_t>(round) >= rounds.size()) rounds.resize(static_cast<std::size_t>(round) + 1, -1);
    rounds[static_cast<std::size_t>(round)] = message;
}

// A message goes to the first round behind all that its sender has sent in which its receiver has none: so ranks that
// do one round after another meet, whichever messages there are.
class Listed : public schedule::Schedule {
  public:
    Listed(std::shared_ptr<const pattern::Fetch> fetch, std::vector<ListedMessage> messages, std::vector<Places> places)
        : Schedule(fetch, "listed"),
          fetch_(std::move(fetch)),
          messages_(std::move(messages)),
          places_(std::move(places)) {
        for (const ListedMessage& m : messages_) stages_ = std::max(stages_, m.stage + 1);
        checked_product({ranks(), stages_}, max_ends, "a list of messages", "ranks in stages");
        const auto ends = static_cast<std::size_t>(ranks()) * static_cast<std::size_t>(stages_);
        sent_.resize(ends);
        received_.resize(ends);
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            Rounds& sent = sent_[place(messages_[i].source, messages_[i].stage)];
            Rounds& received = received_[place(messages_[i].destination, messages_[i].stage)];
            int round = static_cast<int>(sent.size());
            while (in_round(received, round) >= 0) ++round;
            put(sent, round, static_cast<std::int64_t>(i));
            put(received, round, static_cast<std::int64_t>(i));
        }
    }

    int stages() const override { return stages_; }
    int sends(Rank rank, int stage) const override { return rounds(rank, stage); }
    int receives(Rank rank, int stage) const override { return rounds(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override {
        const std::int64_t i = in_round(sent_[place(rank, stage)], j);
        return i < 0 ? schedule::Message{rank, 0, 0, 0}
                     : message(i, messages_[static_cast<std::size_t>(i)].destination);
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        const std::int64_t i = in_round(received_[place(rank, stage)], j);
        return i < 0 ? schedule::Message{rank, 0, 0, 0} : message(i, messages_[static_cast<std::size_t>(i)].source);
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const std::int64_t i = in_round(sent_[place(rank, stage)], j);
        if (i < 0) return;
        const auto at = static_cast<std::size_t>(i);
        pieces.push_back(
            {schedule::Buffer::source, fetch_->source_of(rank, {places_[at].source, 0, messages_[at].points})});
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const std::int64_t i = in_round(received_[place(rank, stage)], j);
        if (i < 0) return;
        const auto at = static_cast<std::size_t>(i);
        pieces.push_back({schedule::Buffer::target, fetch_->target_of({0, places_[at].target, messages_[at].points})});
    }

  private:
    std::size_t place(Rank rank, int stage) const {
        return static_cast<std::size_t>(rank) * static_cast<std::size_t>(stages_) + static_cast<std::size_t>(stage);
    }
    int rounds(Rank rank, int stage) const {
        const std::size_t at = place(rank, stage);
        return static_cast<int>(std::max(sent_[at].size(), received_[at].size()));
    }
    schedule::Message message(std::int64_t i, Rank peer) const {
        const ListedMessage& m = messages_[static_cast<std::size_t>(i)];
        return {peer, m.points, m.tag, m.parity};
    }

    std::shared_ptr<const pattern::Fetch> fetch_;
    std::vector<ListedMessage> messages_;
    std::vector<Places> places_;
    int stages_ = 0;
    std::vector<Rounds> sent_, received_;  // by rank and stage
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
