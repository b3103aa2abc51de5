// What one rank has for the ranks of another node, each point once.
#pragma once

#include "algorithm/halo_parcel.hpp"

namespace tradewind {

// Points of one rank that the same ranks want.
struct Tile {
    struct Want {
        Rank receiver;
        Box at_receiver;
    };
    Box at_sender;
    std::vector<Want> wants;  // a rank may want them in several places, across seams
};

// The parcels of one sender, which may overlap, cut along all their edges; the tiles row by row, whatever the order of
// the parcels.
std::vector<Tile> cut(const std::vector<Parcel>& parcels);

// Each parcel a tile.
std::vector<Tile> whole(const std::vector<Parcel>& parcels);

}  // namespace tradewind
