#include "algorithm/halo_tile.hpp"

#include <set>

namespace tradewind::algorithm {

namespace {

std::vector<Index> edges(const std::vector<Parcel>& parcels, int axis) {
    std::set<Index> found;
    for (const Parcel& parcel : parcels) found.insert({parcel.at_sender.begin[axis], parcel.at_sender.end[axis]});
    return {found.begin(), found.end()};
}

// The same points as those of `tile`, in the receiver's array.
layout::Box at_receiver(const Parcel& parcel, const layout::Box& tile) {
    layout::Box box = tile;
    for (const int axis : {layout::X, layout::Y})
        box = layout::shifted(box, axis, parcel.at_receiver.begin[axis] - parcel.at_sender.begin[axis]);
    return box;
}

}  // namespace

std::vector<Tile> cut(const std::vector<Parcel>& parcels) {
    std::vector<Tile> tiles;
    const std::vector<Index> x = edges(parcels, layout::X), y = edges(parcels, layout::Y);
    for (std::size_t j = 0; j + 1 < y.size(); ++j)
        for (std::size_t i = 0; i + 1 < x.size(); ++i) {
            Tile tile{parcels.front().at_sender, {}};
            tile.at_sender.begin = {x[i], y[j], tile.at_sender.begin[layout::Z]};
            tile.at_sender.end = {x[i + 1], y[j + 1], tile.at_sender.end[layout::Z]};
            for (const Parcel& parcel : parcels)
                if (parcel.at_sender.contains(tile.at_sender))
                    tile.wants.push_back({parcel.receiver, at_receiver(parcel, tile.at_sender)});
            if (!tile.wants.empty()) tiles.push_back(std::move(tile));
        }
    return tiles;
}

std::vector<Tile> whole(const std::vector<Parcel>& parcels) {
    std::vector<Tile> tiles;
    for (const Parcel& parcel : parcels) tiles.push_back({parcel.at_sender, {{parcel.receiver, parcel.at_receiver}}});
    return tiles;
}

}  // namespace tradewind::algorithm
