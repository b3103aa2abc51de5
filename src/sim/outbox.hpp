// Events of one part of a simulation for later windows: packets for all parts, actions of its own ranks.
// Packets for parts of other processes are on their way at the end of the window (see process_exchange.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "base/prefetch.hpp"
#include "sim/event.hpp"
#include "sim/parts.hpp"
#include "sim/wheel.hpp"

namespace tradewind::sim {

class Outbox {
  public:
    Outbox(const Parts& parts, std::uint32_t id, int shift, std::uint32_t events_per_chunk)
        : parts_(parts), id_(id), shift_(shift), pool_(events_per_chunk) {
        for (std::uint32_t p = 0; p < parts.here; ++p) wheels_.push_back(std::make_unique<Wheel>());
        if (parts.processes > 1) away_.resize(parts.all());
        for (Staged& staged : staged_) staged.place = &nowhere_;
    }

    void enter(std::int64_t window) {
        window_ = window;
        start_ = start_of(window);
        end_ = start_ + (std::int64_t{1} << shift_);
    }
    std::uint32_t id() const { return id_; }
    std::int64_t window() const { return window_; }
    std::int64_t start() const { return start_; }
    std::int64_t end() const { return end_; }
    int shift() const { return shift_; }
    std::int64_t start_of(std::int64_t window) const { return origin_ + (window << shift_); }
    std::int64_t window_of(std::int64_t time) const { return (time - origin_) >> shift_; }
    std::size_t bytes() const { return pool_.bytes(); }

    // An event that will arrive at a part at `time`, in a later window, for the caller to fill in at once. Its place is
    // known, and its line is fetched, before it is written. Filled in field by field: a copy of an event that was just
    // made would wait until its fields have left the store buffer.
    [[gnu::always_inline]] Event& push(std::uint32_t part, std::int64_t time) {
        Staged& staged = staged_[staging_++ % staged_.size()];
        *staged.place = staged.event;
        if (parts_.has(part)) [[likely]]
            staged.place = wheels_[part - parts_.first]->place(window_of(time), window_, pool_);
        else
            staged.place = place_away(part, time);
        prefetch_line(staged.place);
        return staged.event;
    }
    // At the end of a window: what is still on its way to its place.
    void flush() {
        place_staged(std::min<std::size_t>(staging_, staged_.size()));
        staging_ = 0;
    }

    // Calls `use` with each packet of the window that another part has for this one. The chunks go to this one's pool.
    // (The other part may still be at an earlier window.)
    template <class Use>
    void drain(Outbox& from, Use use) {
        pool_.drain(from.wheels_[id_ - parts_.first]->take(window_), use);
    }

    // The packets of this window for a part of another process.
    std::span<const Event> away(std::uint32_t part) const { return {away_[part].events.data(), away_[part].count}; }
    void clear_away() {
        for (Away& away : away_) away.count = 0;
        away_next_ = Wheel::never;
    }
    // A packet from another process.
    void receive(const Event& event) {
        wheels_[id_ - parts_.first]->push(event, window_of(event.time), window_, pool_);
    }

    // An action of a rank or NIC of this part; within the window it waits in a heap, else in the wheel of actions.
    void enqueue(const Event& event) {
        if (event.time < end_) {
            now_.push_back(event);
            std::push_heap(now_.begin(), now_.end(), later);
        } else {
            actions_.push(event, window_of(event.time), window_, pool_);
        }
    }
    template <class Use>
    void take_actions(Use use) {
        pool_.drain(actions_.take(window_), use);
    }
    // Actions that were added to the current window, in order of time.
    bool has_now() const { return !now_.empty(); }
    const Event& first_now() const { return now_.front(); }
    Event pop_now() {
        std::pop_heap(now_.begin(), now_.end(), later);
        const Event event = now_.back();
        now_.pop_back();
        return event;
    }
    static bool later(const Event& a, const Event& b) {
        if (a.time != b.time) return a.time > b.time;
        if (a.to != b.to) return a.to > b.to;
        if (a.where != b.where) return a.where > b.where;
        if (a.stage != b.stage) return a.stage > b.stage;
        if (a.size != b.size) return a.size > b.size;
        return a.memory > b.memory;
    }

    // Once all have read the window: the first later one with anything in it.
    std::int64_t next() {
        std::int64_t next = away_next_;
        for (auto& wheel : wheels_) {
            wheel->clear(window_);
            next = std::min(next, wheel->next(window_, origin_, shift_, pool_));
        }
        actions_.clear(window_);
        return std::min(next, actions_.next(window_, origin_, shift_, pool_));
    }

    // Calls `use` with each packet and `use_action` with each action; of a single process, between windows.
    template <class Use, class UseAction>
    void for_each(Use use, UseAction use_action) const {
        for (const auto& wheel : wheels_) wheel->for_each(pool_, use);
        actions_.for_each(pool_, use_action);
    }
    // Lets a window begin at this time, which has not come, from now on; also there.
    void align(std::int64_t begin) {
        const std::int64_t end = end_;
        origin_ = begin & ((std::int64_t{1} << shift_) - 1);
        enter(window_of(end) - 1);
        const auto place_anew = [&](Wheel& wheel) {
            std::vector<Event> events;
            wheel.take_all(pool_, [&](const Event& event) { events.push_back(event); });
            for (const Event& event : events) wheel.push(event, window_of(event.time), window_, pool_);
        };
        for (auto& wheel : wheels_) place_anew(*wheel);
        place_anew(actions_);
    }

  private:
    struct Staged {
        Event event;
        Event* place;
    };
    struct Away {
        HugeVector<Event> events;
        std::size_t count = 0;
    };

    void place_staged(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            *staged_[i].place = staged_[i].event;
            staged_[i].place = &nowhere_;
        }
    }
    // The place is good until the next event for that part.
    [[gnu::noinline]] Event* place_away(std::uint32_t part, std::int64_t time) {
        Away& away = away_[part];
        if (away.count == away.events.size()) {
            place_staged(staged_.size());
            away.events.resize(std::max<std::size_t>(64, 2 * away.count));
        }
        away_next_ = std::min(away_next_, Wheel::visit(window_of(time), window_));
        return &away.events[away.count++];
    }

    Parts parts_;
    std::uint32_t id_;
    int shift_;
    std::int64_t origin_ = 0;  // ps at which window 0 begins
    std::int64_t window_ = 0, start_ = 0, end_ = 0;
    ChunkPool pool_;
    std::vector<std::unique_ptr<Wheel>> wheels_;  // [part of this process]
    std::vector<Away> away_;                      // [part]; empty where there is one process
    std::int64_t away_next_ = Wheel::never;       // the first window for which there is something
    Wheel actions_;
    std::vector<Event> now_;  // heap
    Event nowhere_;
    std::array<Staged, 16> staged_;
    std::uint64_t staging_ = 0;  // in this window
};

}  // namespace tradewind::sim
