// The way to carry out a pattern, algorithm, transport and packing, and which way is taken where nothing names one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A part that is empty is open. The algorithm "native" is the MPI library's own collective, without transport and
// packing of ours.
struct Way {
    std::string algorithm, transport, packing;
    friend bool operator==(const Way&, const Way&) = default;

    bool native() const { return algorithm == "native"; }
    bool complete() const { return native() || !(algorithm.empty() || transport.empty() || packing.empty()); }
};

// "sweep,isend-irecv,buffer"; parts may be empty or left out. Throws InputError for more than three.
Way parse_way(const std::string& text);
std::string text_of(const Way& way);

// "TRADEWIND_HALO": the environment variable that names the way of a pattern.
std::string variable_of(const std::string& pattern);

// What a pattern uses where none is named: one that every rank count allows. Throws InputError for an unknown pattern.
std::string default_algorithm(const std::string& pattern);

// The parts of `way`, and for those that are open the default, or the next best that goes with what is chosen already.
Way completed(const std::string& pattern, Way way);

// Whether an algorithm passes points on from rank to rank, and a fetch says what one rank wants alone: then the ranks
// tell each other first (see known_to_all).
bool needs_all_lists(const pattern::Pattern& pattern, const std::string& algorithm);

// Why MPI has no collective for a pattern; "" where it has.
std::string native_refusal(const pattern::Pattern& pattern);

// Why a pattern cannot be carried out in a way; "" where it can. Open parts count as their defaults, and a fetch that
// needs the lists of all ranks as if it had them.
std::string way_refusal(const std::shared_ptr<const pattern::Pattern>& pattern, const Way& way);

// The MPI library's own all-to-all, which is a transport of a schedule of one stage.
const Way& all_to_all_of_mpi();
// How a plan carries out a way: of "native" the collective that MPI has for the pattern. Throws InputError for a
// transport or packing that goes with another one.
Way carried_way(const pattern::Pattern& pattern, const Way& way);

// What a tuning file says.
struct TunedWay {
    Way way;
    std::string file;
    std::string warning;  // what is to be known of it: that it was tuned elsewhere, and how that differs
};

struct ChosenWay {
    Way way;
    Way origin;  // where each part came from: "argument", the variable, the tuning file, or "default"
    std::string warning;
};

// Each part as `asked`, or else as `environment` (the text of the pattern's variable), or else as `tuned` says, which
// is asked where a part is open and counts only as a whole, or else the default. Throws InputError for what cannot be,
// which names the variable or the file where that had a say.
ChosenWay choose_way(const std::shared_ptr<const pattern::Pattern>& pattern, const Way& asked,
                     const std::string& environment, const std::function<std::optional<TunedWay>()>& tuned = {});

}  // namespace tradewind::algorithm
