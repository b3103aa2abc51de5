#include "fieldserver/handover.hpp"

#include <algorithm>
#include <numeric>

#include "algorithm/registry.hpp"
#include "base/error.hpp"
#include "layout/forms.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/points.hpp"
#include "pattern/redistribution.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr std::array<int, 3> directions{layout::X, layout::Y, layout::Z};

// As a server makes it of its description: the same points of the same ranks, point by point.
layout::Product as_described(const layout::Product& layout, int ranks) {
    const auto parts = [&](int axis) {
        const layout::Parts& all = layout.parts(axis);
        std::vector<std::int32_t> owners(static_cast<std::size_t>(all.points()));
        for (Index part = 0; part < all.parts(); ++part)
            for (const layout::Run& run : all.runs(part))
                std::fill(owners.begin() + run.begin, owners.begin() + run.end, static_cast<std::int32_t>(part));
        return layout::Parts::dealt(owners, all.parts());
    };
    const auto coordinate = [&](int axis) { return layout.parts(axis).parts() > 1 ? layout.coordinate_of(axis) : -1; };
    return {layout.grid(),
            {parts(layout::X), parts(layout::Y), parts(layout::Z)},
            {coordinate(layout::X), coordinate(layout::Y), coordinate(layout::Z)},
            layout.first(),
            ranks,
            "model"};
}

std::shared_ptr<const pattern::Pattern> redistribution(const FieldForm& form, int ranks, int receiver, bool back) {
    const auto parts = std::make_shared<layout::Product>(as_described(*form.layout, ranks));
    const auto whole =
        std::make_shared<layout::Product>(layout::whole(form.layout->grid(), 1, 1).placed(receiver, ranks));
    if (back) return std::make_shared<pattern::Redistribution>(whole, parts);
    return std::make_shared<pattern::Redistribution>(parts, whole);
}

std::shared_ptr<const pattern::Pattern> fetch(MPI_Comm comm, const FieldForm& form, bool receives, bool back) {
    std::vector<Index> all(static_cast<std::size_t>(receives ? form.points : 0));
    std::iota(all.begin(), all.end(), Index{0});
    mpi::agree(comm, "", "");
    const mpi::Points points(comm, back ? all : form.own);
    const auto made = points.fetch_ids(back ? form.own : all, 0, false, false, {});
    return made->for_levels({1, form.levels});
}

}  // namespace

std::array<Index, 3> FieldForm::shape(int rank) const {
    if (!layout) return {static_cast<Index>(own.size()), levels, 1};
    std::array<Index, 3> shape{};
    const auto part = layout->part_of(rank);
    for (const int axis : directions) {
        const auto a = static_cast<std::size_t>(axis);
        shape[a] = part ? layout->parts(axis).width((*part)[a]) : 0;
    }
    return shape;
}

Json FieldForm::to_json() const {
    Json::Object shape{{"levels", levels}, {"points", points}, {"dtype", mpi::name_of(element)}};
    shape.emplace_back("layout", layout ? Json(described) : Json());
    return shape;
}

FieldForm FieldForm::one_level(const std::string& name) const {
    FieldForm form = *this;
    form.levels = 1;
    if (!layout) return form;
    if (layout->parts(layout::Z).parts() > 1)
        throw InputError("field " + name + ": its layout divides levels among ranks, and a sink with {level} in its " +
                         "path takes fields whose levels are not, or that are written level by level");
    const auto& [nx, ny, nz] = layout->grid().points;
    form.layout = std::make_shared<layout::Product>(
        layout::Grid(nx, ny, 1),
        std::array<layout::Parts, 3>{layout->parts(layout::X), layout->parts(layout::Y), layout::Parts::even(1, 1)},
        std::array<int, 3>{layout->coordinate_of(layout::X), layout->coordinate_of(layout::Y), -1}, layout->first(),
        layout->ranks(), layout->name());
    form.described = fieldserver::described(*form.layout);
    return form;
}

std::string described(const layout::Product& layout) {
    if (layout.lines())
        throw InputError("layout " + layout.describe() + ": lines of different lengths: name the points of each rank");
    Json::Array grid, runs, coordinates;
    for (const int axis : directions) {
        const layout::Parts& parts = layout.parts(axis);
        grid.emplace_back(parts.points());
        coordinates.emplace_back(parts.parts() > 1 ? layout.coordinate_of(axis) : -1);
        Json::Array of_parts;
        for (Index part = 0; part < parts.parts(); ++part) {
            Json::Array of_part;
            for (const layout::Run& run : parts.runs(part)) of_part.push_back(Json::Array{run.begin, run.end});
            of_parts.emplace_back(std::move(of_part));
        }
        runs.emplace_back(std::move(of_parts));
    }
    return Json(Json::Object{
                    {"grid", grid}, {"runs", runs}, {"coordinates", coordinates}, {"first", int(layout.first())}})
        .text();
}

FieldForm form_of(const layout::Product& layout, int ranks) {
    if (layout.ranks() != ranks)
        throw InputError("a layout of " + std::to_string(layout.ranks()) + " ranks: the model has " +
                         std::to_string(ranks));
    FieldForm form;
    form.layout = std::make_shared<layout::Product>(layout);
    form.described = fieldserver::described(layout);
    const auto& [nx, ny, nz] = layout.grid().points;
    form.points = nx * ny;
    form.levels = nz;
    return form;
}

PartMemory::PartMemory(Index bytes, bool shared) {
    if (shared)
        shared_ = std::make_shared<mpi::SharedMemory>(std::max<Index>(bytes, 1));
    else
        own_ = std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]);
}

ModelPart ModelPart::level(std::size_t axis, Index place) const {
    ModelPart part = *this;
    if (shape[axis] == 0) return part;
    part.data += place * strides[axis];
    part.shape[axis] = 1;
    return part;
}

ServerHandover::ServerHandover(const Receiver& receiver, const FieldForm& form, const ServerMethod& method, bool back)
    : receiver_(receiver),
      method_(method),
      back_(back),
      listed_(!form.layout),
      levels_inside_(!form.layout && form.axis == 1),
      element_(form.element),
      levels_(form.levels),
      points_(form.points),
      bytes_(form.bytes()) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(receiver.comm, &rank);
    MPI_Comm_size(receiver.comm, &ranks);
    receives_ = rank == receiver.rank;
    shape_ = form.shape(rank);
    whole_shape_ = listed_ ? std::array<Index, 3>{0, form.levels, 1} : std::array<Index, 3>{};
    if (receives_)
        whole_shape_ = listed_ ? std::array<Index, 3>{form.points, form.levels, 1} : form.layout->grid().points;
    pattern_ =
        form.layout ? redistribution(form, ranks, receiver.rank, back) : fetch(receiver.comm, form, receives_, back);
    algorithm_ = listed_ ? "direct" : "burst";  // of one stage: all is under way when it has been started
}

PartMemory ServerHandover::memory() const {
    return {shape_[0] * shape_[1] * shape_[2] * mpi::bytes_of(element_), method_.shared()};
}

PartMemory ServerHandover::whole_memory() const {
    return {receives_ ? bytes_ : 0, receives_ && method_.shared()};
}

ModelPart ServerHandover::dense(const PartMemory& memory, const std::array<Index, 3>& shape) const {
    const Index unit = mpi::bytes_of(element_);
    return {memory.data(), shape, {unit, unit * shape[0], unit * shape[0] * shape[1]}, unit};
}

ModelPart ServerHandover::part(const PartMemory& memory) const {
    ModelPart found = dense(memory, shape_);
    if (levels_inside_) found.strides = {found.unit * shape_[1], found.unit, found.unit * shape_[0] * shape_[1]};
    return found;
}

// Levels are the last direction of listed points.
mpi::Field ServerHandover::field_of(const ModelPart& part) const {
    static std::byte none[16];
    std::byte* data = part.data ? part.data : none;
    const auto& [nx, ny, nz] = part.shape;
    const auto& [to_x, to_y, to_z] = part.strides;
    if (listed_) return {data, {nx, 1, ny}, {to_x, part.unit, to_y}, {}};
    return {data, {nx, ny, nz}, {to_x, to_y, to_z}, {}};
}

std::unique_ptr<mpi::Plan> ServerHandover::plan(const std::vector<ModelPart>& parts,
                                                const std::vector<PartMemory>& whole) const {
    mpi::PlanRequest request;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const mpi::Field mine = field_of(parts[i]);
        ModelPart whole_field = dense(whole[i], whole_shape_);
        if (!receives_) whole_field.data = parts[i].data;  // which has no points, but lies in the same memory
        const mpi::Field all = field_of(whole_field);
        request.source.push_back(back_ ? all : mine);
        request.target.push_back(back_ ? mine : all);
    }
    request.element = element_;
    request.transport = method_.transport;
    request.packing = method_.packing;
    request.watchdog_s = receiver_.patience_s;
    const auto schedule = algorithm::make_schedule(pattern_, algorithm_);
    auto made = mpi::make_plan(*schedule, receiver_.comm, request, mpi::Mismatch::decline);
    if (!made) throw mpi::PlanError("a server makes another plan than the model: " + pattern_->describe());
    return made;
}

}  // namespace tradewind::fieldserver
