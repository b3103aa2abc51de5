// Plans: made together by all ranks, then called.
#include <algorithm>
#include <cstdlib>
#include <exception>

#include "algorithm/method.hpp"
#include "algorithm/registry.hpp"
#include "algorithm/tuning.hpp"
#include "base/error.hpp"
#include "communicator.hpp"
#include "field.hpp"
#include "levels.hpp"
#include "mpi/agreement.hpp"
#include "mpi/allgather_lists.hpp"
#include "mpi/error.hpp"
#include "mpi/node.hpp"
#include "mpi/prepare.hpp"
#include "objects.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

using PatternPtr = std::shared_ptr<const pattern::Pattern>;

std::string text(const char* given) {
    return given ? given : "";
}

// A request for a plan, as far as a rank can check it alone.
struct Asked {
    PatternPtr pattern;
    algorithm::Method method;
    mpi::PlanRequest request;
};

Asked asked(tw_pattern pattern, MPI_Comm comm, int sources, const tw_field* source, int targets, const tw_field* target,
            const tw_options* options, const tw_plan* plan) {
    require(plan, "plan");
    const tw_options o = options ? *options : tw_default_options();
    Asked a{patterns().at(pattern.id), {text(o.algorithm), text(o.transport), text(o.packing)}, {}};
    take_fields(*a.pattern, o.axis, sources, source, targets, target, a.request);
    a.pattern = with_levels_of(a.pattern, comm, a.request);
    if (const std::string operation = text(o.operation); !operation.empty())
        a.request.operation = mpi::parse_operation(operation);
    if (o.record != TW_RECORD_NOTHING && o.record != TW_RECORD_TOTALS)
        throw InputError("record " + std::to_string(o.record) + ": TW_RECORD_NOTHING and TW_RECORD_TOTALS are allowed");
    a.request.recording = o.record == TW_RECORD_TOTALS ? mpi::Recording::totals : mpi::Recording::none;
    a.request.largest_message = Bytes{o.largest_message};
    a.request.pack_ahead = o.pack_ahead != 0;
    a.request.synchronous = o.synchronous != 0;
    a.request.check = o.check != 0;
    a.request.watchdog_s = o.watchdog_s;
    a.request.ranks_per_node = o.ranks_per_node;
    return a;
}

struct Chosen {
    algorithm::Method method;
    std::string origin;
    bool gather;  // what all ranks want of a fetch: on rank 0, and so on all
};

std::string variable(const std::string& name) {
    return text(std::getenv(name.c_str()));
}

// Where each part of a method came from, in a line.
std::string origin_text(const algorithm::ChosenMethod& chosen) {
    std::string line = "algorithm: " + chosen.origin.algorithm;
    if (!chosen.origin.transport.empty()) line += ", transport: " + chosen.origin.transport;
    if (!chosen.origin.packing.empty()) line += ", packing: " + chosen.origin.packing;
    return chosen.warning.empty() ? line : line + "; " + chosen.warning;
}

// The method that rank 0 finds in its arguments, environment and tuning file, for all ranks; what it refuses, all
// refuse. Collective.
Chosen chosen_on_all(MPI_Comm comm, const PatternPtr& pattern, const algorithm::Method& own,
                     const mpi::PlanRequest& request) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    // Where ranks run is asked of all, and only where a file is in use.
    const std::string file = mpi::text_of(comm, 0, rank == 0 ? variable("TRADEWIND_TUNING") : "");
    const Host host = file.empty() ? Host{} : mpi::host_of(comm);
    const auto tuned = [&]() -> std::optional<algorithm::TunedMethod> {
        if (file.empty()) return {};
        const bool shared = std::all_of(request.source.begin(), request.source.end(), [&](const mpi::Field& field) {
            return mpi::in_shared_memory(field, request.element);
        });
        return algorithm::tuned_method(file, "TRADEWIND_TUNING=", *pattern, mpi::name_of(request.element),
                                       static_cast<Index>(request.source.size()),
                                       shared ? algorithm::shared_memory : algorithm::private_memory, host);
    };
    std::string outcome;
    std::exception_ptr failure;
    if (rank == 0) {
        try {
            const algorithm::ChosenMethod chosen =
                algorithm::choose_method(pattern, own, variable(algorithm::variable_of(pattern->name())), tuned);
            outcome = algorithm::text_of(chosen.method) + "\n" + origin_text(chosen) +
                      (algorithm::needs_all_lists(*pattern, chosen.method.algorithm) ? "*" : "+");
        } catch (const InputError& error) {
            outcome = std::string(error.what()) + "-";
        } catch (const std::exception& error) {  // of this rank alone
            failure = std::current_exception();
            outcome = std::string(error.what()) + "!";
        }
    }
    outcome = mpi::text_of(comm, 0, outcome);
    if (failure) std::rethrow_exception(failure);
    const char verdict = outcome.back();
    outcome.pop_back();
    if (verdict == '-') throw InputError(outcome);
    if (verdict == '!') throw mpi::PlanError("rank 0 cannot make this plan: " + outcome);
    const std::size_t end = outcome.find('\n');
    algorithm::Method method = algorithm::parse_method(outcome.substr(0, end));
    // A rank's own arguments count on that rank, so that plans can find out that ranks ask for different things.
    if (!own.algorithm.empty()) method.algorithm = own.algorithm;
    if (!own.transport.empty()) method.transport = own.transport;
    if (!own.packing.empty()) method.packing = own.packing;
    return {method, outcome.substr(end + 1), verdict == '*'};
}

std::shared_ptr<BoundPlan> make(tw_pattern pattern, MPI_Comm comm, int sources, const tw_field* source, int targets,
                                const tw_field* target, const tw_options* options, const tw_plan* plan) {
    require_communicator(comm);
    const double limit_s = options ? mpi::limit_of(options->watchdog_s) : 0;
    auto bound = std::make_shared<BoundPlan>();
    Asked a = raise_collectively(
        comm,
        [&] {
            Asked taken = asked(pattern, comm, sources, source, targets, target, options, plan);
            for (const auto* side : {&taken.request.source, &taken.request.target})
                for (const mpi::Field& field : *side)
                    if (auto memory = memory_of(field.data)) bound->memory.push_back(std::move(memory));
            return taken;
        },
        limit_s);
    go_on(comm, limit_s);  // all ranks can choose together
    const auto [method, origin, gather] = chosen_on_all(comm, a.pattern, a.method, a.request);
    const algorithm::Method carried =
        raise_collectively(comm, [&, &method = method] { return algorithm::carried_method(*a.pattern, method); });
    if (gather)
        a.pattern = mpi::allgather_lists(comm, a.pattern, carried.algorithm,
                                         algorithm::needs_all_lists(*a.pattern, carried.algorithm));
    a.request.transport = carried.transport;
    a.request.packing = carried.packing;
    if (carried.native()) {
        bound->plan = mpi::make_native_plan(*a.pattern, comm, a.request);
    } else {
        const auto schedule =
            raise_collectively(comm, [&] { return algorithm::make_schedule(a.pattern, carried.algorithm); });
        bound->plan = mpi::make_plan(*schedule, comm, a.request);
    }
    bound->method = algorithm::text_of(method);
    bound->origin = origin;
    return bound;
}

mpi::Plan& plan_of(tw_plan plan) {
    return *plans().at(plan.id)->plan;
}

}  // namespace

tw_options tw_default_options(void) {
    const mpi::PlanRequest request;
    tw_options options{};
    options.largest_message = request.largest_message.value;
    options.pack_ahead = request.pack_ahead;
    return options;
}

tw_status tw_plan_make(tw_pattern pattern, MPI_Comm comm, int sources, const tw_field* source, int targets,
                       const tw_field* target, const tw_options* options, tw_plan* plan) {
    if (plan) plan->id = 0;
    return guarded([&] {
        auto made = make(pattern, comm, sources, source, targets, target, options, plan);
        plan->id = plans().add(std::move(made));
    });
}

tw_status tw_plan_make_f(tw_pattern pattern, MPI_Fint comm, int sources, const tw_field* source, int targets,
                         const tw_field* target, const tw_options* options, tw_plan* plan) {
    if (plan) plan->id = 0;
    return guarded([&] {
        require_mpi();
        auto made = make(pattern, MPI_Comm_f2c(comm), sources, source, targets, target, options, plan);
        plan->id = plans().add(std::move(made));
    });
}

tw_status tw_plan_call(tw_plan plan) {
    return guarded([&] { plan_of(plan).run(); });
}

tw_status tw_plan_start(tw_plan plan) {
    return guarded([&] { plan_of(plan).start(); });
}

tw_status tw_plan_wait(tw_plan plan) {
    return guarded([&] { plan_of(plan).wait(); });
}

tw_status tw_plan_poke(tw_plan plan, int* over) {
    return guarded([&] {
        const bool done = plan_of(plan).poke();
        if (over) *over = done;
    });
}

tw_status tw_plan_pokes(tw_plan plan, int* pokes) {
    return guarded([&] {
        const mpi::Plan& found = plan_of(plan);
        require(pokes, "pokes");
        *pokes = found.pokes();
    });
}

tw_status tw_plan_text(tw_plan plan, const char** text) {
    return guarded([&] {
        require(text, "text");
        *text = plan_of(plan).describe().c_str();
    });
}

tw_status tw_plan_way(tw_plan plan, const char** text) {
    return guarded([&] {
        require(text, "text");
        *text = plans().at(plan.id)->method.c_str();
    });
}

tw_status tw_plan_origin(tw_plan plan, const char** text) {
    return guarded([&] {
        require(text, "text");
        *text = plans().at(plan.id)->origin.c_str();
    });
}

tw_status tw_plan_traffic(tw_plan plan, int64_t* messages, int64_t* bytes) {
    return guarded([&] {
        const mpi::Plan& found = plan_of(plan);
        require(messages, "messages");
        require(bytes, "bytes");
        *messages = found.messages();
        *bytes = found.bytes_sent().value;
    });
}

tw_status tw_plan_seconds(tw_plan plan, double seconds[5]) {
    return guarded([&] {
        require(seconds, "seconds");
        for (std::size_t i = 0; i < mpi::activity_names.size(); ++i)
            seconds[i] = plan_of(plan).recorder().seconds(static_cast<mpi::Activity>(i));
    });
}

tw_status tw_plan_free(tw_plan plan) {
    return guarded([&] {
        if (plan_of(plan).in_flight())
            throw mpi::PlanError("a plan freed while it is under way: wait for it first: " + plan_of(plan).describe());
        plans().remove(plan.id);
    });
}
