// Properties of patterns that algorithms, plans and the simulator ask for.
#include "pattern/pattern.hpp"

#include "algorithm/method.hpp"
#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::pattern_pattern {

using namespace tradewind;
using pattern::Collective;

PROPERTY("groups, collectives and levels of any pattern", 500) {
    static const std::vector<std::string> names{"halo", "fetch", "gather-scatter", "allreduce", "transpose"};
    const auto pattern = draw_pattern(draw, draw.from(names));
    CHECK_EQUAL(algorithm::native_refusal(*pattern) == "", pattern->collective() != Collective::none);
    CHECK(pattern->collective() != Collective::reduction || pattern->reduces());
    if (pattern->has_levels()) {
        const auto deeper = pattern->for_levels({4, 3});
        CHECK_EQUAL(deeper->name(), pattern->name());
        CHECK_EQUAL(deeper->one_array(), pattern->one_array());
        CHECK_EQUAL(deeper->source_box(0).width(0), pattern->source_box(0).width(0));
        CHECK(deeper->source_box(0).width(1) == 4 && deeper->source_box(0).width(2) == 3);
    } else {
        CHECK_THROWS(InputError, ({"levels of a " + pattern->name() + ": a fetch and its adjoint have them"}),
                     pattern->for_levels({4, 3}));
    }
    CHECK_EQUAL(pattern->ends_alike(), pattern->name() != "transpose");
    if (pattern->name() == "transpose") return;  // see transpose.cpp and redistribution.cpp
    for (Rank rank = 0; rank < pattern->ranks(); ++rank) CHECK_EQUAL(pattern->group(rank), 0);
    CHECK_EQUAL(pattern->largest_group(), pattern->ranks());
}

}  // namespace testing::pattern_pattern
