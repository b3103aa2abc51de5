// The arrays that callers describe, checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi/plan.hpp"
#include "tradewind/tradewind.h"

namespace tradewind::c {

// Throws InputError.
mpi::Element element_of(std::int32_t element);

// Whether two arrays share bytes. Strided ones may lie in each other's gaps: of them only those that begin at one place
// are known to.
bool overlap(const mpi::Field& a, const mpi::Field& b, mpi::Element element);

// The fields of a plan, all of one type, into `request`; those of a fetch along `axis`, see levels.hpp. Throws
// InputError for what cannot be the array of any rank: no memory, an extent of zero, a wrong number of dimensions,
// strides that are no whole elements, fields that overlap. The plan checks that the shapes are this rank's.
void take_fields(const pattern::Pattern& pattern, int axis, int sources, const tw_field* source, int targets,
                 const tw_field* target, mpi::PlanRequest& request);

// Finds the fields of a request that are on devices, and gives those of each device a copier in the order of the
// caller's `stream` (null: the default one). Throws InputError where a device cannot be used.
void find_devices(const void* stream, mpi::PlanRequest& request);

// A field that is on a device, with a copier in the order of the default stream; none of a field in the host's memory.
// Throws InputError where it cannot be copied from there.
std::optional<mpi::Field> on_device(const std::string& name, const tw_field& field);

}  // namespace tradewind::c
