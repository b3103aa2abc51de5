// The ways to carry the messages of a stage from rank to rank, and to bring them into and out of the arrays.
#pragma once

#include <string>
#include <vector>

#include "schedule/posting.hpp"

namespace tradewind::schedule {

struct TransportEntry {
    std::string name;
    std::string description;            // one line
    PostingOrder acts;                  // what a rank does in a stage, as far as ranks can wait for each other
    std::vector<std::string> packings;  // that it goes with; the first is the usual one
    bool one_stage = false;             // carries schedules of one stage only: one collective is one stage
};

struct PackingEntry {
    std::string name;
    std::string description;
};

const std::vector<TransportEntry>& transports();
const std::vector<PackingEntry>& packings();

// Throws InputError for a name that is not one of them.
const TransportEntry& transport(const std::string& name);

// Why a schedule cannot be carried so, with what can; "" where it can.
std::string transport_refusal(const Schedule& schedule, const std::string& transport, const std::string& packing);

}  // namespace tradewind::schedule
