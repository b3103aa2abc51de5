#include "algorithm/alltoall_pairwise.hpp"

#include <bit>

#include "algorithm/alltoall_direct.hpp"

namespace tradewind::algorithm {

namespace {

bool is_power_of_two(Index n) {
    return std::has_single_bit(static_cast<std::uint64_t>(n));
}

class Pairwise : public DirectAllToAll {
  public:
    explicit Pairwise(std::shared_ptr<const pattern::Transpose> transpose)
        : DirectAllToAll(std::move(transpose), "pairwise") {
        const Index n = this->transpose().largest_group();
        stages_ = static_cast<int>(is_power_of_two(n) ? std::max<Index>(1, n - 1) : n);
    }

    int stages() const override { return stages_; }

  protected:
    int meetings(Index n, int stage) const override {
        if (!is_power_of_two(n)) return stage < n;
        return (stage < n - 1) + (stage == 0 && meets_itself());
    }
    // A meeting is the same seen from both sides, but for who sends first.
    Meeting receiver(Index p, Index n, int stage, int j) const override {
        const Index q = partner(p, n, stage, j);
        return {q, tag(stage, j), static_cast<std::int8_t>(p > q)};
    }
    Meeting sender(Index q, Index n, int stage, int j) const override {
        const Index p = partner(q, n, stage, j);
        return {p, tag(stage, j), static_cast<std::int8_t>(p > q)};
    }

  private:
    static Index partner(Index p, Index n, int stage, int j) {
        if (is_power_of_two(n)) return j == 0 && n > 1 ? p ^ (stage + 1) : p;
        const Index q = stage - p;
        return q < 0 ? q + n : q;
    }
    static std::int32_t tag(int stage, int j) { return j == 0 ? stage + 1 : 0; }

    int stages_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> alltoall_pairwise(std::shared_ptr<const pattern::Transpose> transpose) {
    return std::make_shared<Pairwise>(std::move(transpose));
}

}  // namespace tradewind::algorithm
