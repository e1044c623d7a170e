// How fast the recorder process takes events, how much host memory it needs and how long its traces are.
//
// recorder_bench [PAIRS] [OUTPUT]: a ring is filled with PAIRS allocations and their frees beforehand, so that nothing
// but the recorder is measured. TIDEMARK_RECORDER names the program.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

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

}  // namespace

int main(int count, char** words) {
    const int64_t pairs = count > 1 ? std::atoll(words[1]) : 1'000'000;
    const std::string output = count > 2 ? words[2] : "recorder_bench.tide";
    SimulatedProgram program({2, std::bit_ceil(static_cast<uint64_t>(pairs) * 4)});
    SimulatedThread thread(program, 1, 1);
    SimulatedAllocator allocator(0);
    allocator.tell_state(thread, TIDEMARK_STATE_START);
    Traffic traffic(allocator, thread, 1);
    traffic.run(pairs);
    traffic.free_all();
    thread.end(TIDEMARK_END_STOPPED);

    const auto start = Clock::now();
    if (!program.start_recorder(output, getpid(), "", true)) {
        fmt::print(stderr, "{}\n", program.failure());
        return 1;
    }
    const pid_t recorder = program.recorder_pid(output);
    auto& ring = program.region().ring(0);
    int64_t most_memory = 0;
    while (ring.tail.load() != ring.head.load()) {
        most_memory = std::max(most_memory, memory_of(recorder));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const double drained = seconds_since(start);
    while (!program.wait_for(recorder::RecorderState::finished, 0)) {
        most_memory = std::max(most_memory, memory_of(recorder));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const auto events = static_cast<double>(allocator.events());
    const auto bytes = static_cast<double>(std::filesystem::file_size(output));
    fmt::print(
        "{:.0f} events: {:.2f} M events/s taken, {:.2f} s until finished, {:.1f} bytes per event, {} MB of host "
        "memory\n",
        events, events / drained / 1e6, seconds_since(start), bytes / events, most_memory >> 20);
    return 0;
}
