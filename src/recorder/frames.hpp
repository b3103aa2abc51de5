#pragma once

#include <optional>

#include "recorder/library.hpp"

namespace tradewind::recorder {

/// A call as its caller sees it: the address behind it, the place on the stack that keeps that address, and the frame
/// pointer of the caller, 0 where it is not known.
struct Frame {
    Word address = 0, slot = 0, pointer = 0;
};

/// Returns the call of a function whose frame is at an address, of __builtin_frame_address(0) in it.
inline Frame frame_of(Word address) {
    const auto* words = reinterpret_cast<const Word*>(address);
    return {words[1], address + sizeof(Word), words[0]};
}

/// Where a function keeps the address to which it returns, while it waits for a call of its own: bytes above the
/// address of that call on the stack, or above its frame pointer.
struct FrameRule {
    bool has_pointer = false;
    Word bytes = 0;
};

/// Returns the rule at an address behind a call, from the tables for unwinding that its object brings along; nothing
/// where these are not simple, and on processors other than x86-64.
std::optional<FrameRule> frame_rule(Word address);

/// Returns the call of the function that made a call; an address of 0 where the rule needs an unknown frame pointer.
Frame outer_frame(const Frame& frame, const FrameRule& rule);

}  // namespace tradewind::recorder
