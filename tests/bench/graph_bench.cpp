// What it takes to read a graph of a million nodes, all alive, and to ask it things: 100 steps of a model of 400 layers
// whose losses somebody keeps. Counters say percentiles of single questions in µs, and memory in MiB.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>

#include "storage/graph/categories.h"
#include "storage/graph/graph_growth.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/read_graph.h"
#include "storage/read/trace.h"
#include "storage/timeline/category_grouping.h"
#include "storage/write/trace_writer.h"

namespace {

using namespace tidemark;

constexpr int steps = 100, components = 400, nodes_per_layer = 25;

class Program {
public:
    Program() {
        trace_.streams = {{0, ""}};
        trace_.pools = {Pool{}};
        trace_.origins = {{}, {"aten::mm", "components", "forward", "", "", 1}};
        trace_.devices.emplace_back();
        graph_.texts = {"", "AccumulateGrad", "MmBackward0", "AddBackward0", "GeluBackward0", "self", "weight"};
        for (int component = 0; component < 2 * components; ++component) {
            const AllocationRef weight = allocate(1 << 22);
            parameters_.push_back(node(1, {}, {}, weight));
            graph_.labels.push_back({weight, 0, Category::parameter, 6});
        }
        for (int step = 0; step < steps; ++step) {
            const int64_t start = now_;
            run_step();
            trace_.steps.push_back({step, "optimizer", start, now_});
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
        for (int component = 0; component < components; ++component) {
            const NodeIndex weight = parameters_[2 * component], bias = parameters_[2 * component + 1], residual = x;
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

/// The file, and all that is made from it.
struct Fixture {
    Fixture()
        : path(std::filesystem::temp_directory_path() /
               ("tidemark-graph-bench-" + std::to_string(getpid()) + ".tide")) {
        Progress progress;
        {
            const Program program;
            ok = static_cast<bool>(write_trace(program.trace(), path, IfExists::replace, progress, &program.graph()));
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
            time_point = std::make_unique<GraphState>(*index, *categories, trace->duration);
        }
    }
    ~Fixture() { std::filesystem::remove(path); }

    std::string path;
    bool ok = false;
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const GraphTables> tables;
    std::unique_ptr<GraphIndex> index;
    std::unique_ptr<Categories> categories;
    std::unique_ptr<GraphState> time_point;
};

const Fixture& fixture() {
    static const Fixture fixture;
    return fixture;
}

/// Runs `make`, which returns what it made, and notes the memory that takes.
template <class Make>
void measure(benchmark::State& state, Make&& make) {
    if (!fixture().ok) {
        state.SkipWithError("the trace could not be written and read");
        return;
    }
    const double before = mebibytes_in_use();
    double taken = 0;
    for (auto _ : state) {
        const auto made = make();
        state.PauseTiming();
        taken = mebibytes_in_use() - before;
        state.ResumeTiming();
    }
    state.counters["MiB"] = taken;
    state.counters["highest_MiB"] = highest_mebibytes();
}

/// Asks about random nodes, one after the other.
template <class Ask>
void ask(benchmark::State& state, Ask&& question) {
    if (!fixture().ok) {
        state.SkipWithError("the trace could not be written and read");
        return;
    }
    std::mt19937 random(1);
    std::vector<double> took;
    for (auto _ : state) {
        const auto node = static_cast<NodeIndex>(random() % fixture().tables->nodes.size());
        const auto start = std::chrono::steady_clock::now();
        benchmark::DoNotOptimize(question(node));
        took.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(took.begin(), took.end());
    for (const int percent : {50, 95, 99}) {
        state.counters["p" + std::to_string(percent) + "_us"] = took[took.size() * static_cast<size_t>(percent) / 100];
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
void make_time_point(benchmark::State& state) {
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
    measure(state, [] { return roots_never_run(*fixture().time_point, ReferrerIndex(*fixture().index, 0)); });
}
void ask_dominated(benchmark::State& state) {
    ask(state, [](NodeIndex node) {
        return fixture().time_point->retained_bytes(node) + fixture().time_point->dominator(node);
    });
}
void ask_freed_by(benchmark::State& state) {
    ask(state, [](NodeIndex node) { return fixture().time_point->freed_by(node); });
}
void ask_path(benchmark::State& state) {
    ask(state, [](NodeIndex node) { return fixture().time_point->path_to(node); });
}
void ask_summary(benchmark::State& state) {
    ask(state, [](NodeIndex node) { return fixture().time_point->summary(node); });
}
void ask_root_freed_by(benchmark::State& state) {
    ask(state, [](NodeIndex node) {
        const auto& roots = fixture().time_point->roots();
        return fixture().time_point->freed_by(roots[node % roots.size()]);
    });
}

BENCHMARK(read)->Unit(benchmark::kMillisecond);
BENCHMARK(make_index)->Unit(benchmark::kMillisecond);
BENCHMARK(make_categories)->Unit(benchmark::kMillisecond);
BENCHMARK(make_time_point)->Unit(benchmark::kMillisecond);
BENCHMARK(category_grouping)->Unit(benchmark::kMillisecond);
BENCHMARK(growth)->Unit(benchmark::kMillisecond);
BENCHMARK(pending_roots)->Unit(benchmark::kMillisecond);
BENCHMARK(ask_dominated)->Iterations(100000);
BENCHMARK(ask_freed_by)->Iterations(2000);
BENCHMARK(ask_root_freed_by)->Iterations(300);
BENCHMARK(ask_path)->Iterations(2000);
BENCHMARK(ask_summary)->Iterations(1000);

}  // namespace

BENCHMARK_MAIN();
