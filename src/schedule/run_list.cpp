#include "schedule/run_list.hpp"

#include "schedule/schedule.hpp"

namespace tradewind::schedule {

void append_pieces(const RunList& list, const layout::Box& array, std::vector<Piece>& pieces, std::size_t maximum) {
    if (!list.runs) return;
    for (const pattern::Runs::Kind& kind : list.runs->kinds()) {
        const std::span<const Index> places = (kind.*list.places)();
        for (std::size_t i = 0; i < kind.runs; ++i, --maximum) {
            if (maximum == 0) return;
            Piece& piece = pieces.emplace_back(Piece{list.buffer, array});
            piece.box.begin[layout::X] += places[i];
            piece.box.end[layout::X] = piece.box.begin[layout::X] + kind.length;
        }
    }
}

}  // namespace tradewind::schedule
