// A number that distinguishes programs: what is stored of one is not taken for the result of another.
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace tradewind::program {

// Changes whenever a program's steps, their computations or their exchanges change: names, order, repetitions, seconds,
// flops, bytes and points; ranks of groups; of an exchange its pattern, its algorithm and the messages of some ranks in
// some stages. The same on every machine. Takes microseconds per step, and time that grows with the ranks for lists of
// points and of ranks alone.
std::uint64_t fingerprint(const Program& program);

}  // namespace tradewind::program
