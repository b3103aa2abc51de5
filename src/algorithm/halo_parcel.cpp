#include "algorithm/halo_parcel.hpp"

#include <limits>

#include "base/error.hpp"

namespace tradewind::algorithm {

void copy_parcels(const pattern::Halo& halo, Rank rank, std::vector<schedule::Copy>& copies) {
    Parcels(halo, rank)
        .each_sent([&](Rank receiver) { return receiver == rank; },
                   [&](const Parcel& parcel) {
                       copies.push_back({{schedule::Buffer::source, parcel.at_sender},
                                         {schedule::Buffer::target, parcel.at_receiver}});
                   });
}

void refuse_far_halo(const pattern::Halo& halo, const std::string& algorithm) {
    if (folded_bound(halo, layout::X) > std::numeric_limits<std::int32_t>::max() / folded_bound(halo, layout::Y))
        throw InputError(algorithm + ": a halo of width " + std::to_string(halo.width()) +
                         " reaches more ranks than one stage can hold; use sweep");
}

}  // namespace tradewind::algorithm
