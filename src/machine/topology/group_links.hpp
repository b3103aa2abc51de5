// How the groups of dragonflies are joined.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace tradewind {

// All pairs of groups have the same number of global links. In each group `holders` switches have `each` global ports:
// global link q of a group, q = 0 .. holders * each - 1, sits on holder q mod holders and leads to the group
// 1 + q mod (groups - 1) further on; links that cannot be given to every pair alike stay unused.
class GroupLinks {
  public:
    GroupLinks(std::uint32_t holders, std::uint32_t each, std::uint32_t groups)
        : holders_(holders), groups_(groups), pairs_(groups > 1 ? holders * each / (groups - 1) : 0) {}

    // Throws InputError where they do not join every pair of groups.
    void check(const std::string& what, std::uint32_t each) const {
        if (groups_ > 1 && pairs_ == 0)
            throw InputError(what + ": " + std::to_string(each) + " global links on each of the " +
                             std::to_string(holders_) + " switches of a group that have some do not reach the other " +
                             std::to_string(groups_ - 1) + " groups");
    }

    // Global links between two groups.
    std::uint32_t pairs() const { return pairs_; }
    // Global link m of a group to the one `offset` groups further on.
    std::uint32_t link(std::uint32_t m, std::uint32_t offset) const { return m * (groups_ - 1) + offset - 1; }
    std::uint32_t holder(std::uint32_t link) const { return link % holders_; }
    std::uint32_t slot(std::uint32_t link) const { return link / holders_; }
    std::uint32_t offset(std::uint32_t from_group, std::uint32_t to_group) const {
        return to_group >= from_group ? to_group - from_group : to_group + groups_ - from_group;
    }

    // The other end of the link in a holder's global port `slot`.
    struct End {
        bool used = false;
        std::uint32_t group = 0, holder = 0, slot = 0;
    };
    End end(std::uint32_t group, std::uint32_t holder, std::uint32_t slot) const {
        if (groups_ == 1) return {};
        const std::uint32_t q = slot * holders_ + holder;
        const std::uint32_t m = q / (groups_ - 1), offset = 1 + q % (groups_ - 1);
        if (m >= pairs_) return {};
        // Its other end is link m of that group back to this one, groups - offset further on.
        const std::uint32_t back = link(m, groups_ - offset);
        return {true, (group + offset) % groups_, this->holder(back), this->slot(back)};
    }

  private:
    std::uint32_t holders_, groups_, pairs_;
};

}  // namespace tradewind
