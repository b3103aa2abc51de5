#include "schedule/transport.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tradewind::schedule {

namespace {

template <typename Entries, typename Wanted>
std::string those_of(const Entries& entries, Wanted wanted) {
    std::string names;
    for (const auto& entry : entries)
        if (wanted(entry)) names += (names.empty() ? "" : ", ") + entry.name;
    return names;
}

bool goes_with(const TransportEntry& entry, const std::string& packing) {
    return std::find(entry.packings.begin(), entry.packings.end(), packing) != entry.packings.end();
}

bool known_packing(const std::string& name) {
    return std::any_of(packings().begin(), packings().end(), [&](const PackingEntry& e) { return e.name == name; });
}

}  // namespace

const std::vector<PackingEntry>& packings() {
    static const std::vector<PackingEntry> table{
        {Packing::buffer, "buffer", "a message is gathered in one pass over memory, sent, and scattered in another"},
        {Packing::datatype, "datatype", "MPI gathers and scatters, by datatypes that describe where the points lie"},
        {Packing::direct, "direct", "one message, put or copy for each contiguous run of points; nothing is packed"},
    };
    return table;
}

const std::vector<TransportEntry>& transports() {
    const auto with = [](std::initializer_list<Packing> kinds) {
        std::vector<std::string> names;
        for (const Packing kind : kinds) names.push_back(name_of(kind));
        return names;
    };
    static const auto buffer = with({Packing::buffer}), datatype = with({Packing::datatype}),
                      types = with({Packing::buffer, Packing::datatype}),
                      any = with({Packing::buffer, Packing::datatype, Packing::direct}),
                      untyped = with({Packing::buffer, Packing::direct});
    // One-sided transports and collectives have the posting order that they amount to. A put that waits for the
    // target's "ready" is a send that waits for its receive; reading a peer's memory once that is ready is a receive,
    // and the peer does not wait for it before the end. A fence and a collective start everything, then await
    // everything.
    static const std::vector<TransportEntry> table{
        {"sendrecv", "one exchange after another, sending and receiving at once", Family::two_sided, sendrecv_order,
         any},
        {"isend-recv", "all sends started, then one blocking receive after another", Family::two_sided,
         isend_recv_order, any},
        {"send-irecv", "all receives started, then one blocking send after another", Family::two_sided,
         send_irecv_order, any},
        {"isend-irecv", "all receives and sends started, then all awaited", Family::two_sided, isend_irecv_order, any},
        {"even-odd", "blocking sends and receives, half of the ranks sending while the others receive",
         Family::two_sided, even_odd_order, any},
        {"persistent", "as isend-irecv, with requests that are made once with the plan", Family::persistent,
         isend_irecv_order, any},
        {"put-fence", "each rank writes into its peers' memory, between two fences of all ranks", Family::fence,
         isend_irecv_order, any},
        {.name = "get-fence",
         .description = "each rank reads its peers' memory, between two fences of all ranks",
         .family = Family::fence,
         .posting = isend_irecv_order,
         .packings = any,
         .gets = true},
        {"put-notify", "each rank writes into a peer's memory when that is ready, then a flag for which the peer looks",
         Family::notify, send_irecv_order, any},
        {"shared", "ranks of a node read each other's memory with plain loads; between nodes isend-irecv",
         Family::shared, isend_recv_order, untyped},
        {.name = "neighbor",
         .description = "MPI's collective among neighbours",
         .family = Family::collective,
         .posting = isend_irecv_order,
         .packings = types,
         .one_stage = true,
         .among_neighbors = true},
        {"alltoallv", "MPI's collective among all ranks of a group, of packed data", Family::collective,
         isend_irecv_order, buffer, true},
        {"alltoallw", "MPI's collective among all ranks of a group, with a datatype for each peer", Family::collective,
         isend_irecv_order, datatype, true},
        {.name = "nccl",
         .description = "from GPU to GPU by NCCL or RCCL, in the order of streams; a GPU for each rank",
         .family = Family::nccl,
         .posting = isend_irecv_order,
         .packings = buffer,
         .on_devices = true},
    };
    return table;
}

const TransportEntry& default_transport() {
    static const TransportEntry& entry = transport("isend-irecv");
    return entry;
}

const PackingEntry& default_packing() {
    return packings().front();
}

const std::string& name_of(Packing packing) {
    return packings()[static_cast<std::size_t>(packing)].name;
}

std::string name_of(Family family) {
    switch (family) {
        case Family::two_sided: return "two-sided";
        case Family::persistent: return "persistent";
        case Family::fence: return "fence";
        case Family::notify: return "notify";
        case Family::shared: return "shared";
        case Family::collective: return "collective";
        case Family::nccl: return "nccl";
    }
    return "";
}

const TransportEntry& transport(const std::string& name) {
    for (const TransportEntry& entry : transports())
        if (entry.name == name) return entry;
    throw InputError(unknown_name("transport", name, names_of(transports())));
}

std::string transport_refusal(const Schedule& schedule, const std::string& name, const std::string& packing) {
    const TransportEntry& entry = transport(name);
    if (!known_packing(packing)) return unknown_name("packing", packing, names_of(packings()));
    if (!goes_with(entry, packing))
        return "transport '" + name + "' does not go with packing '" + packing + "': it goes with " +
               those_of(packings(), [&](const PackingEntry& p) { return goes_with(entry, p.name); }) + ", and '" +
               packing + "' with " +
               those_of(transports(), [&](const TransportEntry& t) { return goes_with(t, packing); });
    if (entry.one_stage && schedule.stages() > 1)
        return "transport '" + name + "' carries a schedule of one stage, and " + schedule.algorithm() + " has " +
               std::to_string(schedule.stages()) +
               " (one stage have burst of a transpose, direct of a halo or a fetch, pairwise of a gather-scatter); "
               "any " +
               "number of stages carry " + those_of(transports(), [](const TransportEntry& t) { return !t.one_stage; });
    return "";
}

}  // namespace tradewind::schedule
