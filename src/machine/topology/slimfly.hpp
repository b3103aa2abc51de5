#pragma once

#include "machine/topology/finite_field.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// A Slim Fly (Besta & Hoefler 2014): the McKay-Miller-Siran graph over the field of q = 4 w + d elements, d one of -1,
// 0, 1 (Hafner 2004 gives the generator sets): 2 q^2 switches of (3 q - d) / 2 links, any two at most two links apart.
//
// Switch s * q^2 + x * q + y is (s, x, y). (0, x, y) is joined to (0, x, y') where y' - y is one of the generators X of
// side 0, (1, m, c) to (1, m, c') where c' - c is one of side 1, and (0, x, y) to (1, m, c) where y = m x + c.
// Ports: one for each generator, then one for each x (or m) of the other side, then the nodes.
class SlimFly : public Topology {
  public:
    SlimFly(std::uint32_t q, std::uint32_t nodes_per_switch);

    std::string name() const override { return "slimfly"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return 2 * q_ * q_; }
    std::uint32_t radix() const override { return first_terminal() + nodes_per_switch_; }
    std::uint32_t nodes() const override { return switches() * nodes_per_switch_; }
    std::uint32_t nodes_per_switch() const override { return nodes_per_switch_; }
    std::uint32_t first_terminal() const override { return first_across() + q_; }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override;

    // The port on a shortest path to another switch.
    std::uint32_t towards(std::uint32_t from, std::uint32_t to) const;
    bool adjacent(std::uint32_t from, std::uint32_t to) const;

  private:
    struct Vertex {
        std::uint32_t side, x, y;
    };
    Vertex vertex(std::uint32_t switch_id) const {
        return {switch_id / (q_ * q_), switch_id / q_ % q_, switch_id % q_};
    }
    std::uint32_t number(std::uint32_t side, std::uint32_t x, std::uint32_t y) const {
        return side * q_ * q_ + x * q_ + y;
    }
    std::uint32_t first_across() const { return static_cast<std::uint32_t>(generators_[0].size()); }
    // The y of the switch with that x, on the other side, that a switch is joined to.
    std::uint32_t across(const Vertex& v, std::uint32_t x) const;
    bool is_generator(std::uint32_t side, std::uint32_t difference) const { return port_by_[side][difference] != none; }
    void find_first_steps();

    static constexpr std::uint16_t none = 0xffff;

    std::uint32_t q_, nodes_per_switch_;
    FiniteField field_;
    std::vector<std::uint16_t> generators_[2];  // [side]
    std::vector<std::uint16_t> port_by_[2];     // [side][difference]: the port of this generator, or none
    std::vector<std::uint16_t> first_step_[2];  // [side][difference]: the port of one of two generators with this sum
};

}  // namespace tradewind::machine
