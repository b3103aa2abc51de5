// Slim Fly: at most two links.
#pragma once

#include <memory>

#include "machine/routing/packet.hpp"
#include "machine/topology/slimfly.hpp"

namespace tradewind::machine {

// The last link of a path is on channel 1, one before it on channel 0.
class SlimFlyPaths {
  public:
    explicit SlimFlyPaths(const SlimFly& network) : network_(std::make_shared<SlimFly>(network)) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const {
        return network_->towards(sw, dst_sw);
    }
    std::uint32_t length(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const {
        return static_cast<std::uint32_t>(network_->distance(sw, dst_sw).local);
    }

    int channels() const { return 2; }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t) const {
        return network_->adjacent(sw, dst_sw) ? 1 : 0;
    }

    bool are_close(std::uint32_t, std::uint32_t) const { return false; }
    std::uint32_t stop(std::uint32_t, std::uint32_t m, bool) const {
        return scale_to(static_cast<std::uint32_t>(mix(m) >> 32), network_->switches());
    }

  private:
    std::shared_ptr<const SlimFly> network_;
};

}  // namespace tradewind::machine
