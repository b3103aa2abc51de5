#include "levels.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/error.hpp"
#include "pattern/halo.hpp"

namespace tradewind::c {

namespace {

using Levels = std::array<Index, 2>;

Levels levels_of(const mpi::Field& field) {
    return {field.shape[layout::Y], field.shape[layout::Z]};
}

std::string text_of(const Levels& levels) {
    return "(" + std::to_string(levels[0]) + ", " + std::to_string(levels[1]) + ")";
}

// Makes each level along an axis of each field one of its own.
void split_along(int axis, std::vector<mpi::Field>& fields) {
    std::vector<mpi::Field> levels;
    for (const mpi::Field& field : fields)
        for (Index i = 0; i < field.shape[axis]; ++i) {
            mpi::Field& level = levels.emplace_back(field);
            if (level.data) level.data += i * field.stride[axis];
            level.shape[axis] = 1;
        }
    fields = std::move(levels);
}

// Makes each level of each field, along these axes, one of its own. The request keeps the levels that there were: the
// ranks compare them.
void split(std::initializer_list<int> axes, mpi::PlanRequest& request) {
    for (const mpi::Field& field : request.source) {
        Levels& levels = request.split_levels.emplace_back(Levels{1, 1});
        for (const int axis : axes) levels[axis == layout::Y ? 0 : 1] = field.shape[axis];
    }
    for (auto* const side : {&request.source, &request.target})
        for (const int axis : axes) split_along(axis, *side);
}

// A halo of a grid of one level takes fields of several level by level.
void split_layers(const pattern::Pattern& pattern, mpi::PlanRequest& request) {
    const auto* const halo = dynamic_cast<const pattern::Halo*>(&pattern);
    const auto is_flat = [](const mpi::Field& field) { return field.shape[layout::Z] == 1; };
    if (!halo || halo->layout().grid().points[layout::Z] != 1) return;
    if (std::all_of(request.source.begin(), request.source.end(), is_flat)) return;
    split({layout::Z}, request);
}

}  // namespace

mpi::Field along_points(const mpi::Field& field, int axis) {
    mpi::Field turned = field;
    int next = layout::Y;
    for (const int from : {layout::X, layout::Y, layout::Z}) {
        const int to = from == axis ? layout::X : next++;
        turned.shape[to] = field.shape[from];
        turned.stride[to] = field.stride[from];
    }
    return turned;
}

std::shared_ptr<const pattern::Pattern> with_levels_of(std::shared_ptr<const pattern::Pattern> pattern, MPI_Comm comm,
                                                       mpi::PlanRequest& request) {
    if (!pattern->has_levels()) {
        split_layers(*pattern, request);
        return pattern;
    }
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks != pattern->ranks())
        throw InputError("the communicator has " + std::to_string(ranks) + " ranks, but the " + pattern->describe() +
                         " is made for " + std::to_string(pattern->ranks()));
    const auto check = [&](const char* side, const std::vector<mpi::Field>& fields, Index points) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string name = std::string(side) + " field " + std::to_string(i);
            const auto& shape = fields[i].shape;
            if (shape[layout::X] != points)
                throw InputError(name + " has " + std::to_string(shape[layout::X]) + " points, but rank " +
                                 std::to_string(rank) + " of the " + pattern->describe() + " has " +
                                 std::to_string(points) + " in its " + side + " array");
            if (const Levels levels = levels_of(fields[i]), own = levels_of(request.source[i]); levels != own)
                throw InputError(name + " has the levels " + text_of(levels) + ", source field " + std::to_string(i) +
                                 " " + text_of(own) + ": both have the same");
        }
    };
    check("source", request.source, pattern->source_box(rank).width(layout::X));
    check("target", request.target, pattern->target_box(rank).width(layout::X));
    const Levels first = levels_of(request.source[0]);
    const auto is_equal = [&](const mpi::Field& field) { return levels_of(field) == first; };
    if (std::all_of(request.source.begin(), request.source.end(), is_equal)) return pattern->for_levels(first);
    split({layout::Z, layout::Y}, request);
    return pattern->for_levels({1, 1});
}

}  // namespace tradewind::c
