#pragma once

#include "pattern/fetch.hpp"

namespace tradewind::pattern {

// The adjoint of a fetch: what lies in the target arrays is added to the points that it was fetched from, so that
// <F x, y> = <x, F' y>. Its source array is the fetch's target array, and the converse.
class FetchAdjoint : public Pattern {
  public:
    explicit FetchAdjoint(std::shared_ptr<const Fetch> fetch) : fetch_(std::move(fetch)) {}

    std::string name() const override { return fetch_->name(); }
    std::string describe() const override { return "adjoint of a " + fetch_->describe(); }
    std::string signature() const override { return "adjoint of a " + fetch_->signature(); }
    Rank ranks() const override { return fetch_->ranks(); }
    bool in_place() const override { return false; }
    layout::Box source_box(Rank rank) const override { return fetch_->target_box(rank); }
    layout::Box target_box(Rank rank) const override { return fetch_->source_box(rank); }
    layout::Box owned_box(Rank rank) const override { return fetch_->target_box(rank); }
    // The points that something is added to.
    std::vector<layout::Box> expected(Rank rank) const override;
    Index storage() const override { return fetch_->storage(); }
    bool partial() const override { return fetch_->partial(); }
    bool has_levels() const override { return true; }
    std::shared_ptr<const Pattern> for_levels(std::array<Index, 2> levels) const override {
        return with_levels(levels);
    }
    bool one_array() const override { return fetch_->one_array(); }
    Parameters parameters() const override;
    std::shared_ptr<const Pattern> forward() const override { return fetch_; }

    const Fetch& fetch() const { return *fetch_; }
    std::shared_ptr<const FetchAdjoint> with_levels(std::array<Index, 2> levels) const {
        return std::make_shared<FetchAdjoint>(fetch_->with_levels(levels));
    }

  private:
    std::shared_ptr<const Fetch> fetch_;
};

}  // namespace tradewind::pattern
