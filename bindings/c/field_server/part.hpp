// Parts of fields between arrays of a model and memory without gaps.
#pragma once

#include <cstddef>
#include <string>

#include "handover.hpp"
#include "tradewind/tradewind.h"

namespace tradewind::c {

// An array of the model as this rank's part of a field of a form: bytes from a point to the next one along each
// direction of the form.
struct ModelPart {
    std::byte* data;
    std::array<Index, 3> shape, strides;
    Index unit;

    // One of its levels, which lie along `axis`.
    ModelPart level(std::size_t axis, Index place) const;
};

// `axis`: of listed points, the direction of the array that is over points. Throws InputError for another shape or
// type.
ModelPart part_of(const std::string& name, const FieldForm& form, int axis, int rank, const tw_field* values);

void copy_out(const ModelPart& from, std::byte* to);
void copy_in(const std::byte* from, const ModelPart& to);

}  // namespace tradewind::c
