#include "own_transform.hpp"

#include "base/error.hpp"
#include "binding.hpp"
#include "field.hpp"
#include "mpi/overlap.hpp"

namespace tradewind::c {

namespace {

constexpr Index any = -1;  // extent

mpi::Field dense(const layout::Patch& patch, void* data, mpi::Element element) {
    mpi::Field field{static_cast<std::byte*>(data), {}, {}, nullptr};
    Index stride = mpi::bytes_of(element);
    for (const int axis : {layout::X, layout::Y, layout::Z}) {
        field.shape[static_cast<std::size_t>(axis)] = patch.width(axis);
        field.stride[static_cast<std::size_t>(axis)] = stride;
        stride *= patch.width(axis);
    }
    return field;
}

template <class Real>
spectral::GridFields<Real> grid_of(const std::vector<NamedField>& fields) {
    spectral::GridFields<Real> out{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        out.values[i] = static_cast<Real*>(fields[i].field->data);
        out.stride[i] = fields[i].field->strides[layout::Y] / static_cast<Index>(sizeof(Real));
    }
    return out;
}

template <class Real>
spectral::SpectralFields<Real> spectral_of(const std::vector<NamedField>& fields) {
    spectral::SpectralFields<Real> out{};
    out.levels = fields[0].field->points[layout::X];
    for (std::size_t i = 0; i < fields.size(); ++i) {
        out.values[i] = static_cast<std::complex<Real>*>(fields[i].field->data);
        out.stride[i] = fields[i].field->strides[layout::Y] / static_cast<Index>(sizeof(std::complex<Real>));
    }
    return out;
}

mpi::Field taken(const tw_field& f) {
    return {static_cast<std::byte*>(f.data),
            {f.points[layout::X], f.points[layout::Y], f.points[layout::Z]},
            {f.strides[layout::X], f.strides[layout::Y], f.strides[layout::Z]},
            nullptr};
}

// Refuses a field that is not of these extents (any: of any), where points along x lie one after another.
void check_field(const tw_field* field, const std::string& name, mpi::Element element,
                 const std::array<Index, 3>& extents) {
    require(field, name.c_str());
    if (element_of(field->element) != element)
        throw InputError(name + " has the type " + mpi::name_of(element_of(field->element)) + ": " +
                         mpi::name_of(element) + " is allowed");
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (extents[axis] == any ? field->points[axis] < 0 : field->points[axis] != extents[axis])
            throw InputError(name + " has " + std::to_string(field->points[axis]) + " points along " +
                             layout::axis_names[axis] + ": " +
                             (extents[axis] == any ? "0 or more" : std::to_string(extents[axis])) + " are allowed");
    const Index bytes = mpi::bytes_of(element), nx = field->points[layout::X], ny = field->points[layout::Y];
    if (nx == 0 || ny == 0 || field->points[layout::Z] == 0) return;
    if (!field->data) throw InputError(name + " has no memory: its data is a null pointer");
    const bool together = nx == 1 || field->strides[layout::X] == bytes;
    const bool whole = ny == 1 || field->strides[layout::Y] % bytes == 0;
    const bool even = field->points[layout::Z] == 1 || field->strides[layout::Z] == ny * field->strides[layout::Y];
    if (!together || !whole || !even)
        throw InputError(name + " has strides of " + std::to_string(field->strides[layout::X]) + ", " +
                         std::to_string(field->strides[layout::Y]) + " and " +
                         std::to_string(field->strides[layout::Z]) +
                         " bytes: what lies along x one after another, and levels at one distance, is allowed");
    if (mpi::overlaps_itself(taken(*field), element))
        throw InputError(name + " has strides that bring two of its elements to one place: each has its own");
}

// Refuses fields that share memory into which the transform writes.
void check_apart(const std::vector<NamedField>& written, mpi::Element element) {
    if (written.size() == 2 && overlap(taken(*written[0].field), taken(*written[1].field), element))
        throw InputError(std::string(written[0].name) + " and " + written[1].name +
                         " overlap in memory: the transform writes into both");
}

}  // namespace

OwnTransform::OwnTransform(MPI_Comm comm, std::shared_ptr<const spectral::Distribution> distribution,
                           const tw_transform_options& options)
    : communicator_(comm, mpi::limit_of(options.watchdog_s)),
      distribution_(std::move(distribution)),
      element_(element_of(options.element)),
      watchdog_s_(options.watchdog_s) {
    const Rank rank = communicator_.rank();
    if (is_single())
        made_.emplace<spectral::Transform<float>>(distribution_, rank, options.threads, options.radius, maker());
    else
        made_.emplace<spectral::Transform<double>>(distribution_, rank, options.threads, options.radius, maker());
}

// The exchanges of a transform: plans by the default method, or that of the environment.
spectral::MakeExchange OwnTransform::maker() {
    return [this](std::shared_ptr<const pattern::Redistribution> pattern, bool complex, const void* source,
                  void* target) -> spectral::Exchange {
        auto bound = std::make_shared<BoundPlan>();
        mpi::PlanRequest request;
        request.element = complex ? (is_single() ? mpi::Element::c8 : mpi::Element::c16) : element_;
        request.source = {
            dense(pattern->source_patch(communicator_.rank()), const_cast<void*>(source), request.element)};
        request.target = {dense(pattern->target_patch(communicator_.rank()), target, request.element)};
        request.watchdog_s = watchdog_s_;
        bind_by_method(*bound, comm(), std::move(pattern), {}, std::move(request));
        return [bound] { bound->plan->run(); };
    };
}

Index OwnTransform::coefficients() const {
    Index count = 0;
    for (const Index m : wavenumbers()) count += distribution_->truncation().degrees(m);
    return count;
}

Index OwnTransform::check(const spectral::Operation& operation, const std::vector<NamedField>& spectral,
                          const std::vector<NamedField>& grid) const {
    Index levels = -1;
    for (const NamedField& each : grid) {
        check_field(each.field, each.name, element_, {points().length(), any, any});
        const Index own = each.field->points[layout::Y] * each.field->points[layout::Z];
        if (levels >= 0 && own != levels)
            throw InputError(std::string(each.name) + " has " + std::to_string(own) + " levels, " + grid[0].name + " " +
                             std::to_string(levels) + ": as many are allowed");
        levels = own;
    }
    if (levels < 1) throw InputError(std::string(grid[0].name) + " has no levels: one or more are allowed");
    const mpi::Element complex = is_single() ? mpi::Element::c8 : mpi::Element::c16;
    for (const NamedField& each : spectral)
        check_field(each.field, each.name, complex, {this->levels(levels).length(), coefficients(), 1});
    check_apart(operation.to_grid ? grid : spectral, operation.to_grid ? element_ : complex);
    return levels;
}

void OwnTransform::run(const spectral::Operation& operation, Index levels, const std::vector<NamedField>& spectral,
                       const std::vector<NamedField>& grid) {
    if (auto* single = std::get_if<spectral::Transform<float>>(&made_))
        single->run(operation, levels, spectral_of<float>(spectral), grid_of<float>(grid));
    else
        std::get<spectral::Transform<double>>(made_).run(operation, levels, spectral_of<double>(spectral),
                                                         grid_of<double>(grid));
}

Handles<OwnTransform>& transforms() {
    static Handles<OwnTransform>& all = *new Handles<OwnTransform>("transform");
    return all;
}

}  // namespace tradewind::c
