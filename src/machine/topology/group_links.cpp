#include "machine/topology/group_links.hpp"

#include <array>
#include <utility>

#include "base/error.hpp"

namespace tradewind::machine {

namespace {

constexpr std::array<std::pair<const char*, Arrangement>, 4> names{{{"spread", Arrangement::spread},
                                                                    {"relative", Arrangement::relative},
                                                                    {"absolute", Arrangement::absolute},
                                                                    {"circulant", Arrangement::circulant}}};

}  // namespace

Arrangement arrangement_of(const std::string& name) {
    std::string allowed;
    for (const auto& [known, arrangement] : names) {
        if (name == known) return arrangement;
        allowed += (allowed.empty() ? "" : ", ") + std::string(known);
    }
    throw InputError("arrangement of global links '" + name + "': " + allowed + " are allowed");
}

void GroupLinks::check(const std::string& what) const {
    if (groups_ > 1 && pairs_ == 0)
        throw InputError(what + ": " + std::to_string(each_) + " global links on each of the " +
                         std::to_string(holders_) + " switches of a group that have some do not reach the other " +
                         std::to_string(groups_ - 1) + " groups");
}

GroupLinks::End GroupLinks::end(std::uint32_t group, std::uint32_t holder, std::uint32_t slot) const {
    if (groups_ == 1 || slot >= each_) return {};
    const std::uint32_t q = arrangement_ == Arrangement::spread ? slot * holders_ + holder : holder * each_ + slot;
    const std::uint32_t m = q / (groups_ - 1);
    if (m >= pairs_) return {};
    // Its other end is link m of that group back to this one.
    const std::uint32_t other = numbered(group, q % (groups_ - 1));
    const Gate back = gate(m, other, group);
    return {true, other, back.holder, back.slot};
}

GroupLinks::Gate GroupLinks::blocked_gate(std::uint32_t m, std::uint32_t from_group, std::uint32_t to_group) const {
    const std::uint32_t q = m * (groups_ - 1) + number(from_group, to_group), holder = by_line_.quotient(q);
    return {holder, q - holder * each_};
}

std::uint32_t GroupLinks::number(std::uint32_t from_group, std::uint32_t to_group) const {
    if (arrangement_ == Arrangement::absolute) return to_group - (to_group > from_group);
    const std::uint32_t on = ahead(from_group, to_group);
    if (arrangement_ != Arrangement::circulant) return on - 1;
    return 2 * on <= groups_ ? 2 * (on - 1) : 2 * (groups_ - on) - 1;
}

std::uint32_t GroupLinks::numbered(std::uint32_t from_group, std::uint32_t number) const {
    if (arrangement_ == Arrangement::absolute) return number + (number >= from_group);
    std::uint32_t on = number + 1;
    if (arrangement_ == Arrangement::circulant) on = number % 2 == 0 ? number / 2 + 1 : groups_ - (number + 1) / 2;
    return (from_group + on) % groups_;
}

std::string described(const GroupLinks& links) {
    for (const auto& [name, arrangement] : names)
        if (arrangement == links.arrangement() && arrangement != Arrangement::spread)
            return ", global links " + std::string(name);
    return "";
}

}  // namespace tradewind::machine
