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
    require(!again.pokes() && !again.poke(), "a poke of transport shared does something");
    again.wait();
    require(again.way() == "sweep,shared,direct", "another way than asked for");
    require(again.origin() == "algorithm: default, transport: argument, packing: argument", "another origin");
    require(again.text() == "halo of width 1, sweep", again.text().c_str());
    refused([&] { plan(); }, TW_ERROR_HANDLE, "the plan is TW_NULL");
    double total = 0;
    for (const double s : again.seconds()) total += s;
    require(total > 0, "it records nothing");
}

// Rows of a grid to bands that share rows, to whole fields on rank 1, and to wavenumbers, of which each rank has every
// other one.
void layouts() {
    const tw::Points grid{5, 3, 2};
    const tw::Blocks rows(grid, {1, 2});
    const tw::Bands bands(std::vector<std::int64_t>(3, 5), 2, 2);
    const tw::Whole whole(grid, 2, 1);
    const tw::Wavenumbers waves(grid, 2, {0, 1, 0, 1, 0});
    const auto filled = [&](std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count), -1); };
    const auto shape = [&](const tw::Pattern& pattern, tw_side side) {
        const tw::Box box = pattern.box(rank, side);
        return tw::Points{box.width(0), box.width(1), box.width(2)};
    };
    const auto move = [&](const tw::Transpose& pattern, std::vector<double>& from) {
        const tw::Points before = shape(pattern, TW_SOURCE), after = shape(pattern, TW_TARGET);
        std::vector<double> to = filled(after[0] * after[1] * after[2]);
        tw::Plan(pattern, MPI_COMM_WORLD, {tw::dense(from.data(), before)}, {tw::dense(to.data(), after)})();
        return to;
    };
    const tw::Points few{2, 3, 2};  // two lines of three and two places
    const tw::Lines by_place(few, {0, 1}, {3, 3}, 1, {}, {0, 1, 3}), by_line(few, {0, 1}, {3, 3}, 2, {0, 1});
    std::vector<double> places =
        rank == 0 ? std::vector<double>{0, 1} : std::vector<double>{2, 3, 4, 5, 12, 13, 14, 15};
    const std::vector<double> line =
        rank == 0 ? std::vector<double>{0, 1, 2, 3, 4, 5} : std::vector<double>{12, 13, 14, 15};
    require(move(tw::Transpose(by_place, by_line), places) == line, "lines of different lengths");
    std::vector<double> own;
    const tw::Box box = static_cast<const tw::Layout&>(rows).box(rank);
    for (auto z = box.begin[2]; z < box.end[2]; ++z)
        for (auto y = box.begin[1]; y < box.end[1]; ++y)
            for (auto x = box.begin[0]; x < box.end[0]; ++x) own.push_back(double(x + 5 * (y + 3 * z)));
    std::vector<double> banded = move(tw::Transpose(rows, bands), own);
    require(banded.size() == (rank == 0 ? 16u : 14u), "bands of other sizes");
    for (std::size_t i = 0; i < banded.size(); ++i) {
        const std::size_t points = banded.size() / 2, first = rank == 0 ? 0 : 8;
        require(banded[i] == double(first + i % points + 15 * (i / points)), "a wrong point in the bands");
    }
    std::vector<double> fields = move(tw::Transpose(bands, whole), banded);
    require(fields.size() == (rank == 0 ? 0u : 30u), "fields are on other ranks");
    for (std::size_t i = 0; i < fields.size(); ++i) require(fields[i] == double(i), "a wrong point in the fields");
    std::vector<double> numbers = move(tw::Transpose(whole, waves), fields);
    const std::size_t many = rank == 0 ? 3 : 2;
    require(numbers.size() == 6 * many, "lists of other sizes");
    for (std::size_t i = 0; i < numbers.size(); ++i)
        require(numbers[i] == double(5 * (i / many) + 2 * (i % many)) + rank, "a wrong wavenumber");
    require(tw::Placed(tw::Blocks(grid, {1, 1}), 1, 2).box(0).volume() == 0, "a rank before the first owns points");
    refused([&] { waves.box(0); }, TW_ERROR_INPUT, "3 boxes of points: one is allowed here");
    refused([&] { tw::Wavenumbers(grid, 2, {0}); }, TW_ERROR_INPUT, "1 owners of 5 wavenumbers");
}

// Each rank owns the even or the odd ones of 8 points; it fetches them all, with all functions, and adds them back.
void fetches() {
    const tw::Ids own{rank, rank + 2, rank + 4, rank + 6}, all{0, 1, 2, 3, 4, 5, 6, 7};
    const tw::OwnPoints points(MPI_COMM_WORLD, own), plain(MPI_COMM_WORLD, tw::Count{4});
    require(points.count() == 4 && plain.count() == 4, "another number of points");
    const tw::Listed found = points.locate(all);
    require(found.owner == std::vector<int>({0, 1, 0, 1, 0, 1, 0, 1}), "points are owned by others");
    require(found.index == tw::Ids({0, 0, 1, 1, 2, 2, 3, 3}), "points lie elsewhere");
    tw::Listed upside_down = found;
    upside_down.place = tw::Ids{7, 6, 5, 4, 3, 2, 1, 0};

    std::vector<std::complex<double>> here(8), there(16);
    for (std::size_t i = 0; i < 8; ++i) here[i] = {double(own[i / 2]), double(i % 2)};  // [point][level]
    tw::Options options;
    options.more.axis = 1;
    const auto source = tw::dense(here.data(), tw::Points{2, 4, 1});
    const auto target = tw::dense(there.data(), tw::Points{2, 8, 1});
    const auto fetched = [&](const tw::Fetch& fetch, bool reversed) {
        there.assign(16, -1.0);
        tw::Plan(fetch, MPI_COMM_WORLD, {source}, {target}, options)();
        for (std::size_t i = 0; i < 8; ++i)
            for (std::size_t level : {0, 1})
                require(there[2 * (reversed ? 7 - i : i) + level] == std::complex<double>(double(i), double(level)),
                        "a wrong point was fetched");
    };
    const std::vector<int> other{1 - rank};
    const tw::Fetch fetch = points.fetch(all);
    fetched(fetch, false);
    fetched(points.fetch(all, other), false);
    fetched(plain.fetch(found), false);
    fetched(plain.fetch(upside_down, other), true);
    options.algorithm = "leaders-2";
    fetched(points.known_to_all(fetch), false);
    options.algorithm.clear();
    tw::Plan(tw::Adjoint(points.fetch(all)), MPI_COMM_WORLD, {target}, {source}, options)();
    for (std::size_t i = 0; i < 4; ++i) require(here[2 * i].real() == 3.0 * double(own[i]), "a wrong sum");

    const tw::Fetch halo = points.halo({1 - rank, 7 - rank}, other), deep = halo.levels(3);
    const tw::Box box = deep.box(rank);
    require(box.width(0) == 6 && box.width(1) == 3 && box.width(2) == 1, "another box of a halo with levels");
    tw::Empty<float> field(deep, rank);
    for (std::size_t i = 0; i < 4; ++i) field.data()[6 + i] = float(own[i]);
    tw::Plan(deep, MPI_COMM_WORLD, {field.field()})();
    require(field.data()[10] == float(1 - rank) && field.data()[11] == float(7 - rank), "a wrong halo");

    const tw::Renumbered order = tw::renumbered(MPI_COMM_WORLD, own, {7 - rank, 7 - rank, 1 - rank});
    require(order.interior == 2 && order.halo.size() == 2, "other runs");
    refused([&] { points.fetch(tw::Ids{8}); }, TW_ERROR_INPUT, "which no rank owns");
    refused([&] { plain.fetch(tw::Listed{{0, 1}, {0}}); }, TW_ERROR_INPUT, "lists of 2 owners, 1 indices");
    refused([&] { plain.fetch(tw::Listed{{0, 1}, {0, 0}, tw::Ids{}}); }, TW_ERROR_INPUT, "0 places");
    tw::OwnPoints gone(MPI_COMM_WORLD, own);
    const tw::OwnPoints kept = std::move(gone);
    refused([&] { gone.count(); }, TW_ERROR_HANDLE, "the point set is TW_NULL");
    require(kept.count() == 4, "moved points are others");
}

// A chain of values through both ranks, of which the middle one is shared, and each rank's own pair; levels outside.
void gather_scatter() {
    const tw::Ids ids{1 + rank, 2 + rank, 9 + rank, 9 + rank, 0};
    const tw::GatherScatter sums(MPI_COMM_WORLD, ids), products(MPI_COMM_WORLD, ids, "mul");
    require(sums.box(rank).width(0) == 5, "another number of values");
    const auto value = [](int of, int place, int level) { return double(2 + of + 3 * place + 100 * level); };
    std::vector<double> values(10);
    const auto fill = [&] {
        for (int level = 0; level < 2; ++level)
            for (int place = 0; place < 5; ++place)
                values[static_cast<std::size_t>(5 * level + place)] = value(rank, place, level);
    };
    const auto compare = [&](bool multiplied) {
        for (int level = 0; level < 2; ++level) {
            const auto both = [&](double a, double b) { return multiplied ? a * b : a + b; };
            const double shared = both(value(0, 1, level), value(1, 0, level));
            const double pair = both(value(rank, 2, level), value(rank, 3, level));
            const double own = value(rank, rank == 0 ? 0 : 1, level), none = value(rank, 4, level);
            const double right[5] = {rank == 0 ? own : shared, rank == 0 ? shared : own, pair, pair, none};
            for (std::size_t place = 0; place < 5; ++place)
                require(values[5 * static_cast<std::size_t>(level) + place] == right[place],
                        multiplied ? "a wrong product of copies" : "a wrong sum of copies");
        }
    };
    for (const tw::GatherScatter* pattern : {&sums, &products}) {
        tw::Plan plan(*pattern, MPI_COMM_WORLD, {tw::dense(values.data(), tw::Points{5, 2, 1})});
        fill();
        plan();
        compare(pattern == &products);
        fill();
        plan.start();
        plan.wait();
        compare(pattern == &products);
    }
    const tw::BrickGatherScatter brick({1, 1, 1}, 2, {2, 1, 1}, {}, "max");
    std::vector<double> corners(8, rank);
    tw::Options sweeps;
    sweeps.algorithm = "cartesian";
    tw::Plan largest(brick, MPI_COMM_WORLD, {tw::dense(corners.data(), tw::Points{8, 1, 1})}, sweeps);
    largest();
    for (std::size_t i = 0; i < 8; ++i) {
        const bool shared = i % 2 == (rank == 0 ? 1 : 0);
        require(corners[i] == (shared ? 1 : rank), "a wrong maximum of copies");
    }
    refused([&] { tw::GatherScatter(MPI_COMM_WORLD, ids, "sum"); }, TW_ERROR_INPUT,
            "add, mul, min and max are allowed");
}

void regions() {
    const tw::Halo halo(tw::Blocks({12, 6, 2}, {2, 1}), 2, true, true);
    const tw::Box inner = halo.interior(rank, 2), wide = halo.widened(rank, 1);
    std::int64_t points = inner.volume();
    for (const tw::Box& part : halo.rim(rank, 2)) points += part.volume();
    require(inner.volume() == 2 * 2 * 2 && points == 6 * 6 * 2 && wide.volume() == 8 * 8 * 2,
            "other regions of a halo");
    refused([&] { halo.rim(rank, 3); }, TW_ERROR_INPUT, "reach 3: 0..2 are allowed");
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
    layouts();
    fetches();
    gather_scatter();
    regions();
    static_assert(!std::is_copy_constructible_v<tw::Plan> && !std::is_copy_constructible_v<tw::Fetch> &&
                  std::is_nothrow_move_constructible_v<tw::Plan>);
    if (rank == 0) std::printf("all right\n");
    MPI_Finalize();
    return 0;
}
