// HIRLAM's redistribution in C++: from blocks over x and y (2D) to whole lines along x (FFT), to whole lines along y
// (TRI), and back; and its halo.
//
//     mpiexec -n 4 redistribution_cpp [NX NY NZ [RANKS_X]]
//
// Every point holds its own number, so that each rank can check what has arrived. The way is chosen by
// the environment: TRADEWIND_TRANSPOSE=burst,shared,direct mpiexec ...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tradewind/tradewind.hpp>

namespace {

constexpr std::int64_t halo_width = 3;

template <typename Each>
void for_points(const tw::Box& box, Each each) {
    for (auto z = box.begin[2]; z < box.end[2]; ++z)
        for (auto y = box.begin[1]; y < box.end[1]; ++y)
            for (auto x = box.begin[0]; x < box.end[0]; ++x) each(x, y, z);
}

// An array [z][y][x] over a box of the grid, in memory that the ranks of a node share.
class Array {
  public:
    Array(const tw::Pattern& pattern, tw_side side, int rank)
        : memory_(pattern, rank, side), box_(pattern.box(rank, side)) {}
    double& at(std::int64_t x, std::int64_t y, std::int64_t z) {
        const auto& b = box_.begin;
        return memory_.data()[((z - b[2]) * box_.width(1) + (y - b[1])) * box_.width(0) + (x - b[0])];
    }
    const tw::Box& box() const { return box_; }
    const tw_field& field() const { return memory_.field(); }

  private:
    tw::Empty<double> memory_;
    tw::Box box_;
};

class Model {
  public:
    Model(const tw::Points& points, const tw::Split& split)
        : points_(points), twod_(points, split), fft_(points, split, 'x'), tri_(points, split, 'y') {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    }

    std::int64_t run() {
        return redistribute("2D to FFT", twod_, fft_) + redistribute("FFT to TRI", fft_, tri_) +
               redistribute("TRI to FFT", tri_, fft_) + redistribute("FFT to 2D", fft_, twod_) + exchange_halo();
    }

  private:
    std::int64_t redistribute(const char* what, const tw::Layout& from, const tw::Layout& to) {
        const tw::Transpose move(from, to);
        Array before(move, TW_SOURCE, rank_), after(move, TW_TARGET, rank_);
        tw::Plan plan(move, MPI_COMM_WORLD, {before.field()}, {after.field()});
        number(before, before.box());
        plan();
        return reported(what, plan, wrong(after, after.box()));
    }

    // It ends where the grid does.
    std::int64_t exchange_halo() {
        const tw::Halo halo(twod_, halo_width);
        Array u(halo, TW_SOURCE, rank_);
        tw::Plan plan(halo, MPI_COMM_WORLD, {u.field()});
        number(u, twod_.box(rank_));
        plan.start();  // here a model computes what needs no halo
        plan.wait();
        tw::Box there = u.box();
        for (std::size_t axis : {0, 1}) {
            there.begin[axis] = std::max<std::int64_t>(there.begin[axis], 0);
            there.end[axis] = std::min(there.end[axis], points_[axis]);
        }
        return reported("halo", plan, wrong(u, there));
    }

    double of(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return static_cast<double>(x + points_[0] * (y + points_[1] * z));
    }
    void number(Array& a, const tw::Box& box) {
        for_points(box, [&](auto x, auto y, auto z) { a.at(x, y, z) = of(x, y, z); });
    }
    std::int64_t wrong(Array& a, const tw::Box& box) {
        std::int64_t mine = 0, sum = 0;
        for_points(box, [&](auto x, auto y, auto z) { mine += a.at(x, y, z) != of(x, y, z); });
        MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        return sum;
    }
    std::int64_t reported(const char* what, const tw::Plan& plan, std::int64_t wrong) const {
        const auto [messages, bytes] = plan.traffic();
        if (rank_ == 0)
            std::printf("%s by %s: rank 0 sends %lld messages, %lld bytes; %lld points wrong\n", what,
                        plan.way().c_str(), static_cast<long long>(messages), static_cast<long long>(bytes),
                        static_cast<long long>(wrong));
        return wrong;
    }

    tw::Points points_;
    int rank_ = 0;
    tw::Blocks twod_;
    tw::Pencils fft_, tri_;
};

int run(int count, char** arguments) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tw::Points points{60, 56, 12};
    for (std::size_t axis = 0; count > 3 && axis < 3; ++axis) points[axis] = std::atoll(arguments[1 + axis]);
    const std::int64_t along_x = count > 4 ? std::atoll(arguments[4]) : ranks % 2 ? 1 : 2;
    return Model(points, {along_x, ranks / along_x}).run() != 0;
}

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int status = 1;
    try {
        status = run(count, arguments);
    } catch (const tw::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, error.status());
    }
    MPI_Finalize();
    return status;
}
