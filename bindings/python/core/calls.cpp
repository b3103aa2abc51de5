// The calls of a trace, as messages that are matched; and whether they end without buffers.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "bind.hpp"
#include "places.hpp"
#include "program/call_changes.hpp"
#include "program/call_walk.hpp"
#include "program/trace_rows.hpp"
#include "verify/buffering.hpp"
#include "verify/matchings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// [rank][call], of [rank][row].
program::CallWalk::Threads threads_of(const program::Calls& calls, const std::vector<Column<std::uint16_t>>& of_rows) {
    if (of_rows.empty()) return {};
    if (of_rows.size() != static_cast<std::size_t>(calls.ranks()))
        throw InputError("threads of " + std::to_string(of_rows.size()) + " ranks: " + std::to_string(calls.ranks()) +
                         " are allowed");
    program::CallWalk::Threads threads(of_rows.size());
    for (Rank r = 0; r < calls.ranks(); ++r) {
        const Column<std::uint16_t>& rows = of_rows[static_cast<std::size_t>(r)];
        if (rows.size() == 0) continue;
        for (const program::Call& call : calls.of(r)) {
            if (call.row >= rows.size())
                throw InputError("rank " + std::to_string(r) + ": threads of " + std::to_string(rows.size()) +
                                 " rows, and a call of row " + std::to_string(call.row));
            threads[static_cast<std::size_t>(r)].push_back(rows.data()[call.row]);
        }
    }
    return threads;
}

template <class T>
std::span<const T> span(const Column<T>& column, std::size_t rows) {
    if (column.size() != rows)
        throw InputError("columns of " + std::to_string(column.size()) + " and " + std::to_string(rows) + " rows");
    return {column.data(), rows};
}

// Once only.
class Builder {
  public:
    Builder(Rank ranks, std::vector<std::string> labels, program::AllReduceSchedule allreduce, bool at_once)
        : trace_(std::in_place, ranks, std::move(labels), std::move(allreduce), at_once) {}

    program::CallsOfTrace& open() {
        if (!trace_) throw InputError("the calls have been finished");
        return *trace_;
    }
    std::shared_ptr<program::Calls> finish() {
        auto calls = std::make_shared<program::Calls>(std::move(open()).finish());
        trace_.reset();
        return calls;
    }

  private:
    std::optional<program::CallsOfTrace> trace_;
};

constexpr std::size_t call_columns = 6;

template <auto Change, class... Options>
std::shared_ptr<program::Calls> changed(const program::Calls& calls, Options... options) {
    return std::make_shared<program::Calls>(Change(calls, options...));
}

using UnmatchedTuple = std::tuple<Rank, Rank, bool, std::uint32_t, std::int64_t, std::int64_t, std::uint32_t>;
using WaitingTuple = std::tuple<Rank, Rank, bool, std::int64_t, std::string, std::uint32_t>;

}  // namespace

void bind_calls(nb::module_& module) {
    nb::class_<verify::Matchings>(module, "Matchings", "All matchings of receives from anywhere that were possible.")
        .def_ro("receives", &verify::Matchings::receives)
        .def_ro("kept", &verify::Matchings::kept, "Receives that take what they took.")
        .def_ro("states", &verify::Matchings::states)
        .def_ro("unclear", &verify::Matchings::unclear, "States in which a rank tests for what comes first.")
        .def_ro("complete", &verify::Matchings::complete)
        .def_ro("hangs", &verify::Matchings::hangs)
        .def_prop_ro(
            "waiting",
            [](const verify::Matchings& m) {
                std::vector<std::tuple<Rank, Rank, bool, std::int64_t, std::uint16_t, std::uint32_t>> waiting;
                for (const verify::Waiting& each : m.waiting)
                    waiting.emplace_back(each.rank, each.peer, each.is_send, each.bytes, each.label, each.row);
                return waiting;
            },
            "(rank, peer, or -1 for anyone, whether it sends, bytes, label, row) of a chain of ranks that wait.")
        .def_prop_ro(
            "taken",
            [](const verify::Matchings& m) {
                std::vector<std::tuple<Rank, Rank, Rank, std::uint32_t>> taken;
                for (const auto& each : m.taken) taken.emplace_back(each.rank, each.recorded, each.from, each.row);
                return taken;
            },
            "(rank, recorded sender, other sender, row) of the receives that lead there.");
    nb::class_<program::Calls>(module, "Calls", "Calls of each rank of a trace, with messages matched.")
        .def_prop_ro("ranks", &program::Calls::ranks)
        .def_prop_ro("messages", &program::Calls::messages)
        .def_prop_ro("bytes", &program::Calls::bytes)
        .def_prop_ro("largest_message", &program::Calls::largest_message)
        .def_prop_ro("calls", &program::Calls::calls, "Computations, sends, receives and waits of all ranks.")
        .def_prop_ro("labels", &program::Calls::labels)
        .def(
            "table",
            [](const program::Calls& calls, Index asked) {
                const auto& all = calls.of(checked_rank(calls, asked));
                auto* table = new std::vector<std::int64_t>;
                table->reserve(call_columns * all.size());
                for (const program::Call& each : all)
                    table->insert(table->end(),
                                  {each.kind, each.label, each.peer, each.message, each.row, each.amount});
                nb::capsule owner(table, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
                return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>(
                    table->data(), {table->size() / call_columns, call_columns}, owner);
            },
            "rank"_a, nb::rv_policy::reference,
            "Return [call][kind (of call_kinds), label, peer or request, number of the message at its receiver, row, "
            "bytes or ps] of a rank.")
        .def_prop_ro(
            "unmatched",
            [](const program::Calls& calls) {
                std::vector<UnmatchedTuple> found;
                for (const program::Unmatched& each : calls.unmatched())
                    found.emplace_back(each.rank, each.peer, each.is_send, each.communicator, each.tag, each.bytes,
                                       each.row);
                return found;
            },
            "(rank, peer, whether it is a send, communicator, tag, bytes, row) of sends and receives without another "
            "end.")
        .def(
            "matchings",
            [](const program::Calls& calls, std::int64_t limit, const std::vector<bool>& tests, std::int64_t bound) {
                if (tests.size() != calls.labels().size())
                    throw InputError(std::to_string(tests.size()) + " values for " +
                                     std::to_string(calls.labels().size()) + " labels");
                return verify::matchings_of(calls, limit, tests, bound);
            },
            "limit"_a, "tests"_a, "bound"_a, nb::call_guard<nb::gil_scoped_release>(),
            "Return whether the calls end whichever message a receive from anywhere takes, where messages up to "
            "`limit` "
            "bytes are buffered. `tests`: of each label, whether these calls end with what comes first. `bound`: "
            "states "
            "that are visited at most.")
        .def("merged", &changed<program::merged, std::int64_t>, "limit"_a,
             "Return the calls with messages of one rank to another as one, of at most `limit` bytes, where their "
             "sender waits between them for nothing but such sends.")
        .def("with_early_receives", &changed<program::with_early_receives>,
             "Return the calls with each receive posted behind the wait before it.")
        .def("with_late_waits", &changed<program::with_late_waits>,
             "Return the calls with waits for messages behind the computation that follows them at once.")
        .def_prop_ro("never_awaited", &program::Calls::never_awaited,
                     "(rank, row) of requests that are begun, and neither waited for nor freed.")
        .def(
            "buffering",
            [](const program::Calls& calls, const std::vector<Column<std::uint16_t>>& threads) {
                const verify::Buffering found = verify::buffering_of(calls, threads_of(calls, threads));
                std::vector<WaitingTuple> cycle;
                for (const verify::Waiting& each : found.cycle)
                    cycle.emplace_back(each.rank, each.peer, each.is_send, each.bytes, calls.labels()[each.label],
                                       each.row);
                return std::tuple(found.eager_limit, cycle);
            },
            "threads"_a = std::vector<Column<std::uint16_t>>(),
            "Return (eager limit, cycle): messages up to this many bytes have to be buffered (0: none; -1: the calls "
            "end with no buffers), and (rank, peer, whether it sends, bytes, label, row) of the ranks of a cyclic "
            "dependency where nothing is buffered. `threads`: [rank][row] thread, empty where a rank has one; threads "
            "go on whatever others wait for.");
    module.def(
        "free_network_s",
        [](const program::Calls& calls) {
            program::CallWalk walk(calls);
            walk.go_on(program::CallWalk::all_buffered);
            return 1e-12 * static_cast<double>(walk.time());
        },
        "calls"_a,
        "Return the seconds that the calls take where messages take no time: the longest chain of computing.");
    nb::class_<Builder>(module, "CallsOfTrace", "Makes `Calls` of the rows of a trace.")
        .def(nb::init<Rank, std::vector<std::string>, program::AllReduceSchedule, bool>(), "ranks"_a, "labels"_a,
             "allreduce"_a, "at_once"_a = false,
             "`at_once`: a rank that waits for something else begins all stages of its collective calls.")
        .def(
            "add_communicator",
            [](Builder& self, std::uint32_t number, std::vector<Rank> members) {
                self.open().add_communicator(number, std::move(members));
            },
            "number"_a, "members"_a)
        .def(
            "add",
            [](Builder& self, Rank rank, const Column<std::uint8_t>& kind, const Column<std::uint16_t>& flags,
               const Column<std::uint8_t>& collective, const Column<std::uint16_t>& label,
               const Column<std::uint32_t>& communicator, const Column<std::int32_t>& peer,
               const Column<std::int64_t>& tag, const Column<std::int64_t>& amount, const Column<std::int64_t>& request,
               const Column<std::int64_t>& begins, const Column<std::int32_t>& order,
               const Column<std::int64_t>& computing) {
                const std::size_t rows = kind.size();
                self.open().add(rank, {{span(kind, rows), span(flags, rows), span(collective, rows), span(label, rows),
                                        span(communicator, rows), span(peer, rows), span(tag, rows), span(amount, rows),
                                        span(request, rows)},
                                       span(begins, begins.size()),
                                       span(order, order.size()),
                                       span(computing, order.size())});
            },
            nb::kw_only(), "rank"_a, "kind"_a, "flags"_a, "collective"_a, "label"_a, "communicator"_a, "peer"_a,
            "tag"_a, "amount"_a, "request"_a, "begins"_a, "order"_a, "computing"_a,
            "Add the rows of a rank, once: columns of equal length, the first row of each block and the end of the "
            "last "
            "one, the order of the blocks, and ps of the computation with which each of them begins, if it does.")
        .def("finish", &Builder::finish);
    module.attr("block_tag") = program::MessageEnds::block_tag;
    module.attr("free_tags") = program::MessageEnds::free_tags;
    module.attr("call_kinds") = std::vector<std::string>{"compute", "send", "receive", "wait"};
    module.attr("collective_calls") =
        std::vector<std::string>(std::begin(program::collective_names), std::end(program::collective_names));
}

}  // namespace tradewind::python
