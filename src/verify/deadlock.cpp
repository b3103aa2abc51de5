#include "verify/deadlock.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::verify {

namespace {

class Stage {
  public:
    Stage(const schedule::Schedule& schedule, int stage, const std::vector<Match>& matches,
          const schedule::TransportEntry& order)
        : schedule_(schedule), stage_(stage), matches_(matches), order_(order), posted_(matches.size()) {
        const Rank ranks = schedule.ranks();
        first_[0].resize(ranks + 1);
        first_[1].resize(ranks + 1);
        operations_.resize(ranks);
        next_.resize(ranks);
        for (Rank rank = 0; rank < ranks; ++rank) {
            first_[0][rank + 1] = first_[0][rank] + schedule.receives(rank, stage);
            first_[1][rank + 1] = first_[1][rank] + schedule.sends(rank, stage);
            operations_[rank] = order.posting(schedule, rank, stage);
        }
        for (int sending : {0, 1}) match_of_[sending].resize(first_[sending][ranks]);
        for (std::size_t m = 0; m < matches.size(); ++m) {
            match_of_[0][first_[0][matches[m].receiver] + matches[m].receive] = m;
            match_of_[1][first_[1][matches[m].sender] + matches[m].send] = m;
        }
    }

    void run() {
        std::vector<Rank> ready(schedule_.ranks());
        for (Rank rank = 0; rank < schedule_.ranks(); ++rank) ready[rank] = schedule_.ranks() - 1 - rank;
        while (!ready.empty()) {
            const Rank rank = ready.back();
            ready.pop_back();
            advance(rank, ready);
        }
        for (Rank rank = 0; rank < schedule_.ranks(); ++rank)
            if (stuck(rank)) refuse(rank);
    }

  private:
    static constexpr std::uint8_t both = 3;

    std::size_t match_at(Rank rank, const schedule::Operation& operation) const {
        return match_of_[operation.sending][first_[operation.sending][rank] + operation.j];
    }
    bool stuck(Rank rank) const { return next_[rank] < operations_[rank].size(); }
    Rank peer_in_wait(Rank rank) const {
        const schedule::Operation& operation = operations_[rank][next_[rank]];
        const Match& m = matches_[match_at(rank, operation)];
        return operation.sending ? m.receiver : m.sender;
    }

    // Runs a rank until it is done or must wait; ranks that it may have woken become ready.
    void advance(Rank rank, std::vector<Rank>& ready) {
        for (std::size_t& next = next_[rank]; next < operations_[rank].size(); ++next) {
            const schedule::Operation& operation = operations_[rank][next];
            const std::size_t m = match_at(rank, operation);
            if (operation.kind == schedule::Operation::wait) {
                if (posted_[m] != both) return;
                continue;
            }
            posted_[m] |= operation.sending ? 2 : 1;
            if (posted_[m] == both) ready.push_back(operation.sending ? matches_[m].receiver : matches_[m].sender);
        }
    }

    // A stuck rank waits for a message that its peer has not posted, so the peer is stuck as well: following them
    // leads into a cycle.
    [[noreturn]] void refuse(Rank rank) const {
        std::vector<Rank> chain;
        while (std::find(chain.begin(), chain.end(), rank) == chain.end()) {
            if (!stuck(rank)) refuse_unposted(chain.back());
            chain.push_back(rank);
            rank = peer_in_wait(rank);
        }
        chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), rank));
        std::string text = "deadlock in stage " + std::to_string(stage_) + " with " + order_.name + ": ";
        constexpr std::size_t shown = 12;
        for (std::size_t i = 0; i < chain.size() && i < shown; ++i) text += (i ? "; " : "") + waiting(chain[i]);
        if (chain.size() > shown) text += "; and so on for " + std::to_string(chain.size() - shown) + " more ranks";
        throw VerificationError(text + ", a cycle of " + std::to_string(chain.size()) + " ranks");
    }
    [[noreturn]] void refuse_unposted(Rank rank) const {
        throw VerificationError("stage " + std::to_string(stage_) + " with " + order_.name + ": " + waiting(rank) +
                                ", which never posts it");
    }
    std::string waiting(Rank rank) const {
        const schedule::Operation& operation = operations_[rank][next_[rank]];
        const Match& m = matches_[match_at(rank, operation)];
        return "rank " + std::to_string(rank) + " waits " + (operation.sending ? "to send to" : "to receive from") +
               " rank " + std::to_string(peer_in_wait(rank)) + " (tag " + std::to_string(m.tag) + ")";
    }

    const schedule::Schedule& schedule_;
    int stage_;
    const std::vector<Match>& matches_;
    const schedule::TransportEntry& order_;
    std::vector<std::uint8_t> posted_;                          // of each message: 1 its receive, 2 its send
    std::array<std::vector<std::size_t>, 2> first_, match_of_;  // of receives [0] and sends [1]
    std::vector<std::vector<schedule::Operation>> operations_;  // of each rank
    std::vector<std::size_t> next_;                             // of each rank: the operation to do
};

}  // namespace

void check_deadlock(const schedule::Schedule& schedule, int stage, const std::vector<Match>& matches,
                    const schedule::TransportEntry& order) {
    Stage(schedule, stage, matches, order).run();
}

}  // namespace tradewind::verify
