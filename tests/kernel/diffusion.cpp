// The loop of diffusion against a plain one, bit for bit, on regions and threads.
#include "kernel/diffusion/diffusion.hpp"

#include <limits>

#include "base/error.hpp"
#include "testing/testing.hpp"

namespace testing::diffusion {

using namespace tradewind;
using kernel::Team;

template <class Real>
void check(Draw& draw) {
    const Index levels = draw.integer(1, 5), ny = draw.integer(1, 30), nx = draw.integer(1, 140);
    const Index columns = nx + 4, rows = ny + 4;
    std::vector<Real> field(static_cast<std::size_t>(levels * rows * columns));
    std::uint64_t seed = static_cast<std::uint64_t>(draw.integer(0, 1000));
    for (auto& value : field)
        value = static_cast<Real>(static_cast<double>((seed = seed * 6364136223846793005u + 1) >> 40) * 1e-7 - 0.8);
    layout::Box region{{2, 2, 0}, {nx + 2, ny + 2, levels}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        region.begin[axis] = draw.integer(region.begin[axis], region.end[axis]);
        region.end[axis] = draw.integer(region.begin[axis], region.end[axis]);
    }
    const Real unwritten = std::numeric_limits<Real>::infinity(), alpha = Real(1) / 32;
    std::vector<Real> target(field.size(), unwritten);
    Team team(static_cast<int>(draw.integer(1, 5)));
    kernel::diffuse<Real>({field.data(), {columns, rows, levels}}, {target.data(), {columns, rows, levels}}, region,
                          1.0 / 32, team);
    const auto laplacian = [&](const Real* at) {
        return ((at[-1] + at[1]) + (at[-columns] + at[columns])) - Real(4) * at[0];
    };
    for (Index i = 0; i < levels * rows * columns; ++i) {
        const std::array<Index, 3> point{i % columns, i / columns % rows, i / columns / rows};
        bool inside = true;
        for (std::size_t axis = 0; axis < 3; ++axis)
            inside &= region.begin[axis] <= point[axis] && point[axis] < region.end[axis];
        Real expected = unwritten;
        if (inside) {
            const Real* at = field.data() + i;
            const Real twice =
                ((laplacian(at - 1) + laplacian(at + 1)) + (laplacian(at - columns) + laplacian(at + columns))) -
                Real(4) * laplacian(at);
            expected = at[0] - alpha * twice;
        }
        CHECK_EQUAL(target[static_cast<std::size_t>(i)], expected);
    }
}

PROPERTY("a step of diffusion has the bits of a plain loop, and writes nothing but its region", 80) {
    check<float>(draw);
    check<double>(draw);
}

TEST("regions and arrays that cannot be are refused") {
    std::vector<double> in(2 * 9 * 8), out(in.size());
    Team team(1);
    const kernel::Array<const double> from{in.data(), {8, 9, 2}};
    const auto refused = [&](std::string_view words, kernel::Array<double> to, const layout::Box& region) {
        CHECK_THROWS(InputError, {words}, kernel::diffuse<double>(from, to, region, 0.1, team));
    };
    const kernel::Array<double> to{out.data(), {8, 9, 2}};
    refused("region y 1:5 of an array of 8 x 9 x 2 points: 2 points around it", to, {{2, 1, 0}, {5, 5, 2}});
    refused("region x 2:7", to, {{2, 2, 0}, {7, 5, 2}});
    refused("arrays of 8 x 9 x 2 and 8 x 9 x 1 points", {out.data(), {8, 9, 1}}, {{2, 2, 0}, {6, 7, 1}});
    std::vector<double> longer(in.size() + 1);
    for (const std::size_t apart : {0, 1}) {
        CHECK_THROWS(InputError, ({"overlap in memory"}),
                     kernel::diffuse<double>({longer.data(), {8, 9, 2}}, {longer.data() + apart, {8, 9, 2}},
                                             {{2, 2, 0}, {6, 7, 2}}, 0.1, team));
    }
}

}  // namespace testing::diffusion
