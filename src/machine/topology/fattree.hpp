#pragma once

#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// An extended generalized fat-tree (Ohring, Ibel, Das & Kumar 1995) of `levels` levels: a switch of level l has m_l
// downlinks (to nodes, at the lowest level 0) and u_l uplinks (none at the top). With m_l = u_l = k everywhere it is a
// k-ary n-tree (Petrini & Vanneschi 1997), with u_l < m_l a tapered one.
//
// A switch of level l has a digit for each pair of neighbouring levels: digit i, below level i + 1, is the child that
// it is below (base m_{i+1}) where l <= i, and which of the parents (base u_i) where l > i. Going up from level l by
// port m_l + j replaces digit l by j, so that every digit can be mended on the way down. Digit 0 is the lowest of the
// switch's number in its level; levels follow one another.
class FatTree : public Topology {
  public:
    // `down` has a number for each level, `up` for each but the top one.
    FatTree(std::vector<std::uint32_t> down, std::vector<std::uint32_t> up);

    std::string name() const override { return "fattree"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return first_.back(); }
    std::uint32_t radix() const override { return radix_; }
    std::uint32_t nodes() const override { return first_[1] * down_[0]; }
    std::uint32_t nodes_per_switch() const override { return down_[0]; }
    std::uint32_t first_terminal() const override { return 0; }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override;

    std::uint32_t levels() const { return static_cast<std::uint32_t>(down_.size()); }
    std::uint32_t down_ports(std::uint32_t level) const { return down_[level]; }
    std::uint32_t up_ports(std::uint32_t level) const { return level < up_.size() ? up_[level] : 0; }
    std::uint32_t first(std::uint32_t level) const { return first_[level]; }  // switch of a level
    std::uint32_t level(std::uint32_t switch_id) const;

  private:
    // The number of values of a digit of the switches of a level.
    std::uint32_t base(std::uint32_t level, std::uint32_t digit) const {
        return level <= digit ? down_[digit + 1] : up_[digit];
    }
    std::uint32_t stride(std::uint32_t level, std::uint32_t digit) const { return stride_[level * levels() + digit]; }
    // The number of w, of a level, in the next level up or down once the digit between them is `value`.
    std::uint32_t moved(std::uint32_t w, std::uint32_t level, std::uint32_t to_level, std::uint32_t digit,
                        std::uint32_t value) const;

    std::vector<std::uint32_t> down_, up_;
    std::vector<std::uint32_t> stride_;  // [level][digit], and the switches of a level
    std::vector<std::uint32_t> first_;   // [level], and of the level above the top
    std::uint32_t radix_ = 0;
};

}  // namespace tradewind::machine
