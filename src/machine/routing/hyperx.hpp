// HyperX, complete graph and hypercube: one dimension after another, one link in each.
#pragma once

#include <vector>

#include "base/divide.hpp"
#include "machine/routing/packet.hpp"
#include "machine/topology/hyperx.hpp"

namespace tradewind::machine {

// A path takes links of ever higher dimensions, so one virtual channel is enough. Of parallel links a hash picks one.
class HyperXPaths {
  public:
    explicit HyperXPaths(const HyperX& hyperx) : links_(hyperx.links()), switches_(hyperx.switches()) {
        for (std::size_t d = 0; d < hyperx.shape().size(); ++d) {
            by_shape_.emplace_back(hyperx.shape()[d]);
            first_port_.push_back(hyperx.first_port(d));
        }
    }

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const {
        for (std::uint32_t d = 0;; ++d) {
            const Divider& n = by_shape_[d];
            const std::uint32_t above = n.quotient(sw), dst_above = n.quotient(dst_sw);
            const std::uint32_t there = dst_sw - dst_above * n.divisor();
            if (sw - above * n.divisor() != there)
                return first_port_[d] + there * links_[d] + memory::pick(m, d, links_[d]);
            sw = above;
            dst_sw = dst_above;
        }
    }
    std::uint32_t length(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const {
        std::uint32_t links = 0;
        for (const Divider& n : by_shape_) {
            links += n.remainder(sw) != n.remainder(dst_sw);
            sw = n.quotient(sw);
            dst_sw = n.quotient(dst_sw);
        }
        return links;
    }

    int channels() const { return 1; }
    std::uint32_t channel(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) const { return 0; }

    bool are_close(std::uint32_t, std::uint32_t) const { return false; }
    std::uint32_t stop(std::uint32_t, std::uint32_t m, bool) const {
        return scale_to(static_cast<std::uint32_t>(mix(m) >> 32), switches_);
    }

  private:
    std::vector<Divider> by_shape_;
    std::vector<std::uint32_t> first_port_, links_;
    std::uint32_t switches_;
};

}  // namespace tradewind::machine
