// Point-to-point messages in the posting orders that verify proves free of deadlock.
#include <algorithm>
#include <map>

#include "mpi/error.hpp"
#include "mpi/transport/transfers.hpp"
#include "schedule/transport.hpp"

namespace tradewind::mpi {

namespace {

// A call, or as many as a message is in parts.
struct Call {
    enum Kind : std::uint8_t { irecv, isend, recv, send, sendrecv, wait } kind;
    std::size_t receive = 0, send_end = 0;  // ends
    Range requests;                         // of a wait
    bool sending = false;                   // of a wait
};

class TwoSided : public Carrier {
  public:
    TwoSided(const Work& work, const schedule::Schedule& schedule)
        : work_(work), transfers_(work), blocking_(!work.request.synchronous && work.request.watchdog_s <= 0) {
        const schedule::PostingOrder posting = schedule::transport(work.request.transport).posting;
        posts_all_ = posting == schedule::isend_irecv_order;
        for (int s = 0; s < work.stages(); ++s) {
            const auto order = posting(schedule, work.communicator.rank(), s);
            stages_.push_back(calls(order, s, blocking_));
            if (posts_all_) overlapped_.push_back(calls(order, s, false));
        }
        std::size_t maximum = 0;
        for (const auto* stages : {&stages_, &overlapped_})
            for (const Stage& stage : *stages) maximum = std::max(maximum, stage.slots.size());
        requests_.assign(maximum, MPI_REQUEST_NULL);
        statuses_.resize(maximum);
    }

    void overlap(bool on) override { overlap_ = on && posts_all_; }
    void post(int stage) override {
        posted_ = 0;
        tested_ = -1;
        make(stage, of(stage).posts);
    }
    bool pokes() const override { return posts_all_; }
    bool test(int s) override {
        if (!overlap_) return false;
        const Stage& stage = of(s);
        int over = 0;
        check(MPI_Testall(static_cast<int>(stage.slots.size()), requests_.data(), &over, statuses_.data()),
              [&] { return work_.where(s) + ": MPI_Testall"; });
        if (over == 0) return false;
        for (std::size_t i = 0; i < stage.slots.size(); ++i)
            if (!stage.slots[i].sending)
                check_length(statuses_[i], *stage.slots[i].transfer, [&] { return work_.where(s); });
        tested_ = s;
        return true;
    }
    void arrive(int stage) override {
        if (tested_ != stage) make(stage, of(stage).middle);
    }
    void leave(int stage) override {
        if (tested_ != stage) make(stage, of(stage).waits);
    }
    Index messages() const override { return transfers_.sent(); }

  private:
    struct Slot {  // of a request
        const Transfer* transfer;
        bool sending;
    };
    struct Stage {
        std::vector<Call> posts, middle, waits;  // before the first wait; until all has come; for sends only
        std::vector<Slot> slots;
    };

    Stage& of(int stage) { return (overlap_ ? overlapped_ : stages_)[static_cast<std::size_t>(stage)]; }

    // --- when the plan is made ---

    // A post with its wait next to it is a blocking call; a receive and a send posted together and then both awaited
    // are MPI_Sendrecv.
    Stage calls(const std::vector<schedule::Operation>& operations, int s, bool blocking) {
        Stage stage;
        const std::map<int, std::size_t> sends = numbers(work_.stage(s).sends),
                                         receives = numbers(work_.stage(s).receives);
        const auto end_of = [&](const schedule::Operation& operation) {
            return (operation.sending ? sends : receives).at(operation.j);
        };
        const auto is = [&](std::size_t i, schedule::Operation::Kind kind, bool sending, std::int32_t j) {
            return i < operations.size() && operations[i].kind == kind && operations[i].sending == sending &&
                   operations[i].j == j;
        };
        std::map<std::pair<bool, std::int32_t>, Range> requests;
        std::vector<Call> all;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const schedule::Operation& operation = operations[i];
            if (operation.kind == schedule::Operation::wait) {
                add_wait(all, requests.at({operation.sending, operation.j}), operation.sending);
            } else if (is(i + 1, schedule::Operation::wait, operation.sending, operation.j)) {
                const Range range = add_slots(stage, s, end_of(operation), operation.sending);
                if (blocking)
                    all.push_back(
                        {operation.sending ? Call::send : Call::recv, end_of(operation), end_of(operation), {}, false});
                else
                    add_post(all, end_of(operation), operation.sending), add_wait(all, range, operation.sending);
                if (blocking) stage.slots.resize(range.begin);
                ++i;
            } else if (!operation.sending && i + 1 < operations.size() &&
                       is(i + 1, schedule::Operation::post, true, operations[i + 1].j) &&
                       is(i + 2, schedule::Operation::wait, false, operation.j) &&
                       is(i + 3, schedule::Operation::wait, true, operations[i + 1].j) &&
                       both_single(s, end_of(operation), end_of(operations[i + 1])) && blocking) {
                all.push_back({Call::sendrecv, end_of(operation), end_of(operations[i + 1]), {}, false});
                i += 3;
            } else {
                requests[{operation.sending, operation.j}] = add_slots(stage, s, end_of(operation), operation.sending);
                add_post(all, end_of(operation), operation.sending);
            }
        }
        divide(all, stage);
        return stage;
    }

    static std::map<int, std::size_t> numbers(const std::vector<End>& ends) {
        std::map<int, std::size_t> found;
        for (std::size_t i = 0; i < ends.size(); ++i) found[ends[i].j] = i;
        return found;
    }
    const std::vector<Transfer>& parts(int s, std::size_t end, bool sending) const {
        return sending ? transfers_.of_send(s, end) : transfers_.of_receive(s, end);
    }
    bool both_single(int s, std::size_t receive, std::size_t send) const {
        return parts(s, receive, false).size() == 1 && parts(s, send, true).size() == 1;
    }
    Range add_slots(Stage& stage, int s, std::size_t end, bool sending) const {
        Range range{stage.slots.size(), 0};
        for (const Transfer& t : parts(s, end, sending)) stage.slots.push_back({&t, sending});
        range.end = stage.slots.size();
        return range;
    }
    static void add_post(std::vector<Call>& all, std::size_t end, bool sending) {
        all.push_back({sending ? Call::isend : Call::irecv, end, end, {}, sending});
    }
    // Waits of one kind that follow each other are one call.
    static void add_wait(std::vector<Call>& all, Range range, bool sending) {
        if (!all.empty() && all.back().kind == Call::wait && all.back().sending == sending &&
            all.back().requests.end == range.begin)
            all.back().requests.end = range.end;
        else
            all.push_back({Call::wait, 0, 0, range, sending});
    }
    static void divide(std::vector<Call>& all, Stage& stage) {
        const auto posts = [](const Call& c) { return c.kind == Call::irecv || c.kind == Call::isend; };
        const auto first = std::find_if_not(all.begin(), all.end(), posts);
        auto last = all.end();
        while (last != first && (last - 1)->kind == Call::wait && (last - 1)->sending) --last;
        stage.posts.assign(all.begin(), first);
        stage.middle.assign(first, last);
        stage.waits.assign(last, all.end());
    }

    // --- when it is called ---

    void make(int s, const std::vector<Call>& calls) {
        for (const Call& call : calls) switch (call.kind) {
                case Call::irecv: irecv(s, call.receive); break;
                case Call::isend: isend(s, call.send_end); break;
                case Call::recv: recv(s, call.receive); break;
                case Call::send: send(s, call.send_end); break;
                case Call::sendrecv: sendrecv(s, call); break;
                case Call::wait: wait(s, call); break;
            }
    }

    std::string text(int s, bool sending, const Transfer& t) const {
        return work_.where(s) + ": " + to_text(sending, t);
    }
    void irecv(int s, std::size_t end) {
        for (const Transfer& t : parts(s, end, false))
            check(MPI_Irecv(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), &requests_[posted_++]),
                  [&] { return text(s, false, t); });
    }
    void isend(int s, std::size_t end) {
        const auto call = work_.request.synchronous ? MPI_Issend : MPI_Isend;
        for (const Transfer& t : parts(s, end, true))
            check(call(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), &requests_[posted_++]),
                  [&] { return text(s, true, t); });
    }
    void recv(int s, std::size_t end) {
        for (const Transfer& t : parts(s, end, false)) {
            MPI_Status status;
            check(MPI_Recv(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), &status),
                  [&] { return text(s, false, t); });
            check_length(status, t, [&] { return work_.where(s); });
        }
    }
    void send(int s, std::size_t end) {
        for (const Transfer& t : parts(s, end, true))
            check(MPI_Send(t.data, t.count, t.type, t.peer, t.tag, work_.comm()), [&] { return text(s, true, t); });
    }
    void sendrecv(int s, const Call& call) {
        const Transfer &in = parts(s, call.receive, false)[0], &out = parts(s, call.send_end, true)[0];
        MPI_Status status;
        check(MPI_Sendrecv(out.data, out.count, out.type, out.peer, out.tag, in.data, in.count, in.type, in.peer,
                           in.tag, work_.comm(), &status),
              [&] { return text(s, true, out) + " and " + to_text(false, in); });
        check_length(status, in, [&] { return work_.where(s); });
    }
    void wait(int s, const Call& call) {
        const std::size_t first = call.requests.begin;
        const auto slot = [&](int i) { return of(s).slots[first + static_cast<std::size_t>(i)]; };
        wait_all(
            static_cast<int>(call.requests.size()), &requests_[first], &statuses_[first], work_.request.watchdog_s,
            [&] { return work_.where(s); }, [&](int i) { return to_text(slot(i).sending, *slot(i).transfer); });
        if (call.sending) return;
        for (std::size_t i = 0; i < call.requests.size(); ++i)
            check_length(statuses_[first + i], *slot(static_cast<int>(i)).transfer, [&] { return work_.where(s); });
    }

    const Work& work_;
    const Transfers transfers_;
    const bool blocking_;     // whether blocking calls may be made: they cannot be given up, nor made synchronous
    bool posts_all_ = false;  // the order has no call that must block
    bool overlap_ = false;
    int tested_ = -1;  // the stage that a test has found over
    std::vector<Stage> stages_;
    std::vector<Stage> overlapped_;  // the same without a blocking call, where the order allows that
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> statuses_;
    std::size_t posted_ = 0;
};

class TwoSidedTransport : public Transport {
    std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule& schedule, Buffers&) override {
        return std::make_unique<TwoSided>(work, schedule);
    }
    bool alone(const PlanRequest& request) const override { return !request.packed_by(schedule::Packing::direct); }
};

}  // namespace

std::unique_ptr<Transport> make_two_sided() {
    return std::make_unique<TwoSidedTransport>();
}

}  // namespace tradewind::mpi
