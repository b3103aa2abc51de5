#include "machine/intranode.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"

namespace tradewind::machine {

namespace {

void check_ascending(const char* what, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!(values[i] >= 1 && (i == 0 || values[i] > values[i - 1])))
            throw InputError(std::string(what) +
                             " of a table of rates: 1 byte or more, in ascending order, are allowed");
}

std::vector<double> byte_times(const std::vector<double>& rates, std::size_t sizes) {
    if (rates.empty() || rates.size() > sizes)
        throw InputError("a table of rates has " + std::to_string(rates.size()) + " rates of a run: 1 to " +
                         std::to_string(sizes) + ", one for each size, are allowed");
    std::vector<double> times;
    for (const double rate : rates) {
        if (!(rate >= 1e3 && rate <= 1e15)) throw InputError("a rate of a table: 1kB/s to 1000TB/s are allowed");
        times.push_back(1 / rate);
    }
    times.resize(sizes, times.back());
    return times;
}

}  // namespace

RateTable::RateTable(std::vector<double> sizes, std::vector<double> runs, std::vector<std::vector<double>> rates,
                     std::vector<double> whole)
    : sizes_(std::move(sizes)), runs_(std::move(runs)) {
    if (sizes_.empty()) throw InputError("a table of rates needs one size or more");
    check_ascending("sizes", sizes_);
    check_ascending("runs", runs_);
    if (rates.size() != runs_.size()) throw InputError("a table of rates needs rates for each run");
    for (const auto& of_run : rates) times_.push_back(byte_times(of_run, sizes_.size()));
    whole_ = byte_times(whole, sizes_.size());
}

double RateTable::byte_time(const std::vector<double>& times, double bytes) const {
    const auto above = std::upper_bound(sizes_.begin(), sizes_.end(), bytes);
    if (above == sizes_.begin()) return times.front();
    if (above == sizes_.end()) return times.back();
    const auto i = static_cast<std::size_t>(above - sizes_.begin());
    const double part = std::log(bytes / sizes_[i - 1]) / std::log(sizes_[i] / sizes_[i - 1]);
    return times[i - 1] + part * (times[i] - times[i - 1]);
}

double RateTable::seconds(double bytes, double runs) const {
    if (bytes <= 0) return 0;
    if (runs <= 1 || runs_.empty()) return bytes * byte_time(whole_, bytes);
    const double run = bytes / runs;
    const auto above = std::upper_bound(runs_.begin(), runs_.end(), run);
    if (above == runs_.begin()) return bytes * byte_time(times_.front(), bytes) * runs_.front() / run;
    if (above == runs_.end()) return bytes * byte_time(times_.back(), bytes);
    const auto i = static_cast<std::size_t>(above - runs_.begin());
    const double part = (1 / run - 1 / runs_[i]) / (1 / runs_[i - 1] - 1 / runs_[i]);
    const double shorter = byte_time(times_[i - 1], bytes), longer = byte_time(times_[i], bytes);
    return bytes * (longer + part * (shorter - longer));
}

double IntranodeTransport::send_seconds(double bytes, double runs, bool alike) const {
    const double both = rates.seconds(bytes, runs), whole = rates.seconds(bytes, 1);
    if (alike || !scattered || runs <= 1) return both / 2;
    return std::max(whole / 2, both - copies.seconds(bytes, runs) - whole / 2);
}

double IntranodeTransport::receive_seconds(double bytes, double runs, bool alike) const {
    if (alike || !scattered || runs <= 1) return rates.seconds(bytes, runs) / 2;
    const double whole = rates.seconds(bytes, 1);
    return std::max(whole / 2, scattered->seconds(bytes, runs) - whole / 2);
}

}  // namespace tradewind::machine
