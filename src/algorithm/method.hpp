// The method to carry out a pattern, algorithm, transport and packing, and which method is taken where nothing names
// one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A part that is empty is open. The algorithm "native" is the MPI library's own collective, without transport and
// packing of ours.
struct Method {
    std::string algorithm, transport, packing;
    friend bool operator==(const Method&, const Method&) = default;

    bool native() const { return algorithm == "native"; }
    bool complete() const { return native() || !(algorithm.empty() || transport.empty() || packing.empty()); }
};

// "sweep,isend-irecv,buffer"; parts may be empty or left out. Throws InputError for more than three.
Method parse_method(const std::string& text);
std::string text_of(const Method& method);

// "TRADEWIND_HALO": the environment variable that names the method of a pattern.
std::string variable_of(const std::string& pattern);

// The algorithm of a pattern where none is named: one that every rank count allows. Throws InputError for an unknown
// pattern.
std::string default_algorithm(const std::string& pattern);

// The parts of `method`, and for those that are open the default, or the next best that goes with what is chosen
// already.
Method completed(const std::string& pattern, Method method);

// Whether an algorithm stores and forwards points, and a fetch has the list of one rank alone: then all ranks get all
// lists first (see allgather_lists).
bool needs_all_lists(const pattern::Pattern& pattern, const std::string& algorithm);

// Why MPI has no collective for a pattern; "" where it has.
std::string native_refusal(const pattern::Pattern& pattern);

// Why a pattern cannot be carried out by a method; "" where it can. Open parts count as their defaults, and a fetch
// that needs the lists of all ranks as if it had them.
std::string method_refusal(const std::shared_ptr<const pattern::Pattern>& pattern, const Method& method);

// The MPI library's own all-to-all, which is a transport of a schedule of one stage.
const Method& all_to_all_of_mpi();
// How a plan carries out a method: of "native" the collective that MPI has for the pattern. Throws InputError for a
// transport or packing that goes with another one.
Method carried_method(const pattern::Pattern& pattern, const Method& method);

// The method that a tuning file names.
struct TunedMethod {
    Method method;
    std::string file;
    std::string warning;  // that it was tuned elsewhere, and how that differs; "" where it was tuned here
};

struct ChosenMethod {
    Method method;
    Method origin;  // where each part came from: "argument", the variable, the tuning file, or "default"
    std::string warning;
};

// Each part is that of `asked`, or else of `environment` (the text of the pattern's variable), or else of `tuned`,
// which is called where a part is open and counts only as a whole, or else the default. Throws InputError for a method
// that does not exist, with the variable or the file that named a part of it.
ChosenMethod choose_method(const std::shared_ptr<const pattern::Pattern>& pattern, const Method& asked,
                           const std::string& environment,
                           const std::function<std::optional<TunedMethod>()>& tuned = {});

}  // namespace tradewind::algorithm
