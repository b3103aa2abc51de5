// Points of one rank for the ranks of another node, each point once.
#pragma once

#include "algorithm/halo_parcel.hpp"
#include "algorithm/node_traffic.hpp"

namespace tradewind::algorithm {

// The parcels of one sender, which may overlap, cut along all their edges; the tiles row by row, whatever the order of
// the parcels.
std::vector<Tile> cut(const std::vector<Parcel>& parcels);

// Each parcel a tile.
std::vector<Tile> whole(const std::vector<Parcel>& parcels);

}  // namespace tradewind::algorithm
