#include "algorithm/alltoall_ring.hpp"

#include "algorithm/alltoall_direct.hpp"

namespace tradewind::algorithm {

namespace {

// Position p sends at distances 1..n-1 upward, `radix` of them per stage. Between two unlike sets of ranks distance 0
// is one more, in the first stage.
class AllToAllRing : public DirectAllToAll {
  public:
    AllToAllRing(std::shared_ptr<const pattern::Transpose> transpose, Index radix, std::string algorithm)
        : DirectAllToAll(std::move(transpose), std::move(algorithm)),
          radix_(radix),
          stages_(static_cast<int>(std::max<Index>(1, (this->transpose().largest_group() + radix - 2) / radix))) {}

    int stages() const override { return stages_; }

  protected:
    int meetings(Index n, int stage) const override {
        const Index left = n - 1 - stage * radix_;
        return static_cast<int>(std::clamp<Index>(left, 0, radix_)) + (stage == 0 && meets_itself());
    }
    Meeting receiver(Index p, Index n, int stage, int j) const override {
        const Index d = distance(stage, j), q = p + d;
        return {q < n ? q : q - n, static_cast<std::int32_t>(d), parity(p, d)};
    }
    Meeting sender(Index q, Index n, int stage, int j) const override {
        const Index d = distance(stage, j), p = q >= d ? q - d : q - d + n;
        return {p, static_cast<std::int32_t>(d), parity(p, d)};
    }

  private:
    Index distance(int stage, int j) const { return stage * radix_ + j + (stage == 0 && meets_itself() ? 0 : 1); }
    // Two ranks at distance d send in different halves: one in the even, one in the odd.
    static std::int8_t parity(Index p, Index d) { return d == 0 ? 0 : static_cast<std::int8_t>((p / d) & 1); }

    Index radix_;
    int stages_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> alltoall_ring(std::shared_ptr<const pattern::Transpose> transpose,
                                                        Index radix) {
    return std::make_shared<AllToAllRing>(std::move(transpose), radix, "ring-" + std::to_string(radix));
}

std::shared_ptr<const schedule::Schedule> alltoall_burst(std::shared_ptr<const pattern::Transpose> transpose) {
    const Index all = std::max<Index>(1, transpose->largest_group() - 1);
    return std::make_shared<AllToAllRing>(std::move(transpose), all, "burst");
}

}  // namespace tradewind::algorithm
