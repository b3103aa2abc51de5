#include "layout/columns.hpp"

namespace tradewind {

Columns::Columns(const Blocks& layout) : nx_(layout.grid().points[X]), x_(places(layout, X)), y_(places(layout, Y)) {}

std::vector<Columns::Place> Columns::places(const Blocks& layout, int axis) {
    const Division& division = layout.division(axis);
    const int coordinate = layout.coordinate_of(axis);
    std::vector<Place> places;
    places.reserve(static_cast<std::size_t>(division.points()));
    for (Index part = 0; part < division.parts(); ++part) {
        std::array<Index, 2> coordinates{0, 0};
        if (coordinate >= 0) coordinates[static_cast<std::size_t>(coordinate)] = part;
        for (Index offset = 0; offset < division.width(part); ++offset)
            places.push_back({layout.rank_at(coordinates), offset, division.width(part)});
    }
    return places;
}

}  // namespace tradewind
