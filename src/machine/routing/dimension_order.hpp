// Torus: one dimension after another, the shorter way round; halfway round goes forward.
#pragma once

#include <vector>

#include "machine/routing/packet.hpp"
#include "machine/topology/torus.hpp"

namespace tradewind {

class DimensionOrder {
  public:
    static constexpr bool adaptive = false, spreads = false;

    explicit DimensionOrder(const Torus& torus) : shape_(torus.shape()) {
        coordinates_.resize(torus.switches());
        for (std::uint32_t s = 0; s < torus.switches(); ++s)
            for (std::size_t d = 0; d < shape_.size(); ++d)
                coordinates_[s] |= static_cast<std::uint64_t>(torus.coordinate(s, d)) << (10 * d);
    }

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t&) const {
        std::uint64_t here = coordinates_[sw], there = coordinates_[dst_sw];
        std::uint32_t d = 0;
        for (; ((here ^ there) & 1023) == 0; ++d) {
            here >>= 10;
            there >>= 10;
        }
        const std::uint32_t n = shape_[d];
        std::uint32_t ahead = static_cast<std::uint32_t>(there & 1023) + n - static_cast<std::uint32_t>(here & 1023);
        if (ahead >= n) ahead -= n;
        return 2 * d + (2 * ahead > n ? 1 : 0);
    }

  private:
    std::vector<std::uint32_t> shape_;
    std::vector<std::uint64_t> coordinates_;  // 10 bits a dimension
};

}  // namespace tradewind
