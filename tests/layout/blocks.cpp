#include "layout/blocks.hpp"

#include "base/error.hpp"
#include "testing/testing.hpp"

namespace testing::blocks {

using namespace tradewind;
using layout::Blocks, layout::Grid;

TEST("a split that leaves a part empty is refused with direction, parts and points") {
    CHECK_THROWS(InputError, ({"x", "5", "4"}), Blocks(Grid{4, 9, 2}, {5, 1}));
}

}  // namespace testing::blocks
