#include "spectral/balance.hpp"

#include <algorithm>
#include <numeric>

namespace tradewind::spectral {

namespace {

constexpr double close_enough = 1.001;  // largest load over the mean
constexpr std::size_t searched = 20;    // sets with the largest loads whose exchanges are looked at
constexpr std::size_t paired = 10;      // items of a set that exchanges two at once
constexpr int halvings = 48;            // of the interval in which the smallest part is sought: to the last bit

double largest_of(const std::vector<double>& loads) {
    return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

// Nothing, an item, or two of a set.
struct Bundle {
    std::vector<Index> items;
    double weight = 0;
};

// Items in sets, and exchanges between two sets.
class Search {
  public:
    Search(const std::vector<double>& weights, std::vector<std::vector<Index>> sets)
        : weights_(weights), sets_(std::move(sets)), loads_(sets_.size()), bundles_(sets_.size()) {
        for (std::size_t set = 0; set < sets_.size(); ++set) weigh(set);
    }

    double largest() const { return largest_of(loads_); }

    std::vector<std::vector<Index>> lists() const {
        auto out = sets_;
        for (auto& own : out) std::sort(own.begin(), own.end());
        return out;
    }

    // Makes the best exchange of a set with a large load; false where none gains.
    bool improve() {
        std::vector<std::size_t> order(sets_.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [this](auto a, auto b) { return loads_[a] > loads_[b]; });
        order.resize(std::min(order.size(), searched));
        const double mean = std::accumulate(loads_.begin(), loads_.end(), 0.0) /
                            static_cast<double>(std::max<std::size_t>(loads_.size(), 1));
        for (const std::size_t most : order)
            if (const Found best = best_exchange(most); best.gain > 1e-9 * mean * mean) {
                const Bundle mine = bundles_[most][best.own], theirs = bundles_[best.other][best.taken];
                exchange(most, mine, theirs);
                exchange(best.other, theirs, mine);
                return true;
            }
        return false;
    }

  private:
    struct Found {
        double gain;
        std::size_t own, other, taken;
    };

    Found best_exchange(std::size_t most) const {
        Found best{0, 0, 0, 0};
        for (std::size_t own = 0; own < bundles_[most].size(); ++own)
            for (std::size_t other = 0; other < bundles_.size(); ++other)
                for (std::size_t taken = 0; taken < bundles_[other].size(); ++taken) {
                    const double given = bundles_[most][own].weight - bundles_[other][taken].weight;
                    const double gain = given * (loads_[most] - loads_[other] - given);
                    if (gain > best.gain) best = {gain, own, other, taken};
                }
        return best;
    }

    void exchange(std::size_t set, const Bundle& out, const Bundle& into) {
        auto& own = sets_[set];
        std::erase_if(own, [&](Index item) { return std::count(out.items.begin(), out.items.end(), item) > 0; });
        own.insert(own.end(), into.items.begin(), into.items.end());
        weigh(set);
    }

    void weigh(std::size_t set) {
        const auto& own = sets_[set];
        const auto weight = [this](Index item) { return weights_[static_cast<std::size_t>(item)]; };
        auto& found = bundles_[set];
        found = {Bundle{}};
        loads_[set] = 0;
        for (const Index item : own) {
            loads_[set] += weight(item);
            found.push_back({{item}, weight(item)});
        }
        for (std::size_t i = 0; own.size() <= paired && i < own.size(); ++i)
            for (std::size_t j = i + 1; j < own.size(); ++j)
                found.push_back({{own[i], own[j]}, weight(own[i]) + weight(own[j])});
    }

    const std::vector<double>& weights_;
    std::vector<std::vector<Index>> sets_;
    std::vector<double> loads_;
    std::vector<std::vector<Bundle>> bundles_;
};

// Cuts of parts that take all they have room for, but leave an entry for each that follows.
std::vector<Index> cuts_within(const std::vector<double>& ends, Index parts, double room) {
    const auto count = static_cast<Index>(ends.size()) - 1;
    std::vector<Index> found{0};
    for (Index part = 0; part < parts; ++part) {
        const Index last = found.back();
        const double most = ends[static_cast<std::size_t>(last)] + room * (1 + 1e-12);
        const Index fitting = std::upper_bound(ends.begin(), ends.end(), most) - ends.begin() - 1;
        const Index allowed = std::max(count - (parts - part - 1), last + (count > last));
        found.push_back(std::max(last, std::min(fitting, allowed)));
    }
    return found;
}

}  // namespace

std::vector<std::vector<Index>> dealt_to_and_fro(Index count, Index sets) {
    std::vector<std::vector<Index>> out(static_cast<std::size_t>(sets));
    for (Index item = 0; item < count; ++item) {
        const Index around = item % (2 * sets);
        out[static_cast<std::size_t>(std::min(around, 2 * sets - 1 - around))].push_back(item);
    }
    return out;
}

std::vector<std::vector<Index>> packed(const std::vector<double>& weights, Index sets) {
    const auto count = static_cast<Index>(weights.size());
    const auto start = dealt_to_and_fro(count, sets);
    Search search(weights, start);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0), first = search.largest();
    const double low = std::max(total / static_cast<double>(sets), largest_of(weights));
    for (Index step = 0; step < 20 * count; ++step)
        if (search.largest() <= close_enough * low || !search.improve()) break;
    return search.largest() <= first ? search.lists() : start;
}

std::vector<Index> even_cuts(const std::vector<double>& weights, Index parts) {
    std::vector<double> ends{0};
    for (const double weight : weights) ends.push_back(ends.back() + weight);
    double low = std::max(ends.back() / static_cast<double>(parts), largest_of(weights)), high = ends.back();
    std::vector<Index> best = cuts_within(ends, parts, high);
    for (int i = 0; i < halvings; ++i) {
        const double room = (low + high) / 2;
        auto found = cuts_within(ends, parts, room);
        if (found.back() == static_cast<Index>(weights.size())) {
            best = std::move(found);
            high = room;
        } else {
            low = room;
        }
    }
    return best;
}

}  // namespace tradewind::spectral
