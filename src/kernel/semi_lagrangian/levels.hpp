// Levels and tracers of an interpolation, shared out to threads, and how their new values take the place of the old.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "kernel/semi_lagrangian/cells.hpp"

namespace tradewind::kernel {

// Puts a level of a tracer back. Returns the first place that is no number, or -1.
template <class Real>
Index put_back(const Interpolation& what, const Real* from, Real* level) {
    Index wrong = -1;
    for (Index y = 0; y < what.block.points[1]; ++y) {
        Real* const to = level + what.own_first + y * what.own_pitch;
        const Real* const row = from + y * what.block.points[0];
        std::copy_n(row, what.block.points[0], to);
        if (all_finite(row, what.block.points[0]) || wrong >= 0) continue;
        for (Index x = 0; x < what.block.points[0] && wrong < 0; ++x)
            if (!std::isfinite(row[x])) wrong = y * what.block.points[0] + x;
    }
    return wrong;
}

inline void keep_least(std::atomic<Index>& least, Index place) {
    Index before = least.load();
    while ((before < 0 || place < before) && !least.compare_exchange_weak(before, place)) {
    }
}

// Replaces the values of the block, tracer by tracer and level by level, by what `run_level` makes of tracers
// first..last - 1: `apart` values from a tracer to the next one in scratch memory. Returns the first value that is no
// number, or -1. Throws InputError where it returns false: the window does not have a stencil.
template <class Real, class RunLevel>
Index interpolate_levels(const Interpolation& what, Layered<Real> field, Team& team, RunLevel run_level) {
    const Index level = what.block.points[0] * what.block.points[1], levels = what.block.levels;
    // Tracers of a batch share their weights. In two dimensions a level is put back at once; in three the next ones
    // need what was there.
    const Index batch = std::min<Index>(what.tracers, what.lifted ? 2 : 8);
    const Index room = batch * level * (what.lifted ? levels : team.threads());
    const auto scratch = std::make_unique_for_overwrite<Real[]>(static_cast<std::size_t>(room));
    std::atomic<bool> there{true};
    std::atomic<Index> wrong{-1};
    for (Index first = 0; there && first < what.tracers; first += batch) {
        const Index last = std::min(first + batch, what.tracers);
        const auto put = [&](Index z, const Real* from, Index apart) {
            for (Index tracer = first; tracer < last; ++tracer) {
                const Index number = tracer * levels + z;
                const Index place =
                    put_back(what, from + (tracer - first) * apart, field.values + number * field.stride);
                if (place >= 0) keep_least(wrong, number * level + place);
            }
        };
        const auto each_level = [&](int thread, auto work) {
            for (Index z = levels * thread / team.threads(); z < levels * (thread + 1) / team.threads(); ++z) work(z);
        };
        team.run([&](int thread) {
            each_level(thread, [&](Index z) {
                Real* const to = scratch.get() + level * (what.lifted ? z : batch * thread);
                const Index apart = what.lifted ? level * levels : level;
                if (!run_level(z, first, last, to, apart))
                    there = false;
                else if (!what.lifted)
                    put(z, to, apart);
            });
        });
        if (there && what.lifted)
            team.run([&](int thread) {
                each_level(thread, [&](Index z) { put(z, scratch.get() + level * z, level * levels); });
            });
    }
    if (!there) throw InputError("departure points: the window does not have the stencil of one of them");
    return wrong;
}

}  // namespace tradewind::kernel
