#include "verify/order.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "schedule/transport.hpp"
#include "verify/match.hpp"

namespace tradewind::verify {

namespace {

enum class Kind { messages, fence, collective };

Kind kind_of(const std::string& transport) {
    switch (schedule::transport(transport).family) {
        case schedule::Family::fence: return Kind::fence;
        case schedule::Family::collective: return Kind::collective;
        default: return Kind::messages;
    }
}

// A stage of an exchange, as all times that it takes place have it.
struct StageMessages {
    std::vector<Match> matches;
    std::array<std::vector<std::size_t>, 2> first, match_of;   // of receives [0] and sends [1]
    std::vector<std::vector<schedule::Operation>> operations;  // [rank of the exchange]
    std::vector<std::size_t> at_start;                         // [rank]: operations that a start does

    StageMessages(const schedule::Schedule& schedule, int stage, const schedule::TransportEntry& order)
        : matches(match_stage(schedule, stage)) {
        const Rank ranks = schedule.ranks();
        for (auto& f : first) f.resize(static_cast<std::size_t>(ranks) + 1);
        for (Rank r = 0; r < ranks; ++r) {
            const auto i = static_cast<std::size_t>(r);
            first[0][i + 1] = first[0][i] + static_cast<std::size_t>(schedule.receives(r, stage));
            first[1][i + 1] = first[1][i] + static_cast<std::size_t>(schedule.sends(r, stage));
            operations.push_back(order.posting(schedule, r, stage));
            at_start.push_back(posts_of(operations.back(), order));
        }
        for (const int sending : {0, 1}) match_of[sending].resize(first[sending].back());
        for (std::size_t m = 0; m < matches.size(); ++m) {
            match_of[0][first[0][static_cast<std::size_t>(matches[m].receiver)] +
                        static_cast<std::size_t>(matches[m].receive)] = m;
            match_of[1][first[1][static_cast<std::size_t>(matches[m].sender)] +
                        static_cast<std::size_t>(matches[m].send)] = m;
        }
    }
    std::size_t match(Rank rank, const schedule::Operation& operation) const {
        return match_of[operation.sending][first[operation.sending][static_cast<std::size_t>(rank)] +
                                           static_cast<std::size_t>(operation.j)];
    }

  private:
    // A post with its wait next to it is a blocking call, and so is what MPI_Sendrecv does: a start makes none.
    static std::size_t posts_of(const std::vector<schedule::Operation>& operations,
                                const schedule::TransportEntry& order) {
        if (order.posting == schedule::sendrecv_order) return 0;
        std::size_t n = 0;
        const auto blocks = [&](std::size_t i) {
            return i + 1 < operations.size() && operations[i + 1].kind == schedule::Operation::wait &&
                   operations[i + 1].j == operations[i].j && operations[i + 1].sending == operations[i].sending;
        };
        const bool never = order.posting == schedule::isend_irecv_order;  // blocks in a start
        while (n < operations.size() && operations[n].kind == schedule::Operation::post && (never || !blocks(n))) ++n;
        return n;
    }
};

class Walk {
  public:
    Walk(const program::Order& order, const std::vector<std::string>& transports)
        : order_(order), transports_(transports) {
        for (std::size_t e = 0; e < order.exchanges().size(); ++e) {
            kinds_.push_back(kind_of(transports[e]));
            entries_.push_back(&schedule::transport(transports[e]));
        }
        stages_.resize(order.exchanges().size());
        at_.resize(static_cast<std::size_t>(order.ranks()));
        under_way_.resize(order.instances());
    }

    void run() {
        check_collectives();
        std::vector<Rank> ready;
        for (Rank r = order_.ranks(); r-- > 0;) ready.push_back(r);
        while (!ready.empty()) {
            const Rank rank = ready.back();
            ready.pop_back();
            while (advance(rank, ready)) {
            }
        }
        for (Rank r = 0; r < order_.ranks(); ++r)
            if (stuck(r)) refuse(r);
    }

  private:
    struct At {
        std::size_t operation = 0;  // of the group
        int stage = 0;              // of the exchange that is awaited
        std::size_t next = 0;       // operation of the stage
        bool met = false;           // has reached the fence that it is at
    };
    struct UnderWay {
        std::vector<std::vector<std::uint8_t>> posted;  // [stage][message]: 1 its receive, 2 its send
        std::map<std::pair<int, bool>, Rank> met;       // [stage, end of it]: ranks at the fence
        Rank done = 0;
    };
    static constexpr std::uint8_t both = 3;

    const program::Group& group(Rank rank) const { return order_.groups()[order_.group_of(rank)]; }
    const std::vector<program::Operation>& operations(Rank rank) const {
        return order_.operations(order_.group_of(rank));
    }
    At& at(Rank rank) { return at_[static_cast<std::size_t>(rank)]; }
    bool stuck(Rank rank) { return at(rank).operation < operations(rank).size(); }
    const program::Exchange& exchange(std::uint32_t instance) const {
        return order_.exchanges()[order_.instance(instance).exchange];
    }
    const StageMessages& messages(std::size_t e, int stage) {
        auto& known = stages_[e];
        const program::Exchange& x = order_.exchanges()[e];
        while (static_cast<int>(known.size()) <= stage)
            known.push_back(std::make_unique<StageMessages>(*x.schedule, static_cast<int>(known.size()), *entries_[e]));
        return *known[static_cast<std::size_t>(stage)];
    }
    std::vector<std::uint8_t>& posted(std::uint32_t instance, int stage) {
        auto& posted = under_way_[instance].posted;
        while (static_cast<int>(posted.size()) <= stage)
            posted.emplace_back(
                messages(order_.instance(instance).exchange, static_cast<int>(posted.size())).matches.size());
        return posted[static_cast<std::size_t>(stage)];
    }

    // Does the next operation, or as much of it as can be done; false where the rank must wait, or has done all.
    bool advance(Rank rank, std::vector<Rank>& ready) {
        At& now = at(rank);
        if (now.operation == operations(rank).size()) return false;
        const program::Operation& operation = operations(rank)[now.operation];
        if (operation.kind == program::Operation::start && !start(rank, operation.instance, ready)) return false;
        if (operation.kind == program::Operation::wait && !wait(rank, operation.instance, ready)) return false;
        ++now.operation;
        now.stage = 0;
        now.next = 0;
        return true;
    }
    bool start(Rank rank, std::uint32_t instance, std::vector<Rank>& ready) {
        if (order_.instance(instance).stages == 0) return true;
        const std::size_t e = order_.instance(instance).exchange;
        if (kinds_[e] == Kind::fence && !meet(rank, instance, 0, false, ready)) return false;
        const Rank own = exchange(instance).members.place(rank);
        const StageMessages& stage = messages(e, 0);
        At& now = at(rank);
        const std::size_t posts = stage.at_start[static_cast<std::size_t>(own)];
        while (now.next < posts) perform(rank, instance, 0, ready);
        return true;
    }
    bool wait(Rank rank, std::uint32_t instance, std::vector<Rank>& ready) {
        const program::Instance& i = order_.instance(instance);
        const auto own = static_cast<std::size_t>(exchange(instance).members.place(rank));
        At& now = at(rank);
        while (now.stage < static_cast<int>(i.stages)) {
            const StageMessages& stage = messages(i.exchange, now.stage);
            const bool fence = kinds_[i.exchange] == Kind::fence;
            if (now.next == 0 && now.stage == 0) now.next = stage.at_start[own];  // as the start has left it
            if (now.stage > 0 && fence && now.next == 0 && !meet(rank, instance, now.stage, false, ready)) return false;
            while (now.next < stage.operations[own].size())
                if (!perform(rank, instance, now.stage, ready)) return false;
            if (fence && !meet(rank, instance, now.stage, true, ready)) return false;
            ++now.stage;
            now.next = 0;
        }
        UnderWay& under_way = under_way_[instance];
        if (++under_way.done == exchange(instance).ranks()) under_way = {};
        return true;
    }
    // All ranks of the exchange, before any goes on.
    bool meet(Rank rank, std::uint32_t instance, int stage, bool end, std::vector<Rank>& ready) {
        At& now = at(rank);
        Rank& count = under_way_[instance].met[{stage, end}];
        if (!now.met) {
            now.met = true;
            if (++count == exchange(instance).ranks())
                for (Rank i = 0; i < exchange(instance).ranks(); ++i)
                    if (const Rank r = exchange(instance).members.at(i); r != rank) ready.push_back(r);
        }
        if (count < exchange(instance).ranks()) return false;
        now.met = false;
        return true;
    }
    bool perform(Rank rank, std::uint32_t instance, int stage, std::vector<Rank>& ready) {
        const program::Members& members = exchange(instance).members;
        const Rank own = members.place(rank);
        const StageMessages& all = messages(order_.instance(instance).exchange, stage);
        At& now = at(rank);
        const schedule::Operation& operation = all.operations[static_cast<std::size_t>(own)][now.next];
        const std::size_t m = all.match(own, operation);
        std::uint8_t& done = posted(instance, stage)[m];
        if (operation.kind == schedule::Operation::wait) {
            if (done != both) return false;
        } else {
            done |= operation.sending ? 2 : 1;
            if (done == both)
                ready.push_back(members.at(operation.sending ? all.matches[m].receiver : all.matches[m].sender));
        }
        ++now.next;
        return true;
    }

    // --- the error of a program that does not end

    struct Wait {
        Rank rank;
        std::string text;
    };
    // The rank that a rank waits for, one of them where they are several.
    Wait waiting(Rank rank) {
        const At& now = at(rank);
        const program::Operation& operation = operations(rank)[now.operation];
        const program::Exchange& x = exchange(operation.instance);
        const std::string what =
            "rank " + std::to_string(rank) + who(rank) + " waits in " +
            (operation.kind == program::Operation::start ? "the start" : "stage " + std::to_string(now.stage)) +
            " of exchange '" + x.name + "' ";
        if (now.met)
            for (Rank i = 0; i < x.ranks(); ++i)
                if (const Rank r = x.members.at(i); r != rank && !has_met(r, operation.instance))
                    return {r, what + "for rank " + std::to_string(r) + " to reach the fence"};
        const StageMessages& all = messages(order_.instance(operation.instance).exchange, now.stage);
        const schedule::Operation& a = all.operations[static_cast<std::size_t>(x.members.place(rank))][now.next];
        const Match& m = all.matches[all.match(x.members.place(rank), a)];
        const Rank peer = x.members.at(a.sending ? m.receiver : m.sender);
        return {peer, what + (a.sending ? "to send to" : "to receive from") + " rank " + std::to_string(peer)};
    }
    bool has_met(Rank rank, std::uint32_t instance) {
        const At& now = at(rank);
        return now.met && now.operation < operations(rank).size() &&
               operations(rank)[now.operation].instance == instance;
    }
    std::string who(Rank rank) const {
        return order_.groups().size() > 1 ? " of group '" + group(rank).name + "'" : "";
    }
    [[noreturn]] void refuse(Rank rank) {
        std::vector<Rank> chain;
        std::vector<std::string> texts;
        while (std::find(chain.begin(), chain.end(), rank) == chain.end()) {
            if (!stuck(rank)) throw VerificationError(texts.back() + ", which has ended its steps");
            const Wait wait = waiting(rank);
            chain.push_back(rank);
            texts.push_back(wait.text);
            rank = wait.rank;
        }
        const auto begin = static_cast<std::size_t>(std::find(chain.begin(), chain.end(), rank) - chain.begin());
        std::string text = "deadlock across exchanges: ";
        constexpr std::size_t shown = 12;
        for (std::size_t i = begin; i < chain.size() && i < begin + shown; ++i)
            text += (i > begin ? "; " : "") + texts[i];
        if (chain.size() > begin + shown)
            text += "; and so on for " + std::to_string(chain.size() - begin - shown) + " more ranks";
        throw VerificationError(text + ", a cycle of " + std::to_string(chain.size() - begin) + " ranks");
    }

    // --- fences and collectives

    // Groups with two or more fences or collectives in common begin and end them in one order: so it is where all
    // groups can do theirs one after another, each together. Pairs of groups are looked at where some can not.
    void check_collectives() const {
        if (std::all_of(kinds_.begin(), kinds_.end(), [](Kind kind) { return kind == Kind::messages; })) return;
        const std::vector<std::size_t> left = groups_out_of_order();
        for (std::size_t i = 0; i < left.size(); ++i)
            for (std::size_t j = i + 1; j < left.size(); ++j) check_pair(left[i], left[j]);
    }
    bool is_collective(const program::Operation& operation) const {
        return (operation.kind == program::Operation::start || operation.kind == program::Operation::wait) &&
               kinds_[order_.instance(operation.instance).exchange] != Kind::messages;
    }
    // Groups that wait for another one to begin or end a fence or a collective, when all do theirs in their order.
    std::vector<std::size_t> groups_out_of_order() const {
        const std::size_t groups = order_.groups().size();
        std::vector<std::size_t> next(groups, 0), taking_part(order_.exchanges().size(), 0);
        for (std::size_t e = 0; e < taking_part.size(); ++e)
            for (std::size_t g = 0; g < groups && kinds_[e] != Kind::messages; ++g)
                taking_part[e] += order_.takes_part(e, g);
        std::vector<std::vector<std::size_t>> come(2 * order_.instances());  // [instance, its end]: groups
        std::vector<std::size_t> going(groups);
        for (std::size_t g = 0; g < groups; ++g) going[g] = groups - 1 - g;
        while (!going.empty()) {
            const std::size_t g = going.back();
            going.pop_back();
            const auto& operations = order_.operations(g);
            while (next[g] < operations.size() && !is_collective(operations[next[g]])) ++next[g];
            if (next[g] == operations.size()) continue;
            const program::Operation& operation = operations[next[g]];
            auto& together = come[2 * operation.instance + (operation.kind == program::Operation::wait)];
            together.push_back(g);
            if (together.size() < taking_part[order_.instance(operation.instance).exchange]) continue;
            for (const std::size_t each : together) ++next[each];
            going.insert(going.end(), together.begin(), together.end());
        }
        std::vector<std::size_t> left;
        for (std::size_t g = 0; g < groups; ++g)
            if (next[g] < order_.operations(g).size()) left.push_back(g);
        return left;
    }
    void check_pair(std::size_t g, std::size_t h) const {
        const auto calls = [&](std::size_t own, std::size_t other) {
            std::vector<const program::Operation*> found;
            for (const program::Operation& operation : order_.operations(own))
                if (is_collective(operation) && order_.takes_part(order_.instance(operation.instance).exchange, other))
                    found.push_back(&operation);
            return found;
        };
        const auto text = [&](const program::Operation& operation) {
            return std::string(operation.kind == program::Operation::start ? "starts" : "waits for") + " '" +
                   exchange(operation.instance).name + "'";
        };
        const auto a = calls(g, h), b = calls(h, g);
        for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
            if (a[i]->kind != b[i]->kind || a[i]->instance != b[i]->instance)
                throw VerificationError("fences and collectives in different orders: where group '" +
                                        order_.groups()[g].name + "' " + text(*a[i]) + ", group '" +
                                        order_.groups()[h].name + "' " + text(*b[i]) + " (transports " +
                                        transports_[order_.instance(a[i]->instance).exchange] + " and " +
                                        transports_[order_.instance(b[i]->instance).exchange] + ")");
    }

    const program::Order& order_;
    const std::vector<std::string>& transports_;
    std::vector<Kind> kinds_;
    std::vector<const schedule::TransportEntry*> entries_;
    std::vector<std::vector<std::unique_ptr<StageMessages>>> stages_;  // [exchange][stage]
    std::vector<At> at_;                                               // [rank]
    std::vector<UnderWay> under_way_;                                  // [instance]
};

}  // namespace

void check_order(const program::Order& order, const std::vector<std::string>& transports) {
    if (transports.size() != order.exchanges().size()) throw InputError("a transport for each exchange is needed");
    Walk(order, transports).run();
}

}  // namespace tradewind::verify
