// Lines of the exchanges between groups, where there are more of these than lines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "program/order.hpp"

namespace tradewind::program {

// Gives each time that an exchange between groups takes place a line, such that the stages of a line ascend on all
// ranks. A time takes the lowest line that none of its groups has open. Groups first come to one start after another;
// where they start exchanges in different orders, they pass those that wait for other groups, up to the wait for one.
class LineSharing {
  public:
    // `among`: groups of each exchange. The arguments must live longer.
    LineSharing(const std::vector<std::vector<Operation>>& operations, const std::vector<Instance>& instances,
                const std::vector<std::vector<std::size_t>>& among);

    // Calls place(instance, line) in the order of the stages, and returns the number of lines.
    std::uint32_t share(const std::function<void(std::uint32_t, std::uint32_t)>& place);

    // A group that waits for an instance which another one cannot start before a wait of its own.
    struct Stuck {
        std::size_t group, other;
        std::uint32_t instance, others;  // the ones that they wait for
    };
    // After share(): none where all is placed.
    std::optional<Stuck> stuck() const;

  private:
    using Lines = std::uint64_t;
    // A start that a group has come to, and which has no line yet.
    struct Pending {
        std::uint32_t instance;
        Lines avoid;  // lines of exchanges that are open at the start, or have been placed since
    };
    static constexpr std::uint32_t no_line = ~0u;

    void advance(std::size_t group);
    std::uint32_t line_for(std::uint32_t instance) const;
    void place(std::uint32_t instance, std::uint32_t line);
    const std::vector<std::size_t>& groups_of(std::uint32_t instance) const {
        return among_[instances_[instance].exchange];
    }

    const std::vector<std::vector<Operation>>& operations_;
    const std::vector<Instance>& instances_;
    const std::vector<std::vector<std::size_t>>& among_;
    std::vector<std::size_t> next_, seen_;       // [group]: operation; those before `seen` have been counted
    std::vector<Lines> open_;                    // [group]
    std::vector<std::vector<Pending>> pending_;  // [group]
    std::vector<std::uint32_t> line_;            // [instance]
    std::vector<std::uint32_t> come_;            // [instance]: groups that have come to its start
    std::vector<std::uint32_t> ready_;           // instances to which all groups have come
    bool passes_starts_ = false;
};

}  // namespace tradewind::program
