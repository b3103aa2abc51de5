// The C++ header on two ranks: objects that free what they hold, exceptions, types, strides.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tradewind/tradewind.hpp>
#include <type_traits>

namespace {

int rank;

void require(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

template <class T>
T number(std::int64_t x, std::int64_t y) {
    return static_cast<T>(static_cast<float>(1 + x + 12 * y));
}

// A halo of width 1 on 12 x 6 x 2 points, periodic in both directions, in an array with gaps and x from right to left.
template <class T>
void halo_of() {
    const tw::Points points{12, 6, 2};
    const tw::Blocks blocks(points, {2, 1});
    const tw::Halo halo(blocks, 1, true, true);
    const tw::Box own = blocks.box(rank), all = halo.box(rank);
    const std::int64_t pitch = 2 * all.width(0) + 3, slice = pitch * (all.width(1) + 1);
    std::vector<T> memory(static_cast<std::size_t>(slice * all.width(2)), T(-1));
    T* lowest = memory.data() + 2 * (all.width(0) - 1);
    const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) -> T& {
        return lowest[-2 * (x - all.begin[0]) + pitch * (y - all.begin[1]) + slice * (z - all.begin[2])];
    };
    const tw::Points shape{all.width(0), all.width(1), all.width(2)};
    tw::Plan plan(halo, MPI_COMM_WORLD, {tw::strided(lowest, shape, {-2, pitch, slice})});
    for (auto z = own.begin[2]; z < own.end[2]; ++z)
        for (auto y = own.begin[1]; y < own.end[1]; ++y)
            for (auto x = own.begin[0]; x < own.end[0]; ++x) at(x, y, z) = number<T>(x, y);
    plan();
    std::int64_t others = 0;
    for (auto z = all.begin[2]; z < all.end[2]; ++z)
        for (auto y = all.begin[1]; y < all.end[1]; ++y)
            for (auto x = all.begin[0]; x < all.end[0]; ++x)
                require(at(x, y, z) == number<T>((x + 12) % 12, (y + 6) % 6), "a wrong point in the halo");
    for (const T& value : memory) others += value == T(-1);
    require(others == static_cast<std::int64_t>(memory.size()) - all.volume(), "a point in the gaps was written");
}

template <class T>
void sum_of() {
    std::vector<T> values{T(1 + rank), T(10)};
    tw::Plan(tw::AllReduce(2, 2), MPI_COMM_WORLD, {tw::vector(values.data(), 2)})();
    require(values[0] == T(3) && values[1] == T(20), "a wrong sum");
}

template <class Make>
void refused(Make make, tw_status status, const char* text) {
    try {
        make();
    } catch (const tw::Error& error) {
        require(error.status() == status, "another status than expected");
        require(std::strstr(error.what(), text) != nullptr, error.what());
        return;
    }
    require(false, "nothing was thrown");
}

void errors() {
    refused([] { tw::Blocks({4, 4, 4}, {9, 1}); }, TW_ERROR_INPUT, "9 ranks do not divide the 4 points along x");
    tw::Blocks one({12, 6, 2}, {2, 1});
    const tw::Blocks other = std::move(one);
    refused([&] { tw::Halo(one, 1); }, TW_ERROR_HANDLE, "the layout is TW_NULL");
    require(other.box(0).end[0] == 6, "a moved layout is another");
    const tw::Halo halo(other, 1);
    std::vector<double> small(3);
    refused([&] { tw::Plan(halo, MPI_COMM_WORLD, {tw_dense(small.data(), TW_F8, 3, 1, 1)}); }, TW_ERROR_INPUT,
            "has the shape");
}

void moved() {
    tw::Plan plan = [] {  // its pattern and layout are gone
        const tw::Halo halo(tw::Blocks({12, 6, 2}, {2, 1}), 1);
        static tw::Empty<double> field(halo, rank);
        tw::Options options;
        options.transport = "shared";
        options.packing = "direct";
        options.more.record = TW_RECORD_TOTALS;
        return tw::Plan(halo, MPI_COMM_WORLD, {field.field()}, options);
    }();
    tw::Plan again = std::move(plan);
    again.start();
    again.wait();
    require(again.way() == "sweep,shared,direct", "another way than asked for");
    require(again.text() == "halo of width 1, sweep", again.text().c_str());
    refused([&] { plan(); }, TW_ERROR_HANDLE, "the plan is TW_NULL");
    double total = 0;
    for (const double s : again.seconds()) total += s;
    require(total > 0, "it records nothing");
}

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    halo_of<float>();
    halo_of<double>();
    halo_of<std::int32_t>();
    halo_of<std::int64_t>();
    halo_of<std::complex<float>>();
    halo_of<std::complex<double>>();
    sum_of<float>();
    sum_of<double>();
    sum_of<std::int32_t>();
    sum_of<std::int64_t>();
    sum_of<std::complex<float>>();
    sum_of<std::complex<double>>();
    errors();
    moved();
    static_assert(!std::is_copy_constructible_v<tw::Plan> && std::is_nothrow_move_constructible_v<tw::Plan>);
    if (rank == 0) std::printf("all right\n");
    MPI_Finalize();
    return 0;
}
