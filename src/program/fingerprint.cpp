#include "program/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

#include "base/random.hpp"

namespace tradewind::program {

namespace {

// Maximum ranks, stages of a schedule and messages of a stage that are looked at, first and last included.
constexpr std::int64_t some_ranks = 8, some_stages = 16, some_messages = 32;

template <class Look>
void look_at(std::int64_t limit, std::int64_t all, const Look& look) {
    const std::int64_t n = std::min(limit, all);
    for (std::int64_t i = 0; i < n; ++i) look(n == 1 ? 0 : i * (all - 1) / (n - 1));
}

class Digest {
  public:
    std::uint64_t value() const { return value_; }

    void add(std::uint64_t number) { value_ = mix(value_, number); }
    void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
    void add(int number) { add(std::int64_t{number}); }
    void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
    void add(const std::string& text) {
        add(text.size());
        for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }

    void add(const Members& members) {
        add(members.first());
        for (Rank i = 1; !members.consecutive() && i < members.count(); ++i) add(members.at(i));
    }

    void add(const Compute& compute) {
        for (const double number : {compute.seconds, compute.flops, compute.bytes, compute.point_seconds}) add(number);
        if (const Imbalance& imbalance = compute.imbalance; imbalance.any()) {
            add(static_cast<int>(imbalance.distribution));
            add(imbalance.spread);
            add(static_cast<int>(imbalance.each_time));
        }
        add(compute.points ? compute.points->size() : 0);
        if (compute.points)
            for (const double points : *compute.points) add(points);
        if (!compute.layout) return;
        add(compute.layout->describe());
        look_at(some_ranks, compute.layout->ranks(),
                [&](std::int64_t rank) { add(compute.points_of(static_cast<Rank>(rank))); });
    }

    // Steps often share a schedule.
    void add(const schedule::Schedule& schedule) {
        const auto [known, is_new] = known_.try_emplace(&schedule, 0);
        if (is_new) known->second = digest_of(schedule);
        add(known->second);
    }

  private:
    static std::uint64_t digest_of(const schedule::Schedule& schedule) {
        Digest digest;
        digest.add(schedule.pattern().signature());
        digest.add(schedule.algorithm());
        digest.add(schedule.ranks());
        digest.add(schedule.stages());
        look_at(some_ranks, schedule.ranks(), [&](std::int64_t rank) {
            look_at(some_stages, schedule.stages(), [&](std::int64_t stage) {
                digest.add_messages(schedule, static_cast<Rank>(rank), static_cast<int>(stage));
            });
        });
        return digest.value();
    }

    void add_messages(const schedule::Schedule& schedule, Rank rank, int stage) {
        const int sends = schedule.sends(rank, stage);
        add(sends);
        look_at(some_messages, sends, [&](std::int64_t j) {
            const schedule::Message message = schedule.send(rank, stage, static_cast<int>(j));
            add(message.count);
            if (message.count > 0) add(message.peer);  // else it is not sent
        });
    }

    std::uint64_t value_ = 0;
    std::unordered_map<const schedule::Schedule*, std::uint64_t> known_;
};

void add(Digest& digest, const Order& order) {
    for (const Exchange& exchange : order.exchanges()) {
        digest.add(exchange.name);
        digest.add(*exchange.schedule);
        digest.add(exchange.bytes_per_point);
        digest.add(exchange.members);
    }
    Rank first = 0;  // of a group that follows the one before: its ranks are left out, as they follow from `ranks`
    for (const Group& group : order.groups()) {
        digest.add(group.name);
        digest.add(group.ranks);
        if (!group.members.consecutive() || group.members.first() != first) digest.add(group.members);
        first += group.ranks;
        digest.add(group.repeat);
        for (const GroupStep& step : group.steps) {
            digest.add(step.name);
            digest.add(static_cast<int>(step.kind));
            digest.add(step.exchange);
            digest.add(step.repeat);
            digest.add(step.compute);
        }
    }
}

}  // namespace

std::uint64_t fingerprint(const Program& program) {
    Digest digest;
    digest.add(program.ranks());
    if (program.order()) {
        add(digest, *program.order());
        return digest.value();
    }
    digest.add(program.bytes_per_point());
    for (const Step& step : program.steps()) {
        digest.add(step.name);
        digest.add(step.repeat);
        digest.add(step.compute);
        if (step.schedule) digest.add(*step.schedule);
    }
    return digest.value();
}

}  // namespace tradewind::program
