#include "sim/loggp_order.hpp"

#include <algorithm>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/clock.hpp"
#include "sim/computing.hpp"

namespace tradewind::sim {

namespace {

// The state of an exchange that a rank has started, by line.
struct Open {
    enum What : std::uint8_t {
        closed,
        under_way,  // a stage has been posted, and it is not known yet when it ends
        ends,       // its end is known
        done,       // the last stage has ended, and the rank has not waited yet
    } what = closed;
    std::uint32_t instance = 0, stage = 0;
    std::int64_t begin = 0, left = 0;  // ps, of the stage
    std::int64_t end = 0;
};

struct Walker {
    std::size_t operation = 0;
    std::uint32_t waits = 0;  // for a line, plus one; 0: it does not
    std::int64_t free = 0;    // ps, when its NIC has sent all that was posted
};

// Something that happens to a rank: a stage of a line ends, or its CPU comes to the next operation.
struct Happening {
    std::int64_t time;
    enum Kind : std::uint8_t { stage_ends, next_operation } kind;
    std::uint32_t line;
    Rank rank;

    // Ends of stages come first: what is over when a rank pokes or waits is seen.
    bool operator>(const Happening& other) const {
        return std::tie(time, kind, rank, line) > std::tie(other.time, other.kind, other.rank, other.line);
    }
};

class Walk {
  public:
    Walk(const LogGpMessages& messages, const machine::Machine& machine, const program::Program& program,
         const machine::Placement& placement, const SimulationOptions& options)
        : messages_(messages),
          machine_(machine),
          program_(program),
          order_(*program.order()),
          placement_(placement),
          options_(options),
          seed_(mix(options.seed)),
          walkers_(static_cast<std::size_t>(program.ranks())),
          open_(walkers_.size() * order_.lines()) {
        result_.step_end.resize(program.steps().size());
    }

    SimulationResult result() {
        for (Rank r = 0; r < program_.ranks(); ++r) queue_.push({0, Happening::next_operation, 0, r});
        for (std::int64_t count = 0; !queue_.empty(); ++count) {
            const Happening now = queue_.top();
            queue_.pop();
            if (count % happenings_per_check == 0) check(now.time);
            if (now.kind == Happening::stage_ends)
                go_on(now.rank, now.line, now.time);
            else
                walk(now.rank, now.time);
        }
        if (finished_ != program_.ranks())
            throw VerificationError(std::to_string(program_.ranks() - finished_) +
                                    " ranks wait for messages that no rank sends: verify the schedule");
        result_.time = *std::max_element(result_.step_end.begin(), result_.step_end.end());
        return std::move(result_);
    }

  private:
    static constexpr std::int64_t happenings_per_check = 64;

    // Messages of a stage that a rank has received, and the number of those that are still to come.
    struct Arrivals {
        LogGpReceived received;
        std::int64_t missing = 0;
    };

    void check(std::int64_t time) const {
        if (options_.progress && !options_.progress({time}, Bytes{result_.bytes}, 0)) throw Interrupted();
    }

    Open& open(Rank r, std::uint32_t line) { return open_[static_cast<std::size_t>(r) * order_.lines() + line]; }

    const program::Exchange& exchange_of(const program::Instance& instance) const {
        return order_.exchanges()[instance.exchange];
    }

    const program::Operation& operation_of(Rank r) const {
        return order_.operations(order_.group_of(r))[walkers_[static_cast<std::size_t>(r)].operation];
    }

    // The operations of a rank from `time` on, up to one that takes time.
    void walk(Rank r, std::int64_t time) {
        Walker& walker = walkers_[static_cast<std::size_t>(r)];
        const std::size_t group = order_.group_of(r);
        const std::vector<program::Operation>& operations = order_.operations(group);
        while (walker.operation < operations.size()) {
            const program::Operation& operation = operations[walker.operation];
            switch (operation.kind) {
                case program::Operation::compute: {
                    const std::int64_t end = computed(r, group, operation, time);
                    finish(operation, end);
                    ++walker.operation;
                    queue_.push({end, Happening::next_operation, 0, r});
                    return;
                }
                case program::Operation::start: start(r, operation, time); break;
                case program::Operation::wait:
                    if (!wait(r, operation, time)) return;
                    break;
                case program::Operation::poke: poke(r, time);
            }
            finish(operation, time);
            ++walker.operation;
        }
        ++finished_;
    }

    std::int64_t computed(Rank r, std::size_t group, const program::Operation& operation, std::int64_t time) const {
        const Rank place = order_.groups()[group].members.place(r);
        const Draw draw{seed_, r, static_cast<std::int64_t>(walkers_[static_cast<std::size_t>(r)].operation)};
        const program::Compute& compute = program_.steps()[operation.step].compute;
        return sim::after(time, time_of(compute, machine_, placement_, place, draw).value, "a computation ends at");
    }

    void finish(const program::Operation& operation, std::int64_t time) {
        if (!operation.ends_step) return;
        Picoseconds& end = result_.step_end[operation.step];
        end = std::max(end, Picoseconds{time});
    }

    void start(Rank r, const program::Operation& operation, std::int64_t time) {
        const program::Instance& instance = order_.instance(operation.instance);
        open(r, instance.line) = {instance.stages > 0 ? Open::under_way : Open::done, operation.instance, 0, 0, 0, 0};
        if (instance.stages > 0) post(r, instance.line, time);
    }

    // Returns whether the exchange has ended; else the rank goes on from its last stage.
    bool wait(Rank r, const program::Operation& operation, std::int64_t time) {
        const std::uint32_t line = order_.instance(operation.instance).line;
        Open& exchange = open(r, line);
        if (exchange.what == Open::done) {
            exchange.what = Open::closed;
            return true;
        }
        walkers_[static_cast<std::size_t>(r)].waits = line + 1;
        // A thread goes on where a stage ends; so does what has been announced.
        if (exchange.what == Open::ends && options_.progress_by != Progress::thread)
            queue_.push({std::max(exchange.end, time), Happening::stage_ends, line, r});
        return false;
    }

    void poke(Rank r, std::int64_t time) {
        if (options_.progress_by != Progress::pokes) return;
        for (std::uint32_t line = 0; line < order_.lines(); ++line) {
            const Open& exchange = open(r, line);
            if (exchange.what == Open::ends && exchange.end <= time) go_on(r, line, time);
        }
    }

    // A stage has ended, and its rank deals with that: the next one is posted, or the exchange is done.
    void go_on(Rank r, std::uint32_t line, std::int64_t time) {
        Open& exchange = open(r, line);
        const program::Instance& instance = order_.instance(exchange.instance);
        if (++exchange.stage < instance.stages) return post(r, line, time);
        exchange.what = Open::done;
        Walker& walker = walkers_[static_cast<std::size_t>(r)];
        if (walker.waits != line + 1) return;
        walker.waits = 0;
        exchange.what = Open::closed;
        finish(operation_of(r), time);
        ++walker.operation;
        walk(r, time);
    }

    // Posts the stage that a line has come to.
    void post(Rank r, std::uint32_t line, std::int64_t time) {
        Open& exchange = open(r, line);
        Walker& walker = walkers_[static_cast<std::size_t>(r)];
        const program::Instance& instance = order_.instance(exchange.instance);
        const program::Exchange& of = exchange_of(instance);
        const LogGpStage at{*of.schedule, static_cast<int>(exchange.stage), of.bytes_per_point, of.members};
        const std::uint32_t number = instance.first + exchange.stage;
        exchange.what = Open::under_way;
        exchange.begin = time;
        std::vector<Rank> complete;
        const auto received = [&](Rank peer) -> LogGpReceived& {
            Arrivals& arrivals = arrivals_of(at, peer, number);
            if (--arrivals.missing == 0) complete.push_back(peer);
            return arrivals.received;
        };
        exchange.left = messages_.send(at, r, time, walker.free, result_, received);
        end(r, line, arrivals_of(at, r, number), number);
        for (const Rank peer : complete)
            if (peer != r) end_of(peer, line, number);
    }

    // Return the arrivals of a stage that a rank has posted or will post.
    Arrivals& arrivals_of(const LogGpStage& at, Rank r, std::uint32_t number) {
        const auto [found, is_new] = arrivals_.try_emplace(key(r, number));
        if (is_new) {
            const Rank place = at.members.place(r);
            for (int j = 0, n = at.schedule.receives(place, at.stage); j < n; ++j)
                found->second.missing += at.schedule.receive(place, at.stage, j).count > 0;
        }
        return found->second;
    }

    static std::uint64_t key(Rank r, std::uint32_t number) { return static_cast<std::uint64_t>(r) << 32 | number; }

    // The last message of a stage is known. Its receiver may not have come to that stage.
    void end_of(Rank r, std::uint32_t line, std::uint32_t number) {
        const Open& exchange = open(r, line);
        if (exchange.what != Open::under_way) return;
        if (order_.instance(exchange.instance).first + exchange.stage == number)
            end(r, line, arrivals_.at(key(r, number)), number);
    }

    // Computes when the stage that a rank has posted ends, once all its messages are known.
    void end(Rank r, std::uint32_t line, const Arrivals& arrivals, std::uint32_t number) {
        if (arrivals.missing > 0) return;
        Open& exchange = open(r, line);
        exchange.end = messages_.end(arrivals.received, exchange.begin, exchange.left);
        exchange.what = Open::ends;
        arrivals_.erase(key(r, number));
        const bool waits = walkers_[static_cast<std::size_t>(r)].waits == line + 1;
        if (waits || options_.progress_by == Progress::thread)
            queue_.push({exchange.end, Happening::stage_ends, line, r});
    }

    const LogGpMessages& messages_;
    const machine::Machine& machine_;
    const program::Program& program_;
    const program::Order& order_;
    const machine::Placement& placement_;
    const SimulationOptions& options_;
    std::uint64_t seed_;
    std::vector<Walker> walkers_;                           // [rank]
    std::vector<Open> open_;                                // [rank][line]
    std::unordered_map<std::uint64_t, Arrivals> arrivals_;  // of stages that have not ended
    std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
    Rank finished_ = 0;
    SimulationResult result_;
};

}  // namespace

SimulationResult loggp_of_order(const LogGpMessages& messages, const machine::Machine& machine,
                                const program::Program& program, const machine::Placement& placement,
                                const SimulationOptions& options) {
    if (!options.early_end.asked.empty())
        throw InputError(
            "model 'loggp': an early end of a program with steps start, wait or poke, or with groups of "
            "ranks, needs the model 'packet'");
    return Walk(messages, machine, program, placement, options).result();
}

}  // namespace tradewind::sim
