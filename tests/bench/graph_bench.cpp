// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Measures reading and querying a graph of a million alive nodes: 100 steps of a model of 400 layers whose losses are
// retained. Counters are percentiles of single queries in µs, and memory in MiB.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>

#include "storage/attribution/category_grouping.h"
#include "storage/graph/categories.h"
#include "storage/graph/graph_growth.h"
#include "storage/graph/graph_state.h"
#include "storage/read/open_trace.h"
#include "storage/read/read_graph.h"
#include "storage/timeline/curves.h"
#include "storage/write/trace_writer.h"

namespace {

using namespace tidemark;

constexpr int steps = 100, layers = 400, nodes_per_layer = 25;

class Program {
public:
    Program() {
        trace_.streams = {{0, ""}};
        trace_.pools = {Pool{}};
        trace_.origins = {{}, {"aten::mm", "layers", Phase::forward, "", "", 1}};
        trace_.devices.emplace_back();
        graph_.texts = {"", "AccumulateGrad", "MmBackward0", "AddBackward0", "GeluBackward0", "self", "weight"};
        for (int parameter = 0; parameter < 2 * layers; ++parameter) {
            const AllocationRef weight = allocate(1 << 22);
            parameters_.push_back(node(1, {}, {}, weight));
            graph_.labels.push_back({weight, 0, Category::parameter, 6});
        }
        for (int step = 0; step < steps; ++step) {
            const int64_t start = now_;
            run_step();
            trace_.steps.push_back({step, StepSource::optimizer, start, now_});
        }
        trace_.duration = now_;
    }

    const Trace& trace() const { return trace_; }
    const GraphTables& graph() const { return graph_; }

private:
    AllocationRef allocate(uint64_t bytes) {
        DeviceHistory& device = trace_.devices[0];
        const EventNumber event = device.event_count();
        device.allocations.push_back({event, never, never, 0, bytes, bytes, 0, 0, no_segment, 1});
        device.event_time.push_back(now_ += 1000);
        device.event_ref.emplace_back(Action::alloc, static_cast<uint32_t>(device.allocations.size() - 1));
        return {0, device.allocations.size() - 1};
    }

    NodeIndex node(uint32_t type, std::initializer_list<NodeIndex> children, std::initializer_list<AllocationRef> saved,
                   AllocationRef output) {
        GraphNodes& n = graph_.nodes;
        n.id.push_back(n.size() + 1);
        n.type.push_back(type);
        n.variable.push_back(0);
        n.sequence.push_back(n.size());
        n.origin.push_back(1);
        n.stack.push_back(0);
        n.created.push_back(now_);
        n.executed.push_back(never_happened);
        n.released.push_back(never_happened);
        n.destroyed.push_back(never_happened);
        n.output.push_back(output);
        uint16_t slot = 0;
        for (const NodeIndex child : children) {
            graph_.edges.to.push_back(child);
            graph_.edges.slot.push_back(slot++);
            graph_.edges.input.push_back(0);
        }
        graph_.edges.first.push_back(static_cast<uint32_t>(graph_.edges.to.size()));
        SavedTensors& s = graph_.saved;
        for (const AllocationRef allocation : saved) {
            s.name.push_back(5);
            s.allocation.push_back(allocation);
            s.offset.push_back(0);
            s.bytes.push_back(1 << 20);
            s.version.push_back(0);
            s.is_view.push_back(0);
            s.is_packed.push_back(0);
        }
        s.first.push_back(static_cast<uint32_t>(s.name.size()));
        return n.size() - 1;
    }

    void run_step() {
        const auto output = [&](NodeIndex n) { return graph_.nodes.output[n]; };
        NodeIndex x = node(4, {}, {}, allocate(1 << 20));
        for (int layer = 0; layer < layers; ++layer) {
            const NodeIndex weight = parameters_[2 * layer], bias = parameters_[2 * layer + 1], residual = x;
            for (int i = 0; i < nodes_per_layer - 1; ++i) {
                switch (i % 3) {
                    case 0: x = node(2, {x, weight}, {output(x), output(weight)}, allocate(1 << 20)); break;
                    case 1: x = node(3, {x, bias}, {}, allocate(1 << 20)); break;
                    default: x = node(4, {x, residual}, {output(x), output(residual)}, allocate(1 << 20)); break;
                }
            }
            x = node(3, {x, residual}, {}, allocate(1 << 20));
        }
    }

    Trace trace_;
    GraphTables graph_;
    std::vector<NodeIndex> parameters_;
    int64_t now_ = 0;
};

double mebibytes_in_use() {
    malloc_trim(0);
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd) / (1 << 20);
}

double highest_mebibytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The trace file, opened, with its graph and indexes.
struct Fixture {
    Fixture()
        : path(std::filesystem::temp_directory_path() /
               ("tidemark-graph-bench-" + std::to_string(getpid()) + ".tide")) {
        Progress progress;
        {
            const Program program;
            ok = static_cast<bool>(write_trace(program.trace(), peak_events(program.trace()), path, IfExists::replace,
                                               progress, &program.graph()));
        }
        if (const auto opened = open_trace(path, progress)) {
            trace = *opened;
            if (const auto read = read_graph(*trace, progress)) {
                tables = *read;
            }
        }
        ok = ok && trace && tables;
        if (ok) {
            index = std::make_unique<GraphIndex>(trace, tables);
            categories = std::make_unique<Categories>(*index);
            graph_state = std::make_unique<GraphState>(*index, *categories, trace->duration);
        }
    }
    ~Fixture() { std::filesystem::remove(path); }

    std::string path;
    bool ok = false;
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const GraphTables> tables;
    std::unique_ptr<GraphIndex> index;
    std::unique_ptr<Categories> categories;
    std::unique_ptr<GraphState> graph_state;
};

const Fixture& fixture() {
    static const Fixture fixture;
    return fixture;
}

/// Measures time and memory of `make`, which returns the object it creates.
template <class Make>
void measure(benchmark::State& state, Make&& make) {
    if (!fixture().ok) {
        state.SkipWithError("the trace could not be written and read");
        return;
    }
    const double before = mebibytes_in_use();
    double used = 0;
    for (auto _ : state) {
        const auto made = make();
        state.PauseTiming();
        used = mebibytes_in_use() - before;
        state.ResumeTiming();
    }
    state.counters["MiB"] = used;
    state.counters["highest_MiB"] = highest_mebibytes();
}

/// Measures a query on random nodes, one node at a time.
template <class Query>
void measure_query(benchmark::State& state, Query&& query) {
    if (!fixture().ok) {
        state.SkipWithError("the trace could not be written and read");
        return;
    }
    std::mt19937 random(1);
    std::vector<double> durations;
    for (auto _ : state) {
        const auto node = static_cast<NodeIndex>(random() % fixture().tables->nodes.size());
        const auto start = std::chrono::steady_clock::now();
        benchmark::DoNotOptimize(query(node));
        durations.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(durations.begin(), durations.end());
    for (const int percent : {50, 95, 99}) {
        state.counters["p" + std::to_string(percent) + "_us"] =
            durations[durations.size() * static_cast<size_t>(percent) / 100];
    }
}

void read(benchmark::State& state) {
    measure(state, [] {
        Progress progress;
        return read_graph(*fixture().trace, progress);
    });
}
void make_index(benchmark::State& state) {
    measure(state, [] { return std::make_unique<GraphIndex>(fixture().trace, fixture().tables); });
}
void make_categories(benchmark::State& state) {
    measure(state, [] { return std::make_unique<Categories>(*fixture().index); });
}
void make_graph_state(benchmark::State& state) {
    measure(state, [] {
        return std::make_unique<GraphState>(*fixture().index, *fixture().categories, fixture().trace->duration);
    });
}
void category_grouping(benchmark::State& state) {
    measure(state, [] { return group_by_category(*fixture().categories, 0); });
}
void growth(benchmark::State& state) {
    measure(state, [] { return graph_growth(*fixture().categories); });
}
void pending_roots(benchmark::State& state) {
    measure(state, [] { return roots_never_executed(*fixture().graph_state, ReferrerIndex(*fixture().index, 0)); });
}
void query_retained_bytes(benchmark::State& state) {
    measure_query(state, [](NodeIndex node) {
        return fixture().graph_state->retained_bytes(node) + fixture().graph_state->dominator(node);
    });
}
void query_freed_by(benchmark::State& state) {
    measure_query(state, [](NodeIndex node) { return fixture().graph_state->freed_by(node); });
}
void query_path(benchmark::State& state) {
    measure_query(state, [](NodeIndex node) { return fixture().graph_state->path_to(node); });
}
void query_summary(benchmark::State& state) {
    measure_query(state, [](NodeIndex node) { return fixture().graph_state->summary(node); });
}
void query_root_freed_by(benchmark::State& state) {
    measure_query(state, [](NodeIndex node) {
        const auto& roots = fixture().graph_state->roots();
        return fixture().graph_state->freed_by(roots[node % roots.size()]);
    });
}

BENCHMARK(read)->Unit(benchmark::kMillisecond);
BENCHMARK(make_index)->Unit(benchmark::kMillisecond);
BENCHMARK(make_categories)->Unit(benchmark::kMillisecond);
BENCHMARK(make_graph_state)->Unit(benchmark::kMillisecond);
BENCHMARK(category_grouping)->Unit(benchmark::kMillisecond);
BENCHMARK(growth)->Unit(benchmark::kMillisecond);
BENCHMARK(pending_roots)->Unit(benchmark::kMillisecond);
BENCHMARK(query_retained_bytes)->Iterations(100000);
BENCHMARK(query_freed_by)->Iterations(2000);
BENCHMARK(query_root_freed_by)->Iterations(300);
BENCHMARK(query_path)->Iterations(2000);
BENCHMARK(query_summary)->Iterations(1000);

}  // namespace

BENCHMARK_MAIN();
