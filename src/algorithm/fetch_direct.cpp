#include "algorithm/fetch_direct.hpp"

#include <algorithm>

namespace tradewind::algorithm {

namespace {

// A step of a rank: the bundle of its part that it sends to the rank `distance` further on around the ring of all
// ranks, and the one that it receives from the rank as far back; -1: none. All ranks go through the distances in
// ascending order, so that those which do one exchange after another meet, and none waits for a chain of others.
struct RingStep {
    Rank distance;
    std::int32_t send = -1, receive = -1;
};

class FetchDirect : public schedule::Schedule {
  public:
    explicit FetchDirect(std::shared_ptr<const pattern::Fetch> fetch)
        : Schedule(fetch, "direct"), fetch_(std::move(fetch)) {
        const Rank known = fetch_->partial() ? 1 : ranks();
        steps_.resize(static_cast<std::size_t>(known));
        for (Rank i = 0; i < known; ++i)
            find_steps(fetch_->partial() ? fetch_->only() : i, steps_[static_cast<std::size_t>(i)]);
    }

    int stages() const override { return 1; }
    int sends(Rank rank, int) const override { return static_cast<int>(steps(rank).size()); }
    int receives(Rank rank, int) const override { return static_cast<int>(steps(rank).size()); }
    schedule::Message send(Rank rank, int, int j) const override {
        const RingStep& step = steps(rank)[static_cast<std::size_t>(j)];
        return message(rank, step, step.send < 0 ? nullptr : &sent(rank, step), true);
    }
    schedule::Message receive(Rank rank, int, int j) const override {
        const RingStep& step = steps(rank)[static_cast<std::size_t>(j)];
        return message(rank, step, step.receive < 0 ? nullptr : &received(rank, step), false);
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        append_pieces(send_runs(rank, stage, j), fetch_->source_box(rank), pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        append_pieces(receive_runs(rank, stage, j), fetch_->target_box(rank), pieces);
    }
    void copies(Rank rank, int, std::vector<schedule::Copy>& copies) const override {
        for (const pattern::FetchRun& run : fetch_->part(rank).kept)
            copies.push_back({{schedule::Buffer::source, fetch_->source_of(rank, run)},
                              {schedule::Buffer::target, fetch_->target_of(run)}});
    }

    bool has_runs() const override { return true; }
    schedule::RunList send_runs(Rank rank, int, int j) const override {
        const RingStep& step = steps(rank)[static_cast<std::size_t>(j)];
        const pattern::Runs* runs = step.send < 0 ? nullptr : &sent(rank, step).runs;
        return {runs, &pattern::Runs::Kind::source, schedule::Buffer::source};
    }
    schedule::RunList receive_runs(Rank rank, int, int j) const override {
        const RingStep& step = steps(rank)[static_cast<std::size_t>(j)];
        const pattern::Runs* runs = step.receive < 0 ? nullptr : &received(rank, step).runs;
        return {runs, &pattern::Runs::Kind::target, schedule::Buffer::target};
    }
    schedule::RunCopy kept_runs(Rank rank, int) const override {
        const pattern::Runs* runs = &fetch_->part(rank).kept;
        return {{runs, &pattern::Runs::Kind::source, schedule::Buffer::source},
                {runs, &pattern::Runs::Kind::target, schedule::Buffer::target}};
    }

  private:
    const std::vector<RingStep>& steps(Rank rank) const {
        if (!fetch_->partial()) return steps_[static_cast<std::size_t>(rank)];
        fetch_->part(rank);  // refuses what is not known
        return steps_[0];
    }
    const pattern::FetchBundle& sent(Rank rank, const RingStep& step) const {
        return fetch_->part(rank).sends[static_cast<std::size_t>(step.send)];
    }
    const pattern::FetchBundle& received(Rank rank, const RingStep& step) const {
        return fetch_->part(rank).receives[static_cast<std::size_t>(step.receive)];
    }
    Rank further(Rank rank, std::int64_t by) const { return static_cast<Rank>((rank + by + ranks()) % ranks()); }

    // Both kinds of bundles are ordered by distance.
    void find_steps(Rank rank, std::vector<RingStep>& steps) const {
        const pattern::FetchPart& part = fetch_->part(rank);
        std::size_t s = 0, r = 0;
        while (s < part.sends.size() || r < part.receives.size()) {
            const Rank to = s < part.sends.size() ? further(part.sends[s].peer, -std::int64_t{rank}) : ranks();
            const Rank from = r < part.receives.size() ? further(rank, -std::int64_t{part.receives[r].peer}) : ranks();
            RingStep step{std::min(to, from)};
            if (to == step.distance) step.send = static_cast<std::int32_t>(s++);
            if (from == step.distance) step.receive = static_cast<std::int32_t>(r++);
            steps.push_back(step);
        }
    }

    // One of two ranks at this distance sends in the even half, the other in the odd (away from the seam).
    schedule::Message message(Rank rank, const RingStep& step, const pattern::FetchBundle* bundle, bool sending) const {
        const Rank peer = further(rank, sending ? step.distance : -std::int64_t{step.distance});
        const Rank apart = std::min(step.distance, ranks() - step.distance), sender = sending ? rank : peer;
        return {peer, bundle ? bundle->points * fetch_->depth() : 0, step.distance,
                static_cast<std::int8_t>((sender / apart) & 1)};
    }

    std::shared_ptr<const pattern::Fetch> fetch_;
    std::vector<std::vector<RingStep>> steps_;  // of each rank that is known
};

}  // namespace

std::shared_ptr<const schedule::Schedule> fetch_direct(std::shared_ptr<const pattern::Fetch> fetch) {
    return std::make_shared<FetchDirect>(std::move(fetch));
}

}  // namespace tradewind::algorithm
