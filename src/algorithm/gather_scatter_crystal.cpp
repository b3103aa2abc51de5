#include "algorithm/gather_scatter_crystal.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "algorithm/gather_scatter_pairwise.hpp"
#include "base/error.hpp"

namespace tradewind::algorithm {

namespace {

// A message of `pairwise`.
struct Routed {
    Rank from, to;
    std::int32_t send, receive;  // its number at either end
    Index count;
};

class CrystalRouter : public schedule::Schedule {
  public:
    explicit CrystalRouter(std::shared_ptr<const pattern::GatherScatter> whole)
        : Schedule(whole, "crystal-router"), pairwise_(gather_scatter_pairwise(whole)) {
        for (Rank n = ranks(); n > 1; n = (n + 1) / 2) ++stages_;
        counts_.assign(static_cast<std::size_t>(stages_), std::vector<Index>(static_cast<std::size_t>(ranks()), 0));
        for (Rank rank = 0; rank < ranks(); ++rank)
            for (int j = 0; j < pairwise_->sends(rank, 0); ++j)
                if (const schedule::Message m = pairwise_->send(rank, 0, j); m.count > 0)
                    each_hop(rank, m.peer, [&](int stage, Rank at, Rank) {
                        counts_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(at)] += m.count;
                    });
    }

    int stages() const override { return stages_; }
    int sends(Rank, int) const override { return 1; }
    int receives(Rank, int) const override { return 2; }
    schedule::Message send(Rank rank, int stage, int) const override {
        const CrystalStage at = of(rank, stage);
        if (at.ranks < 2) return {rank, 0, 0, 0};
        return {at.partner(rank), count(rank, stage), 0, parity(at, rank)};
    }
    // From the mirrored rank, and to the first rank of the upper half from the middle one.
    schedule::Message receive(Rank rank, int stage, int j) const override {
        const CrystalStage at = of(rank, stage);
        const Rank sender = sender_of(at, rank, j);
        if (sender < 0) return {rank, 0, 0, 0};
        return {sender, count(sender, stage), 0, parity(at, sender)};
    }
    void send_pieces(Rank rank, int stage, int, std::vector<schedule::Piece>& pieces) const override {
        for (const std::size_t m : sent(rank, stage)) append(m, rank, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        const Rank sender = sender_of(of(rank, stage), rank, j);
        if (sender < 0) return;
        for (const std::size_t m : sent(sender, stage)) append(m, rank, pieces);
    }
    Index scratch(Rank rank) const override { return itinerary().scratch[static_cast<std::size_t>(rank)]; }

  private:
    // Which messages go on where, for those who ask for pieces.
    struct Itinerary {
        std::vector<Routed> messages;
        std::vector<std::map<Rank, std::vector<std::size_t>>> sent;  // by stage and rank
        std::map<std::pair<std::size_t, Rank>, Index> kept;          // where a rank keeps what it passes on
        std::vector<Index> scratch;
    };

    CrystalStage of(Rank rank, int stage) const {
        CrystalStage at{0, ranks()};
        for (int s = 0; s < stage && at.ranks > 1; ++s) at = at.half_of(rank);
        return at;
    }
    static Rank sender_of(const CrystalStage& at, Rank rank, int j) {
        if (at.ranks < 2) return -1;
        const Rank mirrored = at.first + at.ranks - 1 - (rank - at.first);
        if (j == 0) return mirrored == rank ? -1 : mirrored;
        return at.ranks % 2 == 1 && rank == at.middle() ? at.middle() - 1 : -1;
    }
    static std::int8_t parity(const CrystalStage& at, Rank sender) {
        return static_cast<std::int8_t>(at.is_low(sender) ? 0 : 1);
    }
    Index count(Rank rank, int stage) const {
        return counts_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(rank)];
    }
    // Calls take(stage, from, to) for each time that a message is sent on.
    template <class Take>
    void each_hop(Rank from, Rank to, Take take) const {
        CrystalStage at{0, ranks()};
        for (int stage = 0; at.ranks > 1; ++stage) {
            if (at.is_low(from) != at.is_low(to)) {
                const Rank next = at.partner(from);
                take(stage, from, next);
                from = next;
            }
            at = at.half_of(to);
        }
    }
    const std::vector<std::size_t>& sent(Rank rank, int stage) const {
        static const std::vector<std::size_t> none;
        const auto& of_stage = itinerary().sent[static_cast<std::size_t>(stage)];
        const auto found = of_stage.find(rank);
        return found == of_stage.end() ? none : found->second;
    }
    void append(std::size_t m, Rank rank, std::vector<schedule::Piece>& pieces) const {
        const Routed& message = itinerary().messages[m];
        if (rank == message.from) return pairwise_->send_pieces(rank, 0, message.send, pieces);
        if (rank == message.to) return pairwise_->receive_pieces(rank, 0, message.receive, pieces);
        Index offset = itinerary().kept.at({m, rank});  // in the pieces of the sender
        std::vector<schedule::Piece> parts;
        pairwise_->send_pieces(message.from, 0, message.send, parts);
        for (const schedule::Piece& part : parts) {
            pieces.push_back({schedule::Buffer::scratch, part.box, offset});
            offset += part.box.volume();
        }
    }
    const Itinerary& itinerary() const {
        std::call_once(planned_, [this] { plan(); });
        return itinerary_;
    }
    void plan() const {
        Itinerary& all = itinerary_;
        all.sent.resize(static_cast<std::size_t>(stages_));
        all.scratch.assign(static_cast<std::size_t>(ranks()), 0);
        std::map<std::tuple<Rank, Rank, std::int32_t>, std::int32_t> receives;  // by sender, receiver and tag
        for (Rank rank = 0; rank < ranks(); ++rank)
            for (int j = 0; j < pairwise_->receives(rank, 0); ++j)
                if (const schedule::Message m = pairwise_->receive(rank, 0, j); m.count > 0)
                    receives[{m.peer, rank, m.tag}] = j;
        for (Rank rank = 0; rank < ranks(); ++rank)
            for (int j = 0; j < pairwise_->sends(rank, 0); ++j) {
                const schedule::Message m = pairwise_->send(rank, 0, j);
                if (m.count == 0) continue;
                const std::size_t number = all.messages.size();
                all.messages.push_back({rank, m.peer, j, receives.at({rank, m.peer, m.tag}), m.count});
                each_hop(rank, m.peer, [&](int stage, Rank from, Rank to) {
                    all.sent[static_cast<std::size_t>(stage)][from].push_back(number);
                    if (to == m.peer) return;
                    Index& used = all.scratch[static_cast<std::size_t>(to)];
                    all.kept[{number, to}] = used;
                    used += m.count;
                });
            }
    }

    std::shared_ptr<const schedule::Schedule> pairwise_;
    int stages_ = 0;
    std::vector<std::vector<Index>> counts_;  // that a rank sends, by stage
    mutable std::once_flag planned_;
    mutable Itinerary itinerary_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> gather_scatter_crystal(std::shared_ptr<const pattern::GatherScatter> whole) {
    if (whole->partial())
        throw InputError("crystal-router passes values on from rank to rank, so it needs the ids of all ranks; this " +
                         whole->describe() +
                         " describes one rank alone: use pairwise, or make a plan, which gathers them");
    return std::make_shared<CrystalRouter>(std::move(whole));
}

}  // namespace tradewind::algorithm
