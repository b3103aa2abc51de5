// Tradewind for C++: tradewind.h with objects that free what they hold, and exceptions. C++17; nothing to link but
// libtradewind. tradewind.h describes functions, their units and errors.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tradewind/tradewind.h"

namespace tw {

// An error of a function of tradewind.h: its status and text.
class Error : public std::runtime_error {
  public:
    Error(tw_status status, const char* text) : std::runtime_error(text), status_(status) {}
    tw_status status() const { return status_; }

  private:
    tw_status status_;
};

inline void check(tw_status status) {
    if (status != TW_OK) throw Error(status, tw_last_error());
}

// A handle that is freed with its owner. Moved from, it is none.
template <class Handle, tw_status (*free)(Handle)>
class Owned {
  public:
    Owned() = default;
    Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{0})) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    // A plan that is under way cannot be freed, and is left to itself.
    ~Owned() {
        if (handle_.id != 0) free(handle_);
    }
    Handle handle() const { return handle_; }

  protected:
    Handle handle_{0};
};

// Points along x, y, z.
using Points = std::array<std::int64_t, 3>;
using Split = std::array<std::int64_t, 2>;

// begin <= point < end along x, y, z, of the whole grid.
struct Box {
    Points begin{}, end{};
    std::int64_t width(int axis) const {
        return end[static_cast<std::size_t>(axis)] - begin[static_cast<std::size_t>(axis)];
    }
    std::int64_t volume() const { return width(0) * width(1) * width(2); }
};

class Layout : public Owned<tw_layout, tw_layout_free> {
  public:
    Box box(int rank) const {
        Box box;
        check(tw_layout_box(handle(), rank, box.begin.data(), box.end.data()));
        return box;
    }
};

struct Blocks : Layout {
    Blocks(const Points& points, const Split& split, const char* axes = "xy") {
        check(tw_blocks(points.data(), split.data(), axes, &handle_));
    }
};

struct Pencils : Layout {
    Pencils(const Points& points, const Split& split, char along) {
        check(tw_pencils(points.data(), split.data(), along, &handle_));
    }
};

// See tw_bands.
struct Bands : Layout {
    Bands(const std::vector<std::int64_t>& rows, std::int64_t levels, int ranks, bool shared = true,
          std::int64_t level_sets = 1) {
        check(
            tw_bands(static_cast<std::int64_t>(rows.size()), rows.data(), levels, ranks, level_sets, shared, &handle_));
    }
};

// See tw_wavenumbers: the list of each.
struct Wavenumbers : Layout {
    Wavenumbers(const Points& points, std::int64_t lists, const std::vector<int>& owners, std::int64_t level_sets = 1) {
        if (owners.size() != static_cast<std::size_t>(points[0]))
            throw Error(TW_ERROR_INPUT, (std::to_string(owners.size()) + " owners of " + std::to_string(points[0]) +
                                         " wavenumbers: one for each is allowed")
                                            .c_str());
        check(tw_wavenumbers(points.data(), lists, owners.data(), level_sets, &handle_));
    }
};

// See tw_lines; no owners, or no cuts: lines, or places, stay whole.
struct Lines : Layout {
    Lines(const Points& points, const std::vector<std::int64_t>& begins, const std::vector<std::int64_t>& ends,
          std::int64_t lists, const std::vector<int>& owners, const std::vector<std::int64_t>& cuts = {},
          std::int64_t field_sets = 1) {
        const auto lines = static_cast<std::size_t>(points[2]);
        if (begins.size() != lines || ends.size() != lines || (!owners.empty() && owners.size() != lines))
            throw Error(
                TW_ERROR_INPUT,
                ("begins, ends or owners of " + std::to_string(points[2]) + " lines: one for each is allowed").c_str());
        check(tw_lines(points.data(), begins.data(), ends.data(), lists, owners.empty() ? nullptr : owners.data(),
                       static_cast<std::int64_t>(cuts.size()) - 1, cuts.empty() ? nullptr : cuts.data(), field_sets,
                       &handle_));
    }
};

// Whole levels or fields on the last of all ranks.
struct Whole : Layout {
    Whole(const Points& points, int ranks, int servers) { check(tw_whole(points.data(), ranks, servers, &handle_)); }
};

// A layout on some of the ranks.
struct Placed : Layout {
    Placed(const Layout& layout, int first, int ranks) { check(tw_placed(layout.handle(), first, ranks, &handle_)); }
};

class Pattern : public Owned<tw_pattern, tw_pattern_free> {
  public:
    Box box(int rank, tw_side side = TW_SOURCE) const {
        Box box;
        check(tw_pattern_box(handle(), side, rank, box.begin.data(), box.end.data()));
        return box;
    }
};

struct Halo : Pattern {
    Halo(const Layout& layout, std::int64_t width, bool periodic_x = false, bool periodic_y = false) {
        const int periodic[2] = {periodic_x, periodic_y};
        check(tw_halo(layout.handle(), width, periodic, &handle_));
    }
    // The own points that need no point of the halo, those that do, and the own ones with `by` more around them.
    Box interior(int rank, std::int64_t reach) const {
        Box box;
        check(tw_halo_interior(handle(), rank, reach, box.begin.data(), box.end.data()));
        return box;
    }
    std::vector<Box> rim(int rank, std::int64_t reach) const {
        int boxes = 0;
        std::int64_t begin[4][3], end[4][3];
        check(tw_halo_rim(handle(), rank, reach, &boxes, begin, end));
        std::vector<Box> found;
        for (int i = 0; i < boxes; ++i)
            found.push_back({{begin[i][0], begin[i][1], begin[i][2]}, {end[i][0], end[i][1], end[i][2]}});
        return found;
    }
    Box widened(int rank, std::int64_t by = 0) const {
        Box box;
        check(tw_halo_widened(handle(), rank, by, box.begin.data(), box.end.data()));
        return box;
    }
};

struct Transpose : Pattern {
    Transpose(const Layout& from, const Layout& to) { check(tw_transpose(from.handle(), to.handle(), &handle_)); }
};

struct AllReduce : Pattern {
    AllReduce(int ranks, std::int64_t count) { check(tw_allreduce(ranks, count, &handle_)); }
};

// The points that a rank wants from elsewhere: made by OwnPoints.
class Fetch : public Pattern {
  public:
    // The same with levels along y and z, as box() and Empty see it.
    Fetch levels(std::int64_t inner, std::int64_t outer = 1) const {
        const std::int64_t levels[2] = {inner, outer};
        Fetch made;
        check(tw_fetch_levels(handle(), levels, &made.handle_));
        return made;
    }

  private:
    friend class OwnPoints;
    Fetch() = default;
};

// Adds the values in the target arrays to the points that they were fetched from; of a gather-scatter that adds,
// itself.
struct Adjoint : Pattern {
    explicit Adjoint(const Pattern& of) { check(tw_adjoint(of.handle(), &handle_)); }
};

using Ids = std::vector<std::int64_t>;
// The ranks with which a rank exchanges; none where they are to be found out.
using Peers = std::optional<std::vector<int>>;
// Each value becomes the combination (add, mul, min, max) of all values of its id. Made by all ranks of `comm`
// together.
struct GatherScatter : Pattern {
    GatherScatter(MPI_Comm comm, const Ids& ids, const char* operation = "add") {
        check(tw_gather_scatter(comm, static_cast<std::int64_t>(ids.size()), ids.data(), operation, &handle_));
    }
};

// The same of elements of `points` points per direction, in a brick of `split` ranks.
struct BrickGatherScatter : Pattern {
    BrickGatherScatter(std::array<std::int64_t, 3> elements, std::int64_t points, std::array<std::int64_t, 3> split,
                       std::array<bool, 3> periodic = {}, const char* operation = "add") {
        const int closed[3] = {periodic[0], periodic[1], periodic[2]};
        check(tw_brick_gather_scatter(elements.data(), points, split.data(), closed, operation, &handle_));
    }
};

// So many points without ids.
struct Count {
    std::int64_t points;
};
// Points index[k] in the arrays of the ranks owner[k], as many of both; they go to place[k], or one after another.
struct Listed {
    std::vector<int> owner;
    Ids index;
    std::optional<Ids> place{};
};

// The points that this rank owns. Made, asked and freed by all ranks of `comm` together.
class OwnPoints : public Owned<tw_points, tw_points_free> {
  public:
    // By their ids; without any; or the columns x + nx * y of a layout.
    OwnPoints(MPI_Comm comm, const Ids& ids) { check(tw_points_of_ids(comm, size(ids), ids.data(), &handle_)); }
    OwnPoints(MPI_Comm comm, Count count) { check(tw_points_of_count(comm, count.points, &handle_)); }
    OwnPoints(MPI_Comm comm, const Layout& layout) { check(tw_points_of_layout(comm, layout.handle(), &handle_)); }

    std::int64_t count() const {
        std::int64_t points = 0;
        check(tw_points_count(handle(), &points));
        return points;
    }
    // Owners and indices of ids.
    Listed locate(const Ids& ids) const {
        Listed found{std::vector<int>(ids.size()), Ids(ids.size())};
        check(tw_points_locate(handle(), size(ids), ids.data(), found.owner.data(), found.index.data()));
        return found;
    }

    // Into a target array.
    Fetch fetch(const Ids& wanted, const Peers& peers = {}) const { return of(tw_points_fetch, wanted, peers); }
    Fetch fetch(const Listed& wanted, const Peers& peers = {}) const {
        return of(tw_points_fetch_listed, wanted, peers);
    }
    // Within one array: behind the rank's own points, or at the places of a list.
    Fetch halo(const Ids& wanted, const Peers& peers = {}) const { return of(tw_points_halo, wanted, peers); }
    Fetch halo(const Listed& wanted, const Peers& peers = {}) const { return of(tw_points_halo_listed, wanted, peers); }
    // For several plans by the algorithms two-level-k and leaders-k: what all ranks want, known to each.
    Fetch known_to_all(const Fetch& fetch) const {
        Fetch made;
        check(tw_points_known_to_all(handle(), fetch.handle(), &made.handle_));
        return made;
    }

  private:
    template <class List>
    static std::int64_t size(const List& list) {
        return static_cast<std::int64_t>(list.size());
    }
    static int number(const Peers& peers) { return peers ? static_cast<int>(peers->size()) : TW_ANY_PEERS; }
    static const int* first(const Peers& peers) { return peers ? peers->data() : nullptr; }

    template <class Make>
    Fetch of(Make make, const Ids& wanted, const Peers& peers) const {
        Fetch made;
        check(make(handle(), size(wanted), wanted.data(), number(peers), first(peers), &made.handle_));
        return made;
    }
    template <class Make>
    Fetch of(Make make, const Listed& wanted, const Peers& peers) const {
        const std::int64_t none = 0;  // a list of places that is empty is another thing than no list
        const std::int64_t* place = wanted.place ? wanted.place->empty() ? &none : wanted.place->data() : nullptr;
        Fetch made;
        check(make(handle(), size(wanted.owner), wanted.owner.data(), size(wanted.index), wanted.index.data(),
                   wanted.place ? size(*wanted.place) : 0, place, number(peers), first(peers), &made.handle_));
        return made;
    }
};

// An order of a rank's points in which own, rim and halo points are three runs of an array.
struct Renumbered {
    Ids own, halo;
    std::int64_t interior = 0;  // how many own points come before the rim
};

inline Renumbered renumbered(MPI_Comm comm, const Ids& own, const Ids& halo) {
    Renumbered order{Ids(own.size()), Ids(halo.size())};
    auto halos = static_cast<std::int64_t>(halo.size());
    check(tw_renumbered(comm, static_cast<std::int64_t>(own.size()), own.data(), halos, halo.data(), order.own.data(),
                        &order.interior, order.halo.data(), &halos));
    order.halo.resize(static_cast<std::size_t>(halos));
    return order;
}

// The element type of a C++ type: element<double>() is TW_F8.
template <class T>
constexpr tw_element element() = delete;
template <>
constexpr tw_element element<float>() {
    return TW_F4;
}
template <>
constexpr tw_element element<double>() {
    return TW_F8;
}
template <>
constexpr tw_element element<std::int32_t>() {
    return TW_I4;
}
template <>
constexpr tw_element element<std::int64_t>() {
    return TW_I8;
}
template <>
constexpr tw_element element<std::complex<float>>() {
    return TW_C8;
}
template <>
constexpr tw_element element<std::complex<double>>() {
    return TW_C16;
}

// An array [z][y][x] without gaps, of the points of a box.
template <class T>
tw_field dense(T* data, const Box& box) {
    return tw_dense(data, element<T>(), box.width(0), box.width(1), box.width(2));
}
// The same, with extents along x, y, z; of a fetch, points and levels.
template <class T>
tw_field dense(T* data, const Points& points) {
    return tw_dense(data, element<T>(), points[0], points[1], points[2]);
}
// A vector without gaps.
template <class T>
tw_field vector(T* data, std::int64_t count) {
    return tw_vector(data, element<T>(), count);
}
// An array with any strides: elements, not bytes, from a point to the next along x, y, z.
template <class T>
tw_field strided(T* data, const Points& points, const Points& strides) {
    tw_field field = tw_dense(data, element<T>(), points[0], points[1], points[2]);
    for (std::size_t axis = 0; axis < 3; ++axis)
        field.strides[axis] = strides[axis] * static_cast<std::int64_t>(sizeof(T));
    return field;
}

// Zeros for a pattern's source or target on this rank, in memory that the ranks of its node share (see tw_empty).
template <class T>
class Empty {
  public:
    Empty(const Pattern& pattern, int rank, tw_side side = TW_SOURCE) {
        check(tw_empty(pattern.handle(), side, rank, element<T>(), &field_));
    }
    Empty(Empty&& other) noexcept : field_(std::exchange(other.field_, tw_field{})) {}
    Empty& operator=(Empty&& other) noexcept {
        std::swap(field_, other.field_);
        return *this;
    }
    ~Empty() {
        if (field_.data) tw_release(field_.data);
    }
    const tw_field& field() const { return field_; }
    T* data() const { return static_cast<T*>(field_.data); }
    std::int64_t size() const { return field_.points[0] * field_.points[1] * field_.points[2]; }

  private:
    tw_field field_{};
};

// How a plan moves data. What is empty is chosen at run time, by environment or default.
struct Options {
    std::string algorithm, transport, packing, operation = "sum";
    tw_options more = tw_default_options();  // of these all but the names, which stand above
};

// Record what all plans do from begin to end, as a program file; see tw_record_begin.
inline void record_begin(MPI_Comm comm) {
    check(tw_record_begin(comm));
}
inline void record_end(const std::string& path) {
    check(tw_record_end(path.c_str()));
}

// A pattern bound to arrays, which must outlive it unless they are of Empty. Made by all ranks of `comm`, and freed by
// all.
class Plan : public Owned<tw_plan, tw_plan_free> {
  public:
    // In place, or from `source` to as many `target` arrays.
    Plan(const Pattern& pattern, MPI_Comm comm, const std::vector<tw_field>& source, const Options& options = {})
        : Plan(pattern, comm, source, {}, options) {}
    Plan(const Pattern& pattern, MPI_Comm comm, const std::vector<tw_field>& source,
         const std::vector<tw_field>& target, const Options& options = {}) {
        tw_options o = options.more;
        o.algorithm = options.algorithm.c_str();
        o.transport = options.transport.c_str();
        o.packing = options.packing.c_str();
        o.operation = options.operation.c_str();
        check(tw_plan_make(pattern.handle(), comm, static_cast<int>(source.size()), source.data(),
                           static_cast<int>(target.size()), target.data(), &o, &handle_));
    }

    // The exchange, or its beginning and its end. All ranks call them.
    void operator()() { check(tw_plan_call(handle())); }
    void start() { check(tw_plan_start(handle())); }
    void wait() { check(tw_plan_wait(handle())); }
    // Between start and wait: completes what has come and posts the next stage. Whether wait will return at once.
    bool poke() {
        int over = 0;
        check(tw_plan_poke(handle(), &over));
        return over != 0;
    }
    // Whether the transport can go on in a poke.
    bool pokes() const {
        int pokes = 0;
        check(tw_plan_pokes(handle(), &pokes));
        return pokes != 0;
    }

    std::string text() const { return text_of(tw_plan_text); }
    std::string way() const { return text_of(tw_plan_way); }
    std::string origin() const { return text_of(tw_plan_origin); }
    // Path of messages between fields on a device and MPI; "" for fields in the host's memory.
    std::string staging() const { return text_of(tw_plan_staging); }
    // Messages and bytes that this rank sends in one call.
    std::pair<std::int64_t, std::int64_t> traffic() const {
        std::pair<std::int64_t, std::int64_t> sent;
        check(tw_plan_traffic(handle(), &sent.first, &sent.second));
        return sent;
    }
    // By activity: pack, post, copy, wait, unpack.
    std::array<double, 5> seconds() const {
        std::array<double, 5> found{};
        check(tw_plan_seconds(handle(), found.data()));
        return found;
    }

  private:
    std::string text_of(tw_status (*ask)(tw_plan, const char**)) const {
        const char* text = nullptr;
        check(ask(handle(), &text));
        return text;
    }
};

}  // namespace tw
