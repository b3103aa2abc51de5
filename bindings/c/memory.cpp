// Arrays in memory that the ranks of a node share.
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "field.hpp"
#include "objects.hpp"

namespace tradewind::c {

namespace {

struct Given {
    std::mutex mutex;
    std::map<const std::byte*, std::shared_ptr<mpi::SharedMemory>> all;  // by the address of the data
};
Given& given() {
    static auto& kept = *new Given;  // it may be in use until the process ends
    return kept;
}

tw_field new_field(const pattern::Pattern& pattern, int side, int rank, int element) {
    const Index bytes = mpi::bytes_of(element_of(element));
    const layout::Box box = box_of(pattern, side, rank);
    auto memory = std::make_shared<mpi::SharedMemory>(std::max<Index>(box.volume(), 1) * bytes);
    const std::lock_guard<std::mutex> lock(given().mutex);
    given().all[memory->data()] = memory;
    if (pattern.reduces() && !pattern.has_levels()) return tw_vector(memory->data(), element, box.width(layout::X));
    return tw_dense(memory->data(), element, box.width(layout::X), box.width(layout::Y), box.width(layout::Z));
}

}  // namespace

std::shared_ptr<mpi::SharedMemory> memory_of(const void* data) {
    const std::lock_guard<std::mutex> lock(given().mutex);
    const auto* place = static_cast<const std::byte*>(data);
    auto after = given().all.upper_bound(place);
    if (after == given().all.begin()) return nullptr;
    const auto& memory = std::prev(after)->second;
    return place < memory->data() + memory->bytes() ? memory : nullptr;
}

}  // namespace tradewind::c

using namespace tradewind;
using namespace tradewind::c;

tw_status tw_empty(tw_pattern pattern, int side, int rank, int element, tw_field* field) {
    return guarded([&] {
        require(field, "field");
        *field = new_field(*patterns().at(pattern.id), side, rank, element);
    });
}

tw_status tw_release(void* data) {
    return guarded([&] {
        std::shared_ptr<mpi::SharedMemory> last;  // gone after the lock
        const std::lock_guard<std::mutex> lock(given().mutex);
        const auto found = given().all.find(static_cast<const std::byte*>(data));
        if (found == given().all.end())
            throw HandleError("no memory of tw_empty begins at this address: it was never given, or has been released");
        last = std::move(found->second);
        given().all.erase(found);
    });
}
