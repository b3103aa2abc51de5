#include "field.hpp"

#include <map>
#include <optional>

#include "base/error.hpp"
#include "levels.hpp"
#include "mpi/device/copier.hpp"
#include "objects.hpp"

namespace tradewind::c {

namespace {

std::string shape_text(const tw_field& f) {
    std::string text = "(nx, ny, nz) = (";
    for (const int axis : {layout::X, layout::Y, layout::Z})
        text += (axis == layout::X ? "" : ", ") + std::to_string(f.points[axis]);
    return text + ")";
}

void check_dimensions(const pattern::Pattern& pattern, const std::string& name, const tw_field& f) {
    const std::string has =
        name + " has " + std::to_string(f.dimensions) + (f.dimensions == 1 ? " dimension: " : " dimensions: ");
    if (f.dimensions < 1 || f.dimensions > 3) throw InputError(has + "1, 2 and 3 are allowed");
    if (pattern.reduces() && !pattern.has_levels() && f.dimensions != 1)
        throw InputError(has + "a reduction takes vectors, of one");
    if (!pattern.reduces() && !pattern.has_levels() && f.dimensions == 1)
        throw InputError(has + "a " + pattern.name() + " takes arrays over x, y and z, or over x and y of one level");
}

// Elements are read and written as what they are.
Index alignment_of(mpi::Element element) {
    return element == mpi::Element::c8 ? 4 : element == mpi::Element::c16 ? 8 : mpi::bytes_of(element);
}

void check_strides(const std::string& name, const tw_field& f, mpi::Element element) {
    const Index unit = alignment_of(element);
    if (reinterpret_cast<std::uintptr_t>(f.data) % static_cast<std::uintptr_t>(unit) != 0)
        throw InputError(name + " is not aligned: its address is no multiple of " + std::to_string(unit) + " bytes");
    for (const int axis : {layout::X, layout::Y, layout::Z}) {
        if (f.points[axis] == 1) continue;
        if (f.strides[axis] == 0 || f.strides[axis] % mpi::bytes_of(element) != 0)
            throw InputError(name + " has a stride of " + std::to_string(f.strides[axis]) + " bytes along " +
                             layout::axis_names[axis] + ": whole elements of " +
                             std::to_string(mpi::bytes_of(element)) + " bytes, and not 0, are allowed");
    }
}

// A rank may have no point at all of a fetch.
bool is_empty(const tw_field& f) {
    return f.points[layout::X] == 0 || f.points[layout::Y] == 0 || f.points[layout::Z] == 0;
}

void check_extents(const pattern::Pattern& pattern, int axis, const std::string& name, const tw_field& f) {
    for (const int direction : {layout::X, layout::Y, layout::Z}) {
        const bool may_be_none = (pattern.has_levels() && direction == axis) || pattern.may_lack_points();
        const Index minimum = may_be_none ? 0 : 1;
        if (f.points[direction] < minimum)
            throw InputError(name + " has the shape " + shape_text(f) + ": an extent below " + std::to_string(minimum) +
                             " holds no point");
    }
}

mpi::Field of_points(const tw_field& f) {
    return {static_cast<std::byte*>(f.data),
            {f.points[layout::X], f.points[layout::Y], f.points[layout::Z]},
            {f.strides[layout::X], f.strides[layout::Y], f.strides[layout::Z]},
            nullptr};
}

mpi::Field taken(const pattern::Pattern& pattern, int axis, const std::string& name, const tw_field& f,
                 mpi::Element element) {
    if (element_of(f.element) != element)
        throw InputError(name + " has the type " + mpi::name_of(element_of(f.element)) + ", source field 0 " +
                         mpi::name_of(element) + ": all fields of a plan have one type");
    check_extents(pattern, axis, name, f);
    check_dimensions(pattern, name, f);
    if (pattern.has_levels() && axis >= f.dimensions)
        throw InputError("axis " + std::string(1, layout::axis_names[axis]) + " over points: " + name + " has " +
                         std::to_string(f.dimensions) + (f.dimensions == 1 ? " dimension" : " dimensions"));
    if (!is_empty(f)) {
        if (!f.data) throw InputError(name + " has no memory: its data is a null pointer");
        check_strides(name, f, element);
    }
    const mpi::Field field = of_points(f);  // see find_devices
    return pattern.has_levels() ? along_points(field, axis) : field;
}

std::vector<mpi::Field> all_taken(const pattern::Pattern& pattern, int axis, const char* side, int count,
                                  const tw_field* fields, mpi::Element element) {
    std::vector<mpi::Field> taken_fields;
    for (int i = 0; i < count; ++i)
        taken_fields.push_back(
            taken(pattern, axis, std::string(side) + " field " + std::to_string(i), fields[i], element));
    return taken_fields;
}

// The bytes from the first element to the end of the last.
struct Extent {
    std::uintptr_t begin, end;
    bool dense;
};
Extent extent_of(const mpi::Field& f, mpi::Element element) {
    Index below = 0, above = mpi::bytes_of(element), bytes = mpi::bytes_of(element);
    for (const int axis : {layout::X, layout::Y, layout::Z}) {
        const Index reach = (f.shape[axis] - 1) * f.stride[axis];
        (reach < 0 ? below : above) += reach;
        bytes *= f.shape[axis];
    }
    const auto data = reinterpret_cast<std::uintptr_t>(f.data);
    return {data + static_cast<std::uintptr_t>(below), data + static_cast<std::uintptr_t>(above),
            above - below == bytes};
}

// Refuses memory that the plan writes and that overlaps any other.
void check_apart(const mpi::PlanRequest& r, bool in_place) {
    const auto refuse = [&](std::size_t i, const char* side, std::size_t k) {
        throw InputError((in_place ? "source" : "target") + (" field " + std::to_string(i)) + " and " +
                         (in_place ? "source" : side) + " field " + std::to_string(k) +
                         " overlap in memory: the plan writes into the first");
    };
    for (std::size_t i = 0; i < r.target.size(); ++i) {
        for (std::size_t k = i + 1; k < r.target.size(); ++k)
            if (overlap(r.target[i], r.target[k], r.element)) refuse(i, "target", k);
        for (std::size_t k = 0; k < r.source.size() && !in_place; ++k)
            if (overlap(r.target[i], r.source[k], r.element)) refuse(i, "source", k);
    }
}

tw_field described(void* data, int element, const std::array<Index, 3>& points, int dimensions) {
    tw_field field{data, {points[layout::X], points[layout::Y], points[layout::Z]}, {0, 0, 0}, element, dimensions};
    const bool known = element >= TW_F4 && element <= TW_C16;  // what is not, the plan refuses
    Index stride = known ? mpi::element_bytes[static_cast<std::size_t>(element)] : 0;
    for (const int axis : {layout::X, layout::Y, layout::Z}) {
        field.strides[axis] = stride;
        stride *= points[static_cast<std::size_t>(axis)];
    }
    return field;
}

}  // namespace

bool overlap(const mpi::Field& a, const mpi::Field& b, mpi::Element element) {
    for (const int axis : {layout::X, layout::Y, layout::Z})
        if (a.shape[axis] == 0 || b.shape[axis] == 0) return false;
    const Extent one = extent_of(a, element), other = extent_of(b, element);
    if (!one.dense || !other.dense) return a.data == b.data;
    return one.begin < other.end && other.begin < one.end;
}

mpi::Element element_of(std::int32_t element) {
    if (element < TW_F4 || element > TW_C16)
        throw InputError("element type " + std::to_string(element) +
                         ": TW_F4, TW_F8, TW_I4, TW_I8, TW_C8 and TW_C16 are allowed, in Fortran real(4), real(8), "
                         "integer(4), integer(8), complex(4) and complex(8)");
    return static_cast<mpi::Element>(element);
}

void take_fields(const pattern::Pattern& pattern, int axis, int sources, const tw_field* source, int targets,
                 const tw_field* target, mpi::PlanRequest& request) {
    if (sources < 1) throw InputError(std::to_string(sources) + " source fields: one or more are allowed");
    require(source, "source");
    if (pattern.has_levels() && (axis < layout::X || axis > layout::Z))
        throw InputError("axis " + std::to_string(axis) + " over points: 0, 1 and 2 (x, y, z) are allowed");
    const bool in_place = pattern.in_place() || (targets == 0 && pattern.one_array());
    const int wanted = in_place ? 0 : sources;
    if (targets != wanted)
        throw InputError(std::to_string(targets) + " target fields of " + std::to_string(sources) +
                         " source fields: " + std::to_string(wanted) + " are allowed, as a " + pattern.name() +
                         (pattern.in_place() ? " works in place" : " has as many of both"));
    if (targets > 0) require(target, "target");
    request.element = element_of(source[0].element);
    request.source = all_taken(pattern, axis, "source", sources, source, request.element);
    request.target =
        targets > 0 ? all_taken(pattern, axis, "target", targets, target, request.element) : request.source;
    check_apart(request, in_place);
}

void find_devices(const void* stream, mpi::PlanRequest& request) {
    std::map<std::pair<const mpi::Driver*, int>, std::shared_ptr<mpi::Copier>> copiers;
    const std::optional<std::uintptr_t> caller =
        stream ? std::optional(reinterpret_cast<std::uintptr_t>(stream)) : std::nullopt;
    for (auto* const side : {&request.source, &request.target})
        for (mpi::Field& field : *side) {
            const mpi::PointerPlace place = mpi::place_of(field.data);
            if (!place.driver) continue;
            std::shared_ptr<mpi::Copier>& copier = copiers[{place.driver, place.device}];
            if (!copier) copier = mpi::make_device_copier(place.driver->kind(), place.device, caller);
            field.copier = copier;
        }
    if (copiers.empty()) return;
    for (auto* const side : {&request.source, &request.target})
        for (mpi::Field& field : *side)
            if (!field.data) field.copier = copiers.begin()->second;  // an empty one lies nowhere
}

std::optional<mpi::Field> on_device(const std::string& name, const tw_field& field) {
    const mpi::PointerPlace place = mpi::place_of(field.data);
    if (!place.driver) return std::nullopt;
    check_strides(name, field, element_of(field.element));
    mpi::Field found = of_points(field);
    found.copier = mpi::make_device_copier(place.driver->kind(), place.device, std::nullopt);
    return found;
}

}  // namespace tradewind::c

tw_field tw_dense(void* data, int element, int64_t nx, int64_t ny, int64_t nz) {
    return tradewind::c::described(data, element, {nx, ny, nz}, 3);
}

tw_field tw_vector(void* data, int element, int64_t count) {
    return tradewind::c::described(data, element, {count, 1, 1}, 1);
}

tw_field tw_field_f(int element, int dimensions, const int64_t points[3], const int64_t strides[3], void* data) {
    return {data, {points[0], points[1], points[2]}, {strides[0], strides[1], strides[2]}, element, dimensions};
}
