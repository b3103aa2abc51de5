// Points of a mesh in C++: the halo of an unstructured mesh; points on demand, as a semi-Lagrangian scheme wants them;
// and the adjoint, which adds back.
//
//     mpiexec -n 4 fetch_cpp [NX NY LEVELS]
//
// The mesh is a torus of nx x ny cells, numbered in disorder. Every value follows from the number of its cell, so that
// each rank can check what has arrived. The way is chosen by the environment:
// TRADEWIND_FETCH=,put-notify mpiexec ...
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <tradewind/tradewind.hpp>

namespace {

class Model {
  public:
    Model(std::int64_t nx, std::int64_t ny, std::int64_t levels) : nx_(nx), ny_(ny), levels_(levels) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }

    // Two fields [level][cell], the rank's own cells and behind them their neighbours on other ranks, in one exchange.
    void exchange_halo() const {
        const std::int64_t cells = nx_ * ny_, first = cells * rank_ / ranks_, last = cells * (rank_ + 1) / ranks_;
        tw::Ids own, halo;
        for (auto k = first; k < last; ++k) {
            const auto x = k % nx_, row = k - x;
            own.push_back(id_of(k));
            for (const auto next :
                 {row + (x + 1) % nx_, row + (x + nx_ - 1) % nx_, (k + nx_) % cells, (k + cells - nx_) % cells})
                if (next < first || next >= last) halo.push_back(id_of(next));
        }
        // Cells that no other rank needs, cells that others need, the halo: three runs, so that messages are long ones.
        const tw::Renumbered order = tw::renumbered(MPI_COMM_WORLD, own, halo);
        const tw::OwnPoints points(MPI_COMM_WORLD, order.own);
        // Neighbours on a mesh are so to each other: who is asked is known, and who asks.
        const tw::Fetch exchange = points.halo(order.halo, points.locate(order.halo).owner);

        tw::Ids ids = order.own;
        ids.insert(ids.end(), order.halo.begin(), order.halo.end());
        const auto count = exchange.box(rank_).width(0);
        std::vector<double> u(size_of(count)), v(size_of(count));
        const auto at = [&](auto level, auto i) { return static_cast<std::size_t>(level * count + i); };
        for (std::int64_t level = 0; level < levels_; ++level)
            for (std::int64_t i = 0; i < points.count(); ++i) {
                u[at(level, i)] = value(ids, i, level);
                v[at(level, i)] = -value(ids, i, level);
            }
        const tw::Points shape{count, levels_, 1};
        tw::Plan swap(exchange, MPI_COMM_WORLD, {tw::dense(u.data(), shape), tw::dense(v.data(), shape)});
        swap.start();  // here a model computes the first order.interior cells, which need no halo
        swap.wait();   // and here the others
        std::int64_t wrong = count != static_cast<std::int64_t>(ids.size());
        for (std::int64_t level = 0; level < levels_ && wrong == 0; ++level)
            for (std::int64_t i = 0; i < count; ++i)
                wrong += (u[at(level, i)] != value(ids, i, level)) + (v[at(level, i)] != -value(ids, i, level));
        say("halo", swap, wrong);
    }

    // The columns that the wind has come from, whichever rank has them now, in a field [column][level]; and how often
    // each was wanted, by the adjoint.
    void fetch_on_demand() const {
        const tw::Blocks blocks({nx_, ny_, levels_}, {1, ranks_});
        const tw::OwnPoints points(MPI_COMM_WORLD, blocks);  // column (x, y) is point x + nx * y
        const tw::Box box = blocks.box(rank_);
        tw::Ids own, wanted;
        for (auto y = box.begin[1]; y < box.end[1]; ++y)
            for (auto x = box.begin[0]; x < box.end[0]; ++x) {
                own.push_back(x + nx_ * y);
                wanted.push_back((x + 3 + y % 5) % nx_ + nx_ * ((y + 2 + x % 3) % ny_));
            }
        const tw::Fetch fetch = points.fetch(wanted);

        const auto owns = points.count();
        std::vector<float> here(size_of(owns)), there(size_of(owns));
        const auto at = [&](auto i, auto level) { return static_cast<std::size_t>(i * levels_ + level); };
        for (std::int64_t i = 0; i < owns; ++i)
            for (std::int64_t level = 0; level < levels_; ++level)
                here[at(i, level)] = static_cast<float>(value(own, i, level));
        const tw::Points shape{levels_, owns, 1};
        tw::Options options;
        options.more.axis = 1;  // y: levels lie inside
        tw::Plan plan(fetch, MPI_COMM_WORLD, {tw::dense(here.data(), shape)}, {tw::dense(there.data(), shape)},
                      options);
        plan();
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < owns; ++i)
            for (std::int64_t level = 0; level < levels_; ++level)
                wrong += there[at(i, level)] != static_cast<float>(value(wanted, i, level));
        say("on demand", plan, wrong);

        std::vector<std::int32_t> ones(wanted.size(), 1), times(own.size(), 0);
        const tw::Adjoint adjoint(fetch);
        tw::Plan back(adjoint, MPI_COMM_WORLD, {tw::vector(ones.data(), owns)}, {tw::vector(times.data(), owns)});
        back();
        const auto all = sum(std::accumulate(times.begin(), times.end(), std::int64_t{0}));
        say("adjoint", back, rank_ == 0 && all != nx_ * ny_);
    }

  private:
    // The number that a mesh generator gave to cell k: 7919 is prime, so that no two have the same.
    std::int64_t id_of(std::int64_t k) const { return (7919 * k + 13) % (nx_ * ny_); }
    // The value of a cell on a level.
    static double value(const tw::Ids& ids, std::int64_t i, std::int64_t level) {
        return static_cast<double>(ids[static_cast<std::size_t>(i)] + 100000 * level);
    }
    std::size_t size_of(std::int64_t points) const { return static_cast<std::size_t>(points * levels_); }

    static std::int64_t sum(std::int64_t mine) {
        std::int64_t all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        return all;
    }
    void say(const char* what, const tw::Plan& plan, std::int64_t mine) const {
        const auto wrong = sum(mine);
        const auto [messages, bytes] = plan.traffic();
        if (rank_ == 0)
            std::printf("%s by %s: rank 0 sends %lld messages, %lld bytes; %lld values wrong\n", what,
                        plan.way().c_str(), static_cast<long long>(messages), static_cast<long long>(bytes),
                        static_cast<long long>(wrong));
        if (wrong > 0) MPI_Abort(MPI_COMM_WORLD, 1);
    }

    std::int64_t nx_, ny_, levels_;
    int rank_ = 0, ranks_ = 1;
};

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    try {
        const auto argument = [&](int i, std::int64_t otherwise) {
            return count > i ? std::atoll(arguments[i]) : otherwise;
        };
        const Model model(argument(1, 30), argument(2, 20), argument(3, 5));
        model.exchange_halo();
        model.fetch_on_demand();
    } catch (const tw::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, error.status());
    }
    MPI_Finalize();
}
