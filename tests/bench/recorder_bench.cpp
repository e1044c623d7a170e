// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Measures the recorder process: events per second, host memory and the size of its traces.
//
// recorder_bench full PAIRS OUTPUT: fills a ring with PAIRS allocations and their frees before the recorder starts, so
//   that only the recorder is measured.
// recorder_bench graph STEPS OUTPUT: like full, with the autograd graphs of STEPS training steps.
// recorder_bench steps SECONDS OUTPUT: simulates training steps of 200 ms whose memory is freed in backward.
// recorder_bench loop STEPS OUTPUT: simulates equal training steps of 1,000 events as fast as possible. Each retains 1
//   KiB. With TIDEMARK_DETAIL=adaptive, most of them are not written.
// recorder_bench vary STEPS OUTPUT: like loop, with steps of 800 to 1,200 events of which no two are equal.
// TIDEMARK_KEEP limits the size of the trace.
// TIDEMARK_RECORDER is the path of the recorder program.
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

/// Returns the private memory of a process in bytes, without the shared rings.
int64_t private_bytes(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/status", pid));
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("RssAnon:")) {
            return std::atoll(line.c_str() + 8) * 1024;
        }
    }
    return 0;
}

/// Runs steps of 3,000 activations, freed in the second half of the step, and as many short-lived blocks.
void train(SimulatedAllocator& allocator, SimulatedThread& thread, double seconds) {
    const uint32_t stack = thread.stack({{"forward", 10}, {"main", 3}});
    const uint32_t op = thread.op(TIDEMARK_SCOPE_OP, "aten::linear", 0);
    const EventContext context{stack, op, 0, TIDEMARK_PHASE_FORWARD};
    const auto pause = [](int i) {
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
            pause(i);
        }
        for (int i = 0; !activations.empty(); ++i) {
            allocator.free(thread, activations.back(), true, context);
            activations.pop_back();
            pause(i);
        }
    }
}

/// Runs equal steps: 246 activations that are freed in backward, 80 gradients that the next step frees, and 1 KiB that
/// stays.
/// `varies`: the number and the sizes of activations differ from step to step.
void repeat(SimulatedAllocator& allocator, SimulatedThread& thread, int64_t steps, bool varies) {
    const uint32_t forward = thread.stack({{"forward", 10}, {"main", 3}}),
                   log = thread.stack({{"log", 4}, {"main", 5}});
    const uint32_t op = thread.op(TIDEMARK_SCOPE_OP, "aten::linear", 0);
    const EventContext activation{forward, op, 0, TIDEMARK_PHASE_FORWARD}, gradient{forward, op, 0, 2},
        kept{log, 0, 0, 0};
    std::vector<uint64_t> activations, gradients;
    for (int64_t step = 0; step < steps; ++step) {
        const auto seed = varies ? static_cast<uint32_t>(step) : 0;
        for (uint32_t i = 0; i < 246 + seed * 37 % 101 - (varies ? 50 : 0); ++i) {
            activations.push_back(allocator.allocate(thread, 512u * (1u + (i * 7 + seed) % 4000), activation));
        }
        for (; !gradients.empty(); gradients.pop_back()) {
            allocator.free(thread, gradients.back(), true, gradient);
        }
        for (uint32_t i = 0; i < 80; ++i) {
            gradients.push_back(allocator.allocate(thread, 256u << (i % 12), gradient));
        }
        for (; !activations.empty(); activations.pop_back()) {
            allocator.free(thread, activations.back(), true, gradient);
        }
        allocator.allocate(thread, 1024, kept);
        thread.step(static_cast<uint64_t>(step), false);
    }
}

/// Runs steps of 1,500 nodes with 2,500 edges and 2,500 saved tensors. Nodes are created with their memory, then
/// executed and destroyed in reverse order.
void make_graphs(SimulatedAllocator& allocator, SimulatedThread& thread, int64_t steps) {
    constexpr uint32_t nodes_per_step = 1500;
    const uint32_t stack = thread.stack({{"forward", 10}, {"main", 3}});
    const uint32_t op = thread.op(TIDEMARK_SCOPE_OP, "aten::linear", 0);
    for (int64_t step = 0; step < steps; ++step) {
        std::vector<uint64_t> activations;
        const auto first = static_cast<uint32_t>(step * nodes_per_step) + 1;
        for (uint32_t id = first; id < first + nodes_per_step; ++id) {
            activations.push_back(allocator.allocate(thread, 512u * (1u + id * 7 % 4000), {stack, op, 0, 1}));
            NodeMessage node;
            node.id = id;
            node.output = allocator.memory(activations.back());
            node.number = id;
            node.stack = stack;
            node.op = op;
            MemoryMessage input = allocator.memory(activations[activations.size() / 2]);
            for (uint16_t slot = 0; slot < 1 + (id % 3 != 0) && id > first; ++slot) {
                node.edges.push_back({id - 1 - slot, slot, 0});
                node.saved.push_back(thread.saved(slot == 0 ? "self" : "other", input, 512));
            }
            thread.node(node);
        }
        for (uint32_t id = first + nodes_per_step; id-- > first;) {
            thread.node_run(id, true);
            thread.node_destroyed(id);
            allocator.free(thread, activations.back(), true, {stack, op, 0, 2});
            activations.pop_back();
        }
        thread.step(static_cast<uint64_t>(step), false);
    }
}

/// Samples the peak private memory of the recorder on its own thread.
class MemoryWatch {
public:
    explicit MemoryWatch(pid_t recorder) : recorder_(recorder), thread_([this] { run(); }) {}
    ~MemoryWatch() { peak(); }
    int64_t peak() {
        ended_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
        return peak_;
    }

private:
    void run() {
        while (!ended_) {
            peak_ = std::max(peak_, private_bytes(recorder_));
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    const pid_t recorder_;
    std::atomic<bool> ended_{false};
    int64_t peak_ = 0;
    std::thread thread_;
};

}  // namespace

int main(int count, char** words) {
    const std::string kind = count == 4 ? words[1] : "";
    if (kind != "full" && kind != "graph" && kind != "steps" && kind != "loop" && kind != "vary") {
        fmt::print(stderr,
                   "recorder_bench full PAIRS OUTPUT\nrecorder_bench graph STEPS OUTPUT\n"
                   "recorder_bench steps SECONDS OUTPUT\nrecorder_bench loop STEPS OUTPUT\n"
                   "recorder_bench vary STEPS OUTPUT\n");
        return 2;
    }
    const int64_t amount = std::atoll(words[2]);
    const std::string output = words[3];
    const int64_t records = kind == "full" ? amount * 4 : kind == "graph" ? amount * 1500 * 9 : 1 << 18;
    SimulatedProgram program({2, std::bit_ceil(static_cast<uint64_t>(records))});
    SimulatedThread thread(program, 1, 1);
    SimulatedAllocator allocator(0);
    allocator.forget_ended();
    allocator.report_state(thread, TIDEMARK_STATE_START);
    if (kind == "full") {
        Traffic traffic(allocator, thread, 1);
        traffic.run(amount);
        traffic.free_all();
    } else if (kind == "graph") {
        make_graphs(allocator, thread, amount);
    }
    const bool runs_while_recorded = kind == "steps" || kind == "loop" || kind == "vary";
    if (!runs_while_recorded) {
        thread.end(TIDEMARK_END_STOPPED);
    }
    auto start = Clock::now();
    if (!program.start_recorder(output, getpid(), "", true)) {
        fmt::print(stderr, "{}\n", program.failure());
        return 1;
    }
    MemoryWatch watch(program.recorder_pid(output));
    if (runs_while_recorded) {
        if (kind == "steps") {
            train(allocator, thread, static_cast<double>(amount));
        } else {
            repeat(allocator, thread, amount, kind == "vary");
        }
        thread.end(TIDEMARK_END_STOPPED);
    }
    auto& ring = program.region().ring(0);
    while (ring.tail.load() != ring.head.load()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const double seconds = seconds_since(start);
    start = Clock::now();
    program.wait_for(recorder::RecorderState::finished, 600);
    const auto events = static_cast<double>(allocator.events());
    const auto bytes = static_cast<double>(std::filesystem::file_size(output));
    if (kind == "graph") {
        const double nodes = static_cast<double>(amount) * 1500;
        fmt::print("{:.0f} nodes: {:.2f} M nodes/s, {:.1f} bytes per node with its events; ", nodes,
                   nodes / seconds / 1e6, bytes / nodes);
    }
    fmt::print(
        "{:.0f} events: {:.2f} M events/s, {:.2f} s from the last event until the trace is finished, {:.1f} bytes "
        "per event, {} MB of host memory\n",
        events, events / seconds / 1e6, seconds_since(start), bytes / events, watch.peak() >> 20);
    return 0;
}
