// How fast the recorder process takes events, how much host memory it needs and how long its traces are.
//
// recorder_bench full PAIRS OUTPUT: a ring is filled with PAIRS allocations and their frees beforehand, so that nothing
//   but the recorder is measured.
// recorder_bench steps SECONDS OUTPUT: made-up training steps of 200 ms whose memory lives from forward to backward.
// TIDEMARK_RECORDER names the program.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/recorder/simulated_program.h"

namespace {

using namespace tidemark;
using namespace tidemark::test;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Private memory, without the rings.
int64_t memory_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/status", pid));
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("RssAnon:")) {
            return std::atoll(line.c_str() + 8) * 1024;
        }
    }
    return 0;
}

/// Steps of 3,000 activations that are freed in the second half, beside as many short-lived blocks.
void train(SimulatedAllocator& allocator, SimulatedThread& thread, double seconds) {
    const uint32_t stack = thread.stack({{"forward", 10}, {"main", 3}});
    const uint32_t op = thread.op(TIDEMARK_SCOPE_OP, "aten::linear", 0);
    const EventContext context{stack, op, 0, TIDEMARK_PHASE_FORWARD};
    const auto rest = [](int i) {
        if (i % 300 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    };
    const auto start = Clock::now();
    std::vector<uint64_t> activations;
    while (seconds_since(start) < seconds) {
        for (int i = 0; i < 3000; ++i) {
            activations.push_back(
                allocator.allocate(thread, 512u * (1u + static_cast<uint32_t>(i) * 7 % 4000), context));
            allocator.free(thread, allocator.allocate(thread, 1 << 20, context), true, context);
            rest(i);
        }
        for (int i = 0; !activations.empty(); ++i) {
            allocator.free(thread, activations.back(), true, context);
            activations.pop_back();
            rest(i);
        }
    }
}

class Watch {
public:
    explicit Watch(pid_t recorder) : recorder_(recorder), thread_([this] { run(); }) {}
    ~Watch() { most(); }
    int64_t most() {
        ended_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
        return most_;
    }

private:
    void run() {
        while (!ended_) {
            most_ = std::max(most_, memory_of(recorder_));
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    const pid_t recorder_;
    std::atomic<bool> ended_{false};
    int64_t most_ = 0;
    std::thread thread_;
};

}  // namespace

int main(int count, char** words) {
    if (count != 4 || (std::string(words[1]) != "full" && std::string(words[1]) != "steps")) {
        fmt::print(stderr, "recorder_bench full PAIRS OUTPUT\nrecorder_bench steps SECONDS OUTPUT\n");
        return 2;
    }
    const bool is_full = std::string(words[1]) == "full";
    const int64_t amount = std::atoll(words[2]);
    const std::string output = words[3];
    SimulatedProgram program({2, is_full ? std::bit_ceil(static_cast<uint64_t>(amount) * 4) : uint64_t{1} << 18});
    SimulatedThread thread(program, 1, 1);
    SimulatedAllocator allocator(0);
    allocator.tell_state(thread, TIDEMARK_STATE_START);
    if (is_full) {
        Traffic traffic(allocator, thread, 1);
        traffic.run(amount);
        traffic.free_all();
        thread.end(TIDEMARK_END_STOPPED);
    }
    auto start = Clock::now();
    if (!program.start_recorder(output, getpid(), "", true)) {
        fmt::print(stderr, "{}\n", program.failure());
        return 1;
    }
    Watch watch(program.recorder_pid(output));
    if (!is_full) {
        train(allocator, thread, static_cast<double>(amount));
        thread.end(TIDEMARK_END_STOPPED);
    }
    auto& ring = program.region().ring(0);
    while (ring.tail.load() != ring.head.load()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const double taken = seconds_since(start);
    start = Clock::now();
    program.wait_for(recorder::RecorderState::finished, 600);
    const auto events = static_cast<double>(allocator.events());
    const auto bytes = static_cast<double>(std::filesystem::file_size(output));
    fmt::print(
        "{:.0f} events: {:.2f} M events/s, {:.2f} s from the last event until the trace is finished, {:.1f} bytes "
        "per event, {} MB of host memory\n",
        events, events / taken / 1e6, seconds_since(start), bytes / events, watch.most() >> 20);
    return 0;
}
