// Torus: one dimension after another, the shorter way round; halfway round goes forward.
#pragma once

#include <vector>

#include "base/prefetch.hpp"
#include "machine/routing/packet.hpp"
#include "machine/topology/torus.hpp"

namespace tradewind::machine {

// Two virtual channels (Dally & Seitz 1987): a packet is on channel 0 as long as it has the link that closes the ring
// still before it in this dimension, else on channel 1. No path is longer than the way round, so channel 1 of that link
// is never used, and channel 0 never after it.
class TorusPaths {
  public:
    explicit TorusPaths(const Torus& torus) : shape_(torus.shape()), switches_(torus.switches()) {
        coordinates_.resize(torus.switches());
        for (std::uint32_t s = 0; s < torus.switches(); ++s)
            for (std::size_t d = 0; d < shape_.size(); ++d)
                coordinates_[s] |= static_cast<std::uint64_t>(torus.coordinate(s, d)) << (10 * d);
    }

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const {
        std::uint64_t here = coordinates_[sw], there = coordinates_[dst_sw];
        std::uint32_t d = 0;
        for (; ((here ^ there) & 1023) == 0; ++d) {
            here >>= 10;
            there >>= 10;
        }
        const std::uint32_t n = shape_[d];
        return 2 * d + (2 * ahead(here, there, n) > n ? 1 : 0);
    }
    std::uint32_t length(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const {
        std::uint64_t here = coordinates_[sw], there = coordinates_[dst_sw];
        std::uint32_t links = 0;
        for (const std::uint32_t n : shape_) {
            const std::uint32_t forward = ahead(here, there, n);
            links += 2 * forward > n ? n - forward : forward;
            here >>= 10;
            there >>= 10;
        }
        return links;
    }

    int channels() const { return 2; }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t port, std::uint32_t) const {
        const std::uint32_t shift = port / 2 * 10;
        const std::uint32_t here = coordinates_[sw] >> shift & 1023, there = coordinates_[dst_sw] >> shift & 1023;
        return port % 2 == 0 ? there > here : there < here;
    }

    void prefetch(std::uint32_t sw, std::uint32_t dst_sw) const {
        prefetch_to_read(&coordinates_[sw]);
        prefetch_to_read(&coordinates_[dst_sw]);
    }

    bool are_close(std::uint32_t, std::uint32_t) const { return false; }
    std::uint32_t stop(std::uint32_t, std::uint32_t m, bool) const {
        return scale_to(static_cast<std::uint32_t>(mix(m) >> 32), switches_);
    }

  private:
    static std::uint32_t ahead(std::uint64_t here, std::uint64_t there, std::uint32_t n) {
        const std::uint32_t ahead =
            static_cast<std::uint32_t>(there & 1023) + n - static_cast<std::uint32_t>(here & 1023);
        return ahead >= n ? ahead - n : ahead;
    }

    std::vector<std::uint32_t> shape_;
    std::uint32_t switches_;
    std::vector<std::uint64_t> coordinates_;  // 10 bits per dimension
};

}  // namespace tradewind::machine
