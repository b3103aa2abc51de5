// Dragonfly: its shortest paths, and the steps of routings by way of a random group (dragonfly_by_group.hpp).
#pragma once

#include "base/divide.hpp"
#include "base/random.hpp"
#include "machine/routing/packet.hpp"
#include "machine/topology/dragonfly.hpp"

namespace tradewind::machine {

// Shortest paths (see straight.hpp), and steps that the routings by group are made of. In a group a path goes along the
// row, then along the column; one fixed global link leads between the groups of a pair of nodes. The memory of routings
// by group: two bits of state, 14 bits that name the intermediate group or switch, 16 random bits that pick one of the
// parallel global links.
class DragonflyPaths {
  public:
    explicit DragonflyPaths(const Dragonfly& d)
        : columns_(d.columns()),
          groups_(d.groups()),
          first_global_(d.first_global()),
          links_(d.group_links()),
          size_(d.group_size()),
          switches_(d.switches()),
          by_size_(size_),
          by_columns_(columns_) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const {
        return minimal(at(sw), at(dst_sw), m);
    }
    std::uint32_t length(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const {
        return minimal_length(at(sw), at(dst_sw), m);
    }

    // One for each group. Row before column leads round no circle in a group.
    int channels() const { return 2; }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t) const {
        return are_close(sw, dst_sw);
    }

    bool are_close(std::uint32_t sw, std::uint32_t dst_sw) const { return at(sw).group == at(dst_sw).group; }
    std::uint32_t stop(std::uint32_t dst_sw, std::uint32_t m, bool close) const {
        const auto random = static_cast<std::uint32_t>(mix(m) >> 32);
        if (!close) return scale_to(random, switches_);
        return at(dst_sw).group * size_ + scale_to(random, size_);
    }

  protected:
    enum State : std::uint32_t { to_group = 0, to_destination = 1, to_switch = 2 };
    static State state(std::uint32_t m) { return static_cast<State>(m >> 30); }
    static std::uint32_t via(std::uint32_t m) { return (m >> 16) & 0x3fff; }
    static std::uint32_t pack(State s, std::uint32_t via, std::uint32_t m) {
        return s << 30 | via << 16 | (m & 0xffff);
    }

    struct Position {
        std::uint32_t group, place;  // in the group, row by row
    };
    // Computed, as the gates of global links are: tables would not fit the caches where switches or their links are
    // many, and took a third of a simulation's time.
    Position at(std::uint32_t number) const {
        const std::uint32_t group = by_size_.quotient(number);
        return {group, number - group * size_};
    }
    std::uint32_t row(std::uint32_t place) const { return by_columns_.quotient(place); }

    std::uint32_t within(const Position& here, const Position& there) const {
        const std::uint32_t there_row = row(there.place), there_column = there.place - there_row * columns_;
        return here.place - row(here.place) * columns_ != there_column ? there_column : columns_ + there_row;
    }
    std::uint32_t steps(const Position& a, const Position& b) const {
        const std::uint32_t a_row = row(a.place), b_row = row(b.place);
        return (a_row != b_row) + (a.place - a_row * columns_ != b.place - b_row * columns_);
    }

    // Which of the parallel links a packet takes from one group to another.
    std::uint32_t pick(std::uint32_t m, std::uint32_t from_group, std::uint32_t to_group) const {
        return memory::pick(m, links_.ahead(from_group, to_group), links_.pairs());
    }
    std::uint32_t towards_group(const Position& here, std::uint32_t group, std::uint32_t m) const {
        const auto gate = links_.gate(pick(m, here.group, group), here.group, group);
        return here.place == gate.holder ? first_global_ + gate.slot : within(here, {here.group, gate.holder});
    }
    std::uint32_t minimal(const Position& here, const Position& there, std::uint32_t m) const {
        return here.group == there.group ? within(here, there) : towards_group(here, there.group, m);
    }
    // Links from a place to a group, and the place where one arrives there.
    std::uint32_t cross(Position& here, std::uint32_t group, std::uint32_t m) const {
        const std::uint32_t link = pick(m, here.group, group);
        const std::uint32_t count = steps(here, {here.group, links_.gate(link, here.group, group).holder}) + 1;
        here = {group, links_.gate(link, group, here.group).holder};
        return count;
    }
    std::uint32_t minimal_length(Position here, const Position& there, std::uint32_t m) const {
        const std::uint32_t count = here.group == there.group ? 0 : cross(here, there.group, m);
        return count + steps(here, there);
    }

    // Draws the intermediate group of a packet between groups, or the intermediate switch of one within its group.
    std::uint32_t draw(const Position& here, const Position& there, std::uint32_t m) const {
        const std::uint32_t random = static_cast<std::uint32_t>(mix(m & memory::random_bits));
        if (here.group == there.group) return pack(to_switch, scale_to(random, size_), m);
        if (groups_ == 2) return pack(to_destination, 0, m);
        std::uint32_t group = scale_to(random, groups_ - 2);  // of those that are neither here nor there
        const std::uint32_t low = here.group < there.group ? here.group : there.group;
        const std::uint32_t high = here.group < there.group ? there.group : here.group;
        if (group >= low) ++group;
        if (group >= high) ++group;
        return pack(to_group, group, m);
    }
    // The way of a packet whose intermediate stop is drawn; forgets the stop once there.
    std::uint32_t follow(const Position& here, const Position& there, std::uint32_t& m) const {
        if (state(m) == to_group) {
            if (here.group != via(m)) return towards_group(here, via(m), m);
            m = pack(to_destination, 0, m);
        } else if (state(m) == to_switch) {
            const Position stop{here.group, via(m)};
            if (here.place != stop.place) return within(here, stop);
            m = pack(to_destination, 0, m);
        }
        return minimal(here, there, m);
    }
    std::uint32_t length(Position here, const Position& there, std::uint32_t m) const {
        if (state(m) == to_group) {
            const std::uint32_t count = cross(here, via(m), m);
            return count + minimal_length(here, there, m);
        }
        if (state(m) == to_switch) {
            const Position stop{here.group, via(m)};
            return steps(here, stop) + steps(stop, there);
        }
        return minimal_length(here, there, m);
    }

    std::uint32_t columns_, groups_, first_global_;
    GroupLinks links_;
    std::uint32_t size_, switches_;
    Divider by_size_, by_columns_;
};

}  // namespace tradewind::machine
