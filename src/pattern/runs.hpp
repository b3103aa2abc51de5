// Runs of points, as lists that are sent and copied along as they are.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/recycled.hpp"
#include "base/units.hpp"

namespace tradewind::pattern {

// Points that follow each other in the source array of their owner and in the target array of the one that wants them.
struct FetchRun {
    Index source = 0, target = 0, length = 0;
};

// Runs sorted by their lengths, in the order in which the lengths came up; those of one length in the order in which
// they were added. A message holds them in this order: then gathering or scattering goes along a list of places, and no
// run needs its length.
class Runs {
  public:
    using Places = RecycledVector<Index>;

    // The runs of one length: where they begin in the source array, and from `targets` on in the target array, which a
    // sender need not know: none then. There may be room between the two.
    struct Kind {
        Index length = 0;
        std::size_t runs = 0, targets = 0;
        Places places;

        std::span<const Index> source() const { return {places.data(), runs}; }
        std::span<const Index> target() const {
            return targets == 0 ? std::span<const Index>() : std::span(places.data() + targets, runs);
        }
    };

    // Run by run.
    class Iterator {
      public:
        Iterator(const std::vector<Kind>* kinds, std::size_t kind) : kinds_(kinds), kind_(kind) {}
        FetchRun operator*() const {
            const Kind& kind = (*kinds_)[kind_];
            const Index* place = kind.places.data() + run_;
            return {*place, kind.targets == 0 ? 0 : place[kind.targets], kind.length};
        }
        Iterator& operator++() {
            if (++run_ == (*kinds_)[kind_].runs) {
                ++kind_;
                run_ = 0;
            }
            return *this;
        }
        friend bool operator!=(const Iterator& a, const Iterator& b) { return a.kind_ != b.kind_ || a.run_ != b.run_; }

      private:
        const std::vector<Kind>* kinds_;
        std::size_t kind_, run_ = 0;
    };

    Runs() = default;
    explicit Runs(const FetchRun& one) { append({one.length, 1, 1, {one.source, one.target}}); }

    // Runs of a length that there is not yet, one of them or more.
    void append(Kind kind) { kinds_.push_back(std::move(kind)); }

    const std::vector<Kind>& kinds() const { return kinds_; }
    Iterator begin() const { return {&kinds_, 0}; }
    Iterator end() const { return {&kinds_, kinds_.size()}; }
    bool empty() const { return kinds_.empty(); }
    std::size_t size() const {
        std::size_t all = 0;
        for (const Kind& kind : kinds_) all += kind.runs;
        return all;
    }
    Index points() const {
        Index all = 0;
        for (const Kind& kind : kinds_) all += kind.length * static_cast<Index>(kind.runs);
        return all;
    }

  private:
    std::vector<Kind> kinds_;
};

// The words of a message to an owner about runs: where each begins, each length with the number of its runs,
// and how many lengths there are.
inline Index request_words(const Runs& runs) {
    return static_cast<Index>(runs.size() + 2 * runs.kinds().size() + 1);
}

}  // namespace tradewind::pattern
