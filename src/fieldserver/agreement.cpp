#include "fieldserver/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "mpi/agreement.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr std::size_t text_bytes = 2000, rank_bytes = 8;
constexpr char input_mark = 'i', other_mark = 'o';  // before the text of an error

std::string comparing() {
    return "comparing the calls of the ranks";
}

void find_first(void* in, void* in_and_out, int* texts, MPI_Datatype*) {
    auto* theirs = static_cast<unsigned char*>(in);
    auto* ours = static_cast<unsigned char*>(in_and_out);
    for (int i = 0; i < *texts; ++i, theirs += text_bytes, ours += text_bytes)
        if (std::memcmp(theirs, ours, rank_bytes) < 0) std::memcpy(ours, theirs, text_bytes);
}

// For as long as MPI runs.
struct FirstText {
    MPI_Datatype text = MPI_DATATYPE_NULL;
    MPI_Op operation = MPI_OP_NULL;
    FirstText() {
        mpi::check(MPI_Type_contiguous(text_bytes, MPI_BYTE, &text), comparing);
        mpi::check(MPI_Type_commit(&text), comparing);
        mpi::check(MPI_Op_create(find_first, 1, &operation), comparing);
    }
};

// As many bytes of a text as a message has, in whole characters of UTF-8.
std::string beginning_of(const std::string& text) {
    if (text.size() <= text_bytes - rank_bytes) return text;
    std::size_t size = text_bytes - rank_bytes;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    return text.substr(0, size);
}

}  // namespace

// The part of a rank in an agreement, with the buffers of MPI.
class Agreement::Part {
  public:
    // Values of which the minimum over the ranks is taken; of a negated value that is the maximum.
    struct State {
        std::int64_t first_failed, failed, calls, minus_calls, digest, minus_digest, minus_gone;
    };
    static constexpr int state_values = sizeof(State) / sizeof(std::int64_t);
    // The text of a rank, behind its number as bytes that are compared in their order.
    using Text = std::array<unsigned char, text_bytes>;

    Part(MPI_Comm comm, const State& mine) : comm_(comm), mine_(mine) {
        mpi::check(MPI_Iallreduce(&mine_, &all_, state_values, MPI_INT64_T, MPI_MIN, comm, &state_request_), comparing);
    }
    // Sends the text of this rank, or with the number of ranks as `rank` none.
    void send_text(int rank, const std::string& text) {
        static const FirstText first;
        text_ = {};
        for (std::size_t i = 0; i < rank_bytes; ++i)
            text_[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(rank) >> 8 * (rank_bytes - 1 - i));
        const std::string sent = beginning_of(text);
        std::copy(sent.begin(), sent.end(), text_.begin() + rank_bytes);
        mpi::check(MPI_Iallreduce(&text_, &first_text_, 1, first.text, first.operation, comm_, &text_request_),
                   comparing);
    }
    void wait_for_states() { mpi::check(MPI_Wait(&state_request_, MPI_STATUS_IGNORE), comparing); }
    // The text of the first rank that has one.
    std::string wait_for_text() {
        mpi::check(MPI_Wait(&text_request_, MPI_STATUS_IGNORE), comparing);
        const auto* text = reinterpret_cast<const char*>(first_text_.data()) + rank_bytes;
        return {text, std::find(text, text + text_bytes - rank_bytes, '\0')};
    }
    void wait() {
        wait_for_states();
        wait_for_text();
    }
    bool is_pending() const { return state_request_ != MPI_REQUEST_NULL || text_request_ != MPI_REQUEST_NULL; }

    // These are known when the states are.
    int first_failed() const { return static_cast<int>(all_.first_failed); }
    bool all_failed() const { return all_.failed != 0; }
    bool same_calls() const { return all_.calls == -all_.minus_calls && all_.digest == -all_.minus_digest; }
    bool is_gone() const { return all_.minus_gone != 0; }  // one takes part in nothing more

  private:
    MPI_Comm comm_;
    State mine_, all_{};
    Text text_{}, first_text_{};
    MPI_Request state_request_ = MPI_REQUEST_NULL, text_request_ = MPI_REQUEST_NULL;
};

Agreement::Agreement(MPI_Comm comm) : communicator_(comm), own_(comm) {}

// MPI still reads and writes what the other ranks have not taken part in: it is kept for good.
Agreement::~Agreement() {
    for (std::unique_ptr<Part>* part : {&sent_, &last_part_}) {
        if (!*part || !(*part)->is_pending()) continue;
        own_.keep();
        static_cast<void>(part->release());
    }
}

void Agreement::note(const std::string& call) {
    ++calls_;
    digest_ = static_cast<std::int64_t>(fnv1a(call + std::to_string(digest_)) >> 1);
    last_ = call;
}

void Agreement::check() {
    if (ended_) return;
    settle();
    if (calls_ == agreed_) return;
    const auto part = part_of(false, false);
    part->wait_for_states();
    if (part->first_failed() < ranks()) {
        part->send_text(ranks(), "");
        break_by(part->wait_for_text(), part->first_failed(), part->is_gone());
    }
    if (!part->same_calls()) break_by_other_calls();
    agreed_ = calls_;
}

void Agreement::send_error(const std::string& text, ErrorKind kind) {
    settle();
    raised_ = true;
    if (!ended_) sent_ = error_part(text, kind, false);
}

void Agreement::leave(const std::string& text) {
    if (ended_) return;
    ended_ = true;
    if (!is_broken() && !sent_) {
        raised_ = true;
        sent_ = error_part(text, ErrorKind::other, true);
    }
    last_part_ = error_part(text, ErrorKind::other, true);
}

void Agreement::part() {
    if (!last_part_) return;
    std::vector<std::unique_ptr<Part>> parts;
    parts.push_back(std::move(last_part_));
    if (const auto sent = std::move(sent_)) {
        sent->wait();
        if (sent->all_failed() && sent->same_calls() && !sent->is_gone())  // all met one: it is the next that breaks
            parts.push_back(error_part("PlanError: it has left", ErrorKind::other, true));
    }
    for (const auto& each : parts) each->wait();
}

bool Agreement::end() {
    const bool raised = raised_;
    try {
        check();
    } catch (const mpi::PlanError&) {  // `throw_broken` does
    }
    if (is_broken() && !ended_) {
        last_part_ = no_error_part();
        if (!deserted_) {  // those that have met it may have left since then
            last_part_->wait();
            deserted_ = last_part_->is_gone();
            last_part_.reset();
        }
    }
    raised_ = raised;
    ended_ = true;
    return !is_broken();
}

void Agreement::throw_broken() {
    if (!is_broken() || (raised_ && !abandoned_)) return;
    raised_ = true;
    require_whole();
}

void Agreement::require_whole() const {
    if (!is_broken()) return;
    if (kind_ == ErrorKind::input) throw PeerInputError(broken_);
    throw mpi::PlanError(broken_);
}

void Agreement::abandon(const std::string& why) {
    if (is_broken()) return;
    broken_ = why;
    kind_ = ErrorKind::other;
    abandoned_ = true;
}

// Throws what has broken the agreement, also if this rank has sent it.
void Agreement::settle() {
    if (const auto sent = std::move(sent_)) {
        sent->wait_for_states();
        const std::string text = sent->wait_for_text();
        if (sent->is_gone() || !(sent->all_failed() && sent->same_calls()))
            break_by(text, sent->first_failed(), sent->is_gone());
        raised_ = false;
    }
    if (!is_broken()) return;
    raised_ = true;
    require_whole();
}

void Agreement::break_by(const std::string& text, int rank, bool gone) {
    deserted_ = gone;
    broken_ = "rank " + std::to_string(rank) + ": " + text.substr(1);
    kind_ = text[0] == input_mark ? ErrorKind::input : ErrorKind::other;
    raised_ = true;
    require_whole();
    throw mpi::PlanError(broken_);  // not reached: it is broken
}

void Agreement::break_by_other_calls() {
    std::array<std::int64_t, 2> mine{calls_, digest_};
    std::vector<std::int64_t> all(2 * static_cast<std::size_t>(ranks()));
    mpi::check(MPI_Allgather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, own_.handle()), comparing);
    std::size_t other = 1;
    while (all[2 * other] == all[0] && all[2 * other + 1] == all[1]) ++other;
    const std::string first = mpi::text_of(own_.handle(), 0, last_);
    const std::string theirs = mpi::text_of(own_.handle(), static_cast<int>(other), last_);
    break_by(input_mark + ("its call " + std::to_string(all[2 * other]) + " is '" + theirs + "', and call " +
                           std::to_string(all[0]) + " of rank 0 is '" + first +
                           "': all ranks of the model make the same calls in the same order"),
             static_cast<int>(other), false);
}

std::unique_ptr<Agreement::Part> Agreement::part_of(bool failed, bool gone) const {
    return std::make_unique<Part>(own_.handle(), Part::State{failed ? rank() : ranks(), failed, calls_, -calls_,
                                                             digest_, -digest_, -std::int64_t{gone}});
}

std::unique_ptr<Agreement::Part> Agreement::error_part(const std::string& text, ErrorKind kind, bool gone) const {
    auto part = part_of(true, gone);
    part->send_text(rank(), (kind == ErrorKind::input ? input_mark : other_mark) + text);
    return part;
}

std::unique_ptr<Agreement::Part> Agreement::no_error_part() const {
    auto part = part_of(false, false);
    part->send_text(ranks(), "");
    return part;
}

std::string Agreement::first_error(const std::string& local) const {
    const int failed = local.empty() ? ranks() : rank();
    int first = 0;
    mpi::check(MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm()),
               [] { return std::string("comparing the errors of the ranks"); });
    return first == ranks() ? "" : mpi::text_of(comm(), first, local);
}

}  // namespace tradewind::fieldserver
