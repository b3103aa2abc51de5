#include "mpi/packing/run_copies.hpp"

namespace tradewind::mpi {

void append_run_copies(const pattern::Runs& runs, const RunMemory& from, const RunMemory& to,
                       std::array<Index, 2> levels, Index element, Stores stores, std::vector<StridedCopy>& copies) {
    if (levels[0] * levels[1] == 0) return;
    const std::array<Index, 3> buffer = dense_strides({runs.points(), levels[0], levels[1]}, element);
    Index done = 0;  // bytes of the kinds before
    for (const pattern::Runs::Kind& kind : runs.kinds()) {
        const auto count = static_cast<Index>(kind.runs);
        const auto first = [&](const RunMemory& memory) {
            return count == 1 && memory.places ? (kind.*memory.places)()[0] : 0;  // which needs no list
        };
        const auto view = [&](const RunMemory& memory) {
            if (!memory.places) return View{memory.data + done, buffer, memory.copier};
            return View{memory.data + first(memory) * memory.stride[layout::X], memory.stride, memory.copier};
        };
        const auto along = [&](const RunMemory& memory) {
            if (!memory.places) return Places{nullptr, kind.length * element};
            return Places{(kind.*memory.places)().data(), memory.stride[layout::X]};
        };
        StridedCopy& copy =
            copies.emplace_back(make_copy(view(from), view(to), {kind.length, levels[0], levels[1]}, element, stores));
        if (count > 1) repeat_at(copy, along(from), along(to), count);
        done += kind.length * count * element;
    }
}

}  // namespace tradewind::mpi
