// Plans: made together by all ranks, then called.
#include "algorithm/method.hpp"
#include "base/error.hpp"
#include "binding.hpp"
#include "communicator.hpp"
#include "field.hpp"
#include "levels.hpp"
#include "mpi/error.hpp"
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
    find_devices(o.stream, a.request);
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
    bind_by_method(*bound, comm, std::move(a.pattern), a.method, std::move(a.request));
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

tw_status tw_plan_staging(tw_plan plan, const char** text) {
    return guarded([&] {
        require(text, "text");
        *text = plan_of(plan).staging().c_str();
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
