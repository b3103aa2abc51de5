// Parts of fields between arrays of a model and memory without gaps.
#pragma once

#include <cstddef>
#include <string>

#include "handover.hpp"
#include "tradewind/tradewind.h"

namespace tradewind::c {

// `axis`: of listed points, the direction of the array that is over points. Throws InputError for another shape or
// type.
ModelPart part_of(const std::string& name, const FieldForm& form, int axis, int rank, const tw_field* values);

// Throws InputError for an array that MPI cannot take from as it lies: strides that are no whole elements.
void require_whole_strides(const std::string& name, const ModelPart& part);

void copy_out(const ModelPart& from, std::byte* to);
void copy_in(const std::byte* from, const ModelPart& to);

}  // namespace tradewind::c
