// How the groups of dragonflies are joined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/divide.hpp"

namespace tradewind::machine {

// Which switch of a group holds the link to which other group. In each group `holders` switches have `each` global
// ports; its link q, q = 0 .. holders * each - 1, leads to the group that has the number q mod (groups - 1) among the
// others.
//
//             link q is on                 the others are numbered
//   spread    holder q mod holders         by how far on they are, so groups side by side are on different switches
//   relative  holder q div each            by how far on they are (Camarero, Vallejo & Beivide 2014: palm tree)
//   absolute  holder q div each            by their own number (Kim, Dally, Scott & Abts 2008: consecutive)
//   circulant holder q div each            one on, one back, two on, two back, ... (Hastings et al. 2015)
enum class Arrangement { spread, relative, absolute, circulant };

// Throws InputError.
Arrangement arrangement_of(const std::string& name);
// All pairs of groups have the same number of global links; those that cannot be given to every pair alike stay unused.
class GroupLinks {
  public:
    GroupLinks(std::uint32_t holders, std::uint32_t each, std::uint32_t groups, Arrangement arrangement)
        : holders_(holders),
          each_(each),
          groups_(groups),
          pairs_(groups > 1 ? holders * each / (groups - 1) : 0),
          arrangement_(arrangement),
          by_line_(std::max(arrangement == Arrangement::spread ? holders : each, 1u)) {}  // 0: an error of the network

    // Throws InputError where they do not join every pair of groups.
    void check(const std::string& what) const;

    // Global links between two groups.
    std::uint32_t pairs() const { return pairs_; }
    Arrangement arrangement() const { return arrangement_; }

    // How far on a group is from another.
    std::uint32_t ahead(std::uint32_t from_group, std::uint32_t to_group) const {
        return to_group >= from_group ? to_group - from_group : to_group + groups_ - from_group;
    }

    // Where global link m = 0 .. pairs() - 1 from a group to another begins: the holder, and which of its global ports.
    struct Gate {
        std::uint32_t holder, slot;
    };
    Gate gate(std::uint32_t m, std::uint32_t from_group, std::uint32_t to_group) const {
        // Every packet of a dragonfly calls this at every switch, so the usual case is short.
        if (arrangement_ != Arrangement::spread) [[unlikely]]
            return blocked_gate(m, from_group, to_group);
        const std::uint32_t q = m * (groups_ - 1) + ahead(from_group, to_group) - 1, slot = by_line_.quotient(q);
        return {q - slot * holders_, slot};
    }

    // The other end of the link in a holder's global port `slot`.
    struct End {
        bool used = false;
        std::uint32_t group = 0, holder = 0, slot = 0;
    };
    End end(std::uint32_t group, std::uint32_t holder, std::uint32_t slot) const;

  private:
    Gate blocked_gate(std::uint32_t m, std::uint32_t from_group, std::uint32_t to_group) const;
    // The number of a group among the others, as another sees them: 0 .. groups - 2; and back.
    std::uint32_t number(std::uint32_t from_group, std::uint32_t to_group) const;
    std::uint32_t numbered(std::uint32_t from_group, std::uint32_t number) const;

    std::uint32_t holders_, each_, groups_, pairs_;
    Arrangement arrangement_;
    Divider by_line_;
};

// Suffix of the description of a network with another arrangement than the usual one.
std::string described(const GroupLinks& links);

}  // namespace tradewind::machine
