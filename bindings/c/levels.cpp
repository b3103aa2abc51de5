#include "levels.hpp"

#include "base/error.hpp"

namespace tradewind::c {

namespace {

using Levels = std::array<Index, 2>;

std::string text_of(const Levels& levels) {
    return "(" + std::to_string(levels[0]) + ", " + std::to_string(levels[1]) + ")";
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
                                                       const mpi::PlanRequest& request) {
    if (!pattern->has_levels()) return pattern;
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks != pattern->ranks())
        throw InputError("the communicator has " + std::to_string(ranks) + " ranks, but the " + pattern->describe() +
                         " is made for " + std::to_string(pattern->ranks()));
    const Levels wanted{request.source[0].shape[layout::Y], request.source[0].shape[layout::Z]};
    const auto check = [&](const char* side, const std::vector<mpi::Field>& fields, Index points) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string name = std::string(side) + " field " + std::to_string(i);
            const auto& shape = fields[i].shape;
            if (shape[layout::X] != points)
                throw InputError(name + " has " + std::to_string(shape[layout::X]) + " points, but rank " +
                                 std::to_string(rank) + " of the " + pattern->describe() + " has " +
                                 std::to_string(points) + " in its " + side + " array");
            if (const Levels levels{shape[layout::Y], shape[layout::Z]}; levels != wanted)
                throw InputError(name + " has the levels " + text_of(levels) + ", source field 0 " + text_of(wanted) +
                                 ": all have the same");
        }
    };
    check("source", request.source, pattern->source_box(rank).width(layout::X));
    check("target", request.target, pattern->target_box(rank).width(layout::X));
    return pattern->for_levels(wanted);
}

}  // namespace tradewind::c
