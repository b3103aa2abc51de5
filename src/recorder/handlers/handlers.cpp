#include "recorder/handlers/handlers.hpp"

#include <numeric>

#include "recorder/json.hpp"

namespace tradewind::recorder {
namespace {

std::unordered_map<Word, WindowInfo> windows;

/// Returns whether a request that ended was cancelled.
bool was_cancelled(Word status) {
    int flag = 0;
    call("PMPI_Test_cancelled", status, reinterpret_cast<Word>(&flag));
    return flag != 0;
}

}  // namespace

void end_request(Event& event, Word handle, Word status) {
    if (handle == abi().null_request) return;
    const int slot = recorder.requests.find(handle, event.operation.thread);
    if (slot == Requests::UNKNOWN) return;
    Request& request = recorder.requests[slot];
    if (request.is_persistent && !request.is_active) return;
    Ended ended{.request = slot};
    if (request.receives_on != nullptr) {
        const Status received = read_status(status);
        ended.source = request.receives_on->world_rank(received.source);
        ended.tag = received.tag;
        ended.bytes = received.bytes;
    }
    if (request.is_cancelled) ended.cancelled = was_cancelled(status) ? 1 : 0;
    event.lists.ended.push_back(ended);
    if (request.is_persistent) {
        request.is_active = request.is_cancelled = false;
    } else {
        recorder.end_request(slot);
    }
}

ListLengths list_lengths(Word communicator, bool of_neighbors) {
    if (of_neighbors) {
        const Neighbors neighbors = read_neighbors(communicator);
        return {neighbors.destinations.size(), neighbors.sources.size()};
    }
    int is_inter = 0, size = 0;
    call("PMPI_Comm_test_inter", communicator, reinterpret_cast<Word>(&is_inter));
    call(is_inter != 0 ? "PMPI_Comm_remote_size" : "PMPI_Comm_size", communicator, reinterpret_cast<Word>(&size));
    const auto length = static_cast<std::size_t>(size);
    return {length, length};
}

bool is_root(Word communicator, int root) {
    int is_inter = 0, rank = 0;
    call("PMPI_Comm_test_inter", communicator, reinterpret_cast<Word>(&is_inter));
    call("PMPI_Comm_rank", communicator, reinterpret_cast<Word>(&rank));
    return is_inter != 0 ? root == abi().root : root == rank;
}

WindowInfo find_window(Word handle) {
    const auto known = windows.find(handle);
    return known == windows.end() ? WindowInfo{} : known->second;
}

int add_window(Word handle, const CommunicatorInfo& communicator, const char* function) {
    const int number = recorder.window_count++;
    windows[handle] = {number, &communicator};
    recorder.window_definitions += "{\"window\":" + std::to_string(number) +
                                   ",\"communicator\":" + std::to_string(communicator.number) +
                                   ",\"call\":" + json(function) + "}\n";
    return number;
}

void free_window(Word handle) {
    windows.erase(handle);
}

void keep_window(Word handle, const WindowInfo& window) {
    windows[handle] = window;
}

std::vector<int> Epoch::group_ranks(Word group) {
    return recorder.communicators.world_ranks_of(group);
}

}  // namespace tradewind::recorder
