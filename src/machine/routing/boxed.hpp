// Routings behind a few types.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "machine/routing/packet.hpp"

namespace tradewind::machine {

struct Machine;

// A routing behind virtual calls: its users are compiled once, not once per routing, for one call per hop.
template <bool Adaptive, bool Spreads>
class Boxed {
  public:
    static constexpr bool adaptive = Adaptive, spreads = Spreads;

    template <class Routing>
    explicit Boxed(Routing routing) : any_(std::make_shared<Box<Routing>>(std::move(routing))) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t dst_node, std::uint32_t& m) const {
        return any_->port(sw, dst_sw, dst_node, m);
    }
    int channels() const { return any_->channels(); }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t port, std::uint32_t m) const {
        return any_->channel(sw, dst_sw, port, m);
    }
    bool decided(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const { return any_->decided(sw, dst_sw, m); }
    template <class Queue>
    std::uint32_t choose(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t dst_node, std::uint32_t& m,
                         const Queue& queue) {
        return any_->choose(sw, dst_sw, dst_node, m, std::cref(queue));
    }

  private:
    using AnyQueue = std::function<std::uint64_t(std::uint32_t)>;

    struct Any {
        virtual ~Any() = default;
        virtual std::uint32_t port(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t&) const = 0;
        virtual int channels() const = 0;
        virtual std::uint32_t channel(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) const = 0;
        virtual bool decided(std::uint32_t, std::uint32_t, std::uint32_t) const = 0;
        virtual std::uint32_t choose(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t&, const AnyQueue&) = 0;
    };

    template <class Routing>
    struct Box : Any {
        explicit Box(Routing r) : routing(std::move(r)) {}

        std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t dst_node,
                           std::uint32_t& m) const override {
            return routing.port(sw, dst_sw, dst_node, m);
        }
        int channels() const override { return routing.channels(); }
        std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t port,
                              std::uint32_t m) const override {
            return routing.channel(sw, dst_sw, port, m);
        }
        bool decided(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const override {
            if constexpr (Adaptive) return routing.decided(sw, dst_sw, m);
            return true;
        }
        std::uint32_t choose(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t dst_node, std::uint32_t& m,
                             const AnyQueue& queue) override {
            if constexpr (Adaptive) return routing.choose(sw, dst_sw, dst_node, m, queue);
            return routing.port(sw, dst_sw, dst_node, m);
        }

        Routing routing;
    };

    std::shared_ptr<Any> any_;
};

using AnyRouting = std::variant<Boxed<false, false>, Boxed<false, true>, Boxed<true, true>>;

// The routing of a machine that has been checked, if it is none of those that with_routing passes as they are: their
// classes are compiled once, and not with each user.
AnyRouting boxed_routing(const Machine& machine);

}  // namespace tradewind::machine
