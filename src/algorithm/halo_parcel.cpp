#include "algorithm/halo_parcel.hpp"

#include <limits>

#include "base/error.hpp"

namespace tradewind {

void copy_parcels(const Halo& halo, Rank rank, std::vector<Copy>& copies) {
    Parcels(halo, rank)
        .each_sent([&](Rank receiver) { return receiver == rank; },
                   [&](const Parcel& parcel) {
                       copies.push_back({{Buffer::source, parcel.at_sender}, {Buffer::target, parcel.at_receiver}});
                   });
}

void refuse_far_halo(const Halo& halo, const std::string& algorithm) {
    if (folded_bound(halo, X) > std::numeric_limits<std::int32_t>::max() / folded_bound(halo, Y))
        throw InputError(algorithm + ": a halo of width " + std::to_string(halo.width()) +
                         " reaches more ranks than one stage can hold; use sweep");
}

}  // namespace tradewind
