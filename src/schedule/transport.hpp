// The ways to carry the messages of a stage from rank to rank, and to bring them into and out of the arrays.
#pragma once

#include <string>
#include <vector>

#include "schedule/posting.hpp"

namespace tradewind::schedule {

// Transports of one family are carried by one piece of code: src/mpi/transport/<family>.cpp.
enum class Family : std::uint8_t { two_sided, persistent, fence, notify, shared, collective, nccl };

struct TransportEntry {
    std::string name;
    std::string description;  // one line
    Family family;
    PostingOrder posting;               // what a rank does in a stage, as far as ranks can wait for each other
    std::vector<std::string> packings;  // that it goes with; the first is the usual one
    bool one_stage = false;             // carries schedules of one stage only: one collective is one stage
    bool gets = false;                  // of a fence: ranks get what others would put
    bool among_neighbors = false;       // of a collective: not among all ranks of a group
    bool on_devices = false;            // carries messages between arrays on devices alone
};

enum class Packing : std::uint8_t { buffer, datatype, direct };

struct PackingEntry {
    Packing kind;
    std::string name;
    std::string description;
};

// The one table of each: all lists, help texts, checks and defaults follow from it.
const std::vector<TransportEntry>& transports();
const std::vector<PackingEntry>& packings();

// The ones where none is named.
const TransportEntry& default_transport();
const PackingEntry& default_packing();

const std::string& name_of(Packing packing);
std::string name_of(Family family);  // "two-sided"

// Throws InputError for a name that is not one of them.
const TransportEntry& transport(const std::string& name);

// Why a schedule cannot be carried so, with what can; "" where it can.
std::string transport_refusal(const Schedule& schedule, const std::string& transport, const std::string& packing);

}  // namespace tradewind::schedule
