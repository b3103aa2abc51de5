// How one transport with one packing carries messages between the ranks of a node, as it was measured.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/units.hpp"

namespace tradewind::machine {

// Rates by bytes and by how long the runs are in which they lie in memory. Between what is given, the time of a byte
// is interpolated: along the logarithm of the bytes, and along the reciprocal of the run, as a run costs some time more
// than its bytes. Beyond the first and the last value of either it is that value's; but below the shortest run, the
// time of a run stays that of the shortest.
class RateTable {
  public:
    // Throws InputError unless sizes and runs ascend from 1 byte on, and each run, and the whole, has a rate (bytes a
    // second) for 1 to all of the sizes. Where there are fewer rates than sizes, the last one holds for longer
    // messages.
    RateTable(std::vector<double> sizes, std::vector<double> runs, std::vector<std::vector<double>> rates,
              std::vector<double> whole);

    // Seconds for bytes in this many runs of equal length; 0 bytes have 0 runs.
    double seconds(double bytes, double runs) const;
    // The number of runs of the longest length that has rates of its own; 1 where none has.
    double fewest_runs(double bytes) const { return runs_.empty() ? 1 : std::max(1.0, bytes / runs_.back()); }

  private:
    double byte_time(const std::vector<double>& times, double bytes) const;

    std::vector<double> sizes_, runs_;
    std::vector<std::vector<double>> times_;  // [run][size] s per byte
    std::vector<double> whole_;               // [size] s per byte, of what is one run
};

// A message costs latency + overhead + its bytes at the rate of the table when the two ranks exchange one each at a
// time. Half of the overhead is its sender's, half its receiver's.
struct IntranodeTransport {
    Picoseconds latency, overhead;
    RateTable rates;                     // of what lies in the same runs at both ends
    std::optional<RateTable> scattered;  // of what is one run at the sender, and lies in runs at the receiver
    RateTable copies;                    // within a rank
    Bytes element{8};                    // of one value of one field: several fields are as many runs
    std::optional<RateTable> gathered;   // of the same transport with messages that are gathered, where these are not

    // CPU time at one end for the bytes of a message, in this many runs there: half of the time of such runs
    // where both ends are `alike`, halos and fetches. Else the other end is taken to be one run. Then what runs cost a
    // receiver was measured; a sender that gathers has all the rest of a message of runs at both ends, but for the copy
    // to where it is scattered to: a buffer that is written each time is not in the receiver's cache, and takes longer
    // to get there.
    double send_seconds(double bytes, double runs, bool alike) const;
    double receive_seconds(double bytes, double runs, bool alike) const;
    // CPU time at either end of a message that is combined. What is sent is new each time, as only gathered messages
    // are among those that were measured; so it counts as one of the longest runs of these.
    double combined_seconds(double bytes) const {
        const RateTable& table = gathered ? *gathered : rates;
        return table.seconds(bytes, table.fewest_runs(bytes)) / 2;
    }
};

}  // namespace tradewind::machine
