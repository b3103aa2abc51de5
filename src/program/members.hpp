// Some ranks of a program, which are numbered from 0 among themselves.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"

namespace tradewind::program {

class Members {
  public:
    // `first`, `first` + 1, ...; without a count their user sets it.
    Members(Rank first = 0, Rank count = 0) : first_(first), count_(count) {}  // NOLINT: a first rank says enough
    // Throws InputError unless they ascend.
    explicit Members(std::vector<Rank> ranks)
        : first_(ranks.empty() ? 0 : ranks.front()), count_(static_cast<Rank>(ranks.size())) {
        for (std::size_t i = 1; i < ranks.size(); ++i)
            if (ranks[i] <= ranks[i - 1])
                throw InputError("rank " + std::to_string(ranks[i]) + " behind rank " + std::to_string(ranks[i - 1]) +
                                 ": ascending ranks are allowed");
        if (!ranks.empty() && ranks.back() - first_ >= count_)
            listed_ = std::make_shared<const std::vector<Rank>>(std::move(ranks));
    }

    Rank first() const { return first_; }
    Rank count() const { return count_; }
    Rank last() const { return at(count_ - 1); }
    bool consecutive() const { return !listed_; }
    Rank at(Rank place) const { return listed_ ? (*listed_)[static_cast<std::size_t>(place)] : first_ + place; }
    bool has(Rank rank) const {
        if (!listed_) return rank >= first_ && rank - first_ < count_;
        return std::binary_search(listed_->begin(), listed_->end(), rank);
    }
    // Its number among them; of a rank that is one of them.
    Rank place(Rank rank) const {
        if (!listed_) return rank - first_;
        return static_cast<Rank>(std::lower_bound(listed_->begin(), listed_->end(), rank) - listed_->begin());
    }
    // "ranks 0 to 3"
    std::string text() const {
        return (listed_ ? std::to_string(count_) + " ranks from " : "ranks ") + std::to_string(first_) + " to " +
               std::to_string(last());
    }

  private:
    Rank first_, count_;
    std::shared_ptr<const std::vector<Rank>> listed_;  // null: one after another
};

}  // namespace tradewind::program
