// Parts of fields between arrays of a model and memory without gaps.
#pragma once

#include <cstddef>
#include <string>

#include "fieldserver/handover.hpp"

namespace tradewind::fieldserver {

// An array of a model, with any strides. `memory`: shared memory in which it lies, if any.
struct ModelArray {
    std::byte* data = nullptr;
    mpi::Element element = mpi::Element::f8;
    std::array<Index, 3> points{}, strides{};  // strides in bytes
    std::shared_ptr<const void> memory{};
};

// This rank's part of a field. Throws InputError for another shape or type.
ModelPart part_of(const std::string& name, const FieldForm& form, int rank, const ModelArray& values);

// Throws InputError for an array that MPI cannot take from as it lies: strides that are no whole elements.
void require_whole_strides(const std::string& name, const ModelPart& part);

// Copies between parts of one shape, of which `to`, or `from`, lies in memory without gaps.
void copy_out(const ModelPart& from, const ModelPart& to);
void copy_in(const ModelPart& from, const ModelPart& to);

}  // namespace tradewind::fieldserver
