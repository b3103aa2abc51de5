#include "mpi/packing/run_copies.hpp"

#include <unordered_map>

namespace tradewind {

namespace {

struct Kind {
    Index length = 0;
    Index from = 0, to = 0;  // bytes from the begin of the memories to the first run
    std::vector<Hop> hops;
};

// By length of the runs, in the order in which the lengths come up.
std::vector<Kind> kinds_of(const std::vector<FetchRun>& runs, const RunPlaces& from, const RunPlaces& to,
                           Index element) {
    std::vector<Kind> kinds;
    std::unordered_map<Index, std::size_t> of_length;
    std::size_t last = 0;
    Index done = 0;  // bytes of the runs before
    for (const FetchRun& run : runs) {
        if (last == kinds.size() || kinds[last].length != run.length) {
            const auto [at, is_new] = of_length.try_emplace(run.length, kinds.size());
            last = at->second;
            if (is_new) kinds.push_back({run.length, 0, 0, {}});
        }
        Kind& kind = kinds[last];
        const Index here = from.begin ? run.*from.begin * from.stride[X] : done;
        const Index there = to.begin ? run.*to.begin * to.stride[X] : done;
        if (kind.hops.empty()) {
            kind.from = here;
            kind.to = there;
            if (kinds.size() == 1) kind.hops.reserve(runs.size());
        }
        kind.hops.push_back({here - kind.from, there - kind.to});
        done += run.length * element;
    }
    return kinds;
}

}  // namespace

void append_run_copies(const std::vector<FetchRun>& runs, const RunPlaces& from, const RunPlaces& to,
                       std::array<Index, 2> levels, Index element, Stores stores, std::vector<StridedCopy>& copies,
                       HopLists& lists) {
    if (levels[0] * levels[1] == 0) return;
    Index points = 0;
    for (const FetchRun& run : runs) points += run.length;
    const std::array<Index, 3> buffer = dense_strides({points, levels[0], levels[1]}, element);
    for (Kind& kind : kinds_of(runs, from, to, element)) {
        const std::array<Index, 3> shape{kind.length, levels[0], levels[1]};
        const auto view = [&](const RunPlaces& places, Index begin) {
            return View{places.data + begin, places.begin ? places.stride : buffer};
        };
        StridedCopy& copy =
            copies.emplace_back(make_copy(view(from, kind.from), view(to, kind.to), shape, element, stores));
        repeat_at(copy, std::move(kind.hops), lists);
    }
}

}  // namespace tradewind
