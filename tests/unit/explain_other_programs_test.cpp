// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Programs without PyTorch: their events are driver allocations, and fixes are for the library at hand.
#include <gtest/gtest.h>

#include "storage/explain/gpu_library.h"
#include "tests/unit/explained.h"
#include "tests/unit/graph_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::RunBuilder;

constexpr int64_t MiB = 1 << 20, GiB = 1 << 30;
/// A folder above has the name of a library, too.
constexpr std::string_view packages = "/opt/torch/lib/python3/site-packages/";

/// A program whose events are driver allocations: each is a segment with one block.
struct OtherProgram : RunBuilder {
    OtherProgram() { trace.event_source = EventSource::driver; }

    AllocationIndex take(uint64_t bytes, StackId stack) {
        const uint32_t at = segment(bytes);
        return alloc(bytes, stack, 0, at);
    }
    void give_back(AllocationIndex a) {
        free(a);
        return_segment(device().allocations.segment[a], 0);
    }
    /// An operation of CuPy, JAX and Numba runs through methods of their arrays.
    StackId called_through(const std::string& file) {
        const char* function = file.starts_with("mylib") ? "alloc" : "__init__";
        return test::stack_of(trace.stacks,
                              {{std::string(packages) + file, function}, {"/home/anna/sim.py", "simulate"}});
    }
};

std::string text_of(const Explanation& explanation) {
    std::string text;
    for (const std::string& sentence : explanation.summary) {
        text += sentence + "\n";
    }
    for (const Finding& finding : explanation.findings) {
        text += finding.title + "\n" + finding.basis + "\n";
        for (const std::string& sentence : finding.text) {
            text += sentence + "\n";
        }
        for (const Fix& fix : finding.fixes) {
            text += fix.text + "\n" + fix.code + "\n";
        }
        for (const std::string& sentence : finding.unknowns) {
            text += sentence + "\n";
        }
    }
    return text;
}

void expect_no_word_of_pytorch(const std::string& text) {
    for (const char* word : {"PyTorch", "tensor", "autograd", "caching allocator", "empty_cache", "torch."}) {
        EXPECT_EQ(text.find(word), std::string::npos) << word << " in:\n" << text;
    }
}

Explanation of_growth(const std::string& library_file) {
    OtherProgram run;
    const StackId stack = run.called_through(library_file);
    for (int i = 0; i < 40; ++i) {
        run.take(8 * MiB, stack);
    }
    return explained(*run.make_context());
}

TEST(ExplainOtherPrograms, GrowthHasTheFixesOfItsLibrary) {
    const std::vector<std::pair<std::string, std::string>> fixes{
        {"cupy/_creation/basic.py", "cupy.get_default_memory_pool().free_all_blocks()"},
        {"jax/_src/array.py", "jax.live_arrays()"},
        {"numba/cuda/cudadrv/devicearray.py", "deallocations"},
        {"mylib/gpu.py", "cudaFree"}};
    for (const auto& [file, code] : fixes) {
        const Explanation explanation = of_growth(file);
        ASSERT_EQ(test::leaks_of(explanation), "unexplained-growth") << file;
        EXPECT_EQ(explanation.findings[0].line, "sim.py:20 simulate");
        EXPECT_EQ(explanation.findings[0].bytes, 40 * 8 * MiB);
        EXPECT_NE(text_of(explanation).find(code), std::string::npos) << file << "\n" << text_of(explanation);
        expect_no_word_of_pytorch(text_of(explanation));
    }
}

/// Every round adds an array of a library to what these links lead to; "#": the number of the round.
Explanation of_retained_arrays(const std::string& library_file, const std::vector<PathLinkKind>& kinds,
                               const std::vector<std::string>& names) {
    OtherProgram run;
    test::GraphBuilder graph;
    const StackId stack = run.called_through(library_file);
    for (int i = 0; i < 40; ++i) {
        const AllocationIndex kept = run.take(8 * MiB, stack);
        std::vector<PathLink> links;
        for (size_t at = 0; at < kinds.size(); ++at) {
            const std::string name = names[at] == "#" ? std::to_string(i) : names[at];
            links.push_back({kinds[at], graph.text(name), 0, graph.text("/home/anna/sim.py"), 0});
        }
        graph.tables.referrers.push_back({0, no_node, {0, kept}, links});
    }
    graph.tables.scans = {{run.now(), ScanReason::growing_sites, 10, 100, 40}};
    return explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables)));
}

TEST(ExplainOtherPrograms, TheContainerOfItsArraysIsNamed) {
    using Kind = PathLinkKind;
    const std::vector<std::pair<std::string, std::string>> copies{
        {"cupy/_creation/basic.py", "array.get()"}, {"numba/cuda/cudadrv/devicearray.py", "array.copy_to_host()"}};
    for (const auto& [file, copy] : copies) {
        const Explanation explanation =
            of_retained_arrays(file, {Kind::global, Kind::attribute, Kind::item}, {"tracker", "maps of Tracker", "#"});
        ASSERT_EQ(test::leaks_of(explanation), "growing-container") << text_of(explanation);
        const Finding& finding = explanation.findings[0];
        EXPECT_EQ(finding.confidence, Confidence::certain);
        EXPECT_NE(finding.referrer.find("`tracker.maps`"), std::string::npos) << finding.referrer;
        EXPECT_NE(finding.title.find("40 allocations retained by"), std::string::npos) << finding.title;
        EXPECT_EQ(finding.fixes[0].code, "tracker.maps[key] = " + copy);
        EXPECT_EQ(explanation.shares[0].name, "allocated from the driver") << "arrays have no categories";
        expect_no_word_of_pytorch(text_of(explanation));
    }
    const Explanation cache = of_retained_arrays("cupy/_creation/basic.py", {Kind::global, Kind::attribute},
                                                 {"transfer", "cache of transfer"});
    ASSERT_EQ(test::leaks_of(cache), "growing-container") << text_of(cache);
    EXPECT_EQ(cache.findings[0].fixes[0].code, "@functools.lru_cache(maxsize=16)");
    expect_no_word_of_pytorch(text_of(cache));
    const Explanation of_unknown = of_retained_arrays("mylib/gpu.py", {Kind::global, Kind::index}, {"results", "#"});
    ASSERT_EQ(test::leaks_of(of_unknown), "growing-container");
    EXPECT_EQ(of_unknown.findings[0].fixes[0].code, "") << "no code of another library";
}

/// Heap scans of a program of JAX with one driver allocation: each finds these numbers of arrays of 1 MiB in a list.
Explanation of_pooled_arrays(const std::vector<int64_t>& found, int64_t other_bytes = 0) {
    OtherProgram run;
    test::GraphBuilder graph;
    run.take(GiB, run.called_through("jax/_src/array.py"));
    const auto add = [&](const std::string& variable, const std::string& element, int64_t count, int64_t bytes) {
        const std::string sums = std::to_string(count) + " of " + std::to_string(bytes);
        std::vector<PathLink> links{
            {PathLinkKind::local, graph.text(variable), graph.text("main"), graph.text("/home/anna/sim.py"), 40},
            {PathLinkKind::index, graph.text(element), 0, 0, 0},
            {PathLinkKind::arrays, graph.text(sums), graph.text("step"), graph.text("/home/anna/sim.py"), 12}};
        graph.tables.referrers.push_back({static_cast<uint32_t>(graph.tables.scans.size()), no_node, {}, links});
    };
    for (const int64_t count : found) {
        for (int i = 0; i < 40; ++i) {
            run.give_back(run.take(MiB, run.line("evaluate", "/home/anna/sim.py")));
        }
        add("history", std::to_string(count), count, count * MiB);
        add("weights", "3", 12, 12 * MiB + other_bytes);
        graph.tables.scans.push_back({run.now(), ScanReason::memory_grows, 10, 100, 40});
    }
    return explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables)));
}

TEST(ExplainOtherPrograms, AListThatFillsWithArraysOfAPoolIsALeak) {
    const Explanation explanation = of_pooled_arrays({5, 20, 28, 42, 64});
    ASSERT_EQ(test::leaks_of(explanation), "growing-container") << text_of(explanation);
    const Finding& finding = explanation.findings[0];
    EXPECT_EQ(finding.title, "64 arrays retained by list `history` (variable of main, sim.py:40)");
    EXPECT_EQ(finding.text[0],
              "Of the memory in the library's pool, 64.0 MiB in 64 arrays are retained by list `history` (variable of "
              "main, sim.py:40). 800 ms before, they were 5.00 MiB in 5 arrays: with each heap scan, they are more.");
    EXPECT_EQ(finding.line, "sim.py:12 step");
    EXPECT_EQ(finding.bytes, 64 * MiB);
    EXPECT_EQ(finding.fixes[0].code, "history.append(jax.device_get(array))");
    EXPECT_EQ(finding.evidence.size(), 3u);
    expect_no_word_of_pytorch(text_of(explanation));
}

TEST(ExplainOtherPrograms, ArraysOfAPoolThatStayTheSameAreNoLeak) {
    EXPECT_EQ(test::leaks_of(of_pooled_arrays({5, 20, 64, 64})), "") << "a cache that is full";
    EXPECT_EQ(test::leaks_of(of_pooled_arrays({64, 20, 28})), "") << "two scans are too few";
    EXPECT_EQ(test::leaks_of(of_pooled_arrays({60, 62, 64})), "") << "it hardly grows";
    EXPECT_EQ(test::leaks_of(of_pooled_arrays({5, 20, 28, 42, 64}, 8 * GiB)), "") << "too few of all arrays";
}

/// Heap scans of a program of JAX: each finds so many arrays of 1 MiB, the last one, at the end, all in `holder`.
Explanation of_cached_arrays(const std::vector<int64_t>& found, const std::string& holder) {
    OtherProgram run;
    test::GraphBuilder graph;
    run.take(GiB, run.called_through("jax/_src/array.py"));
    for (const int64_t count : found) {
        for (int i = 0; i < 40; ++i) {
            run.give_back(run.take(MiB, run.line("evaluate", "/home/anna/sim.py")));
        }
        graph.tables.scans.push_back({run.now(), ScanReason::memory_grows, 10, 100, count});
    }
    graph.tables.scans.back().reason = ScanReason::end;
    const std::string sums = fmt::format("{} of {}", found.back(), found.back() * MiB);
    const auto link = [&](PathLinkKind kind, const std::string& name, int32_t line = 0) {
        return PathLink{kind, graph.text(name), graph.text(line > 0 ? "Model.__init__" : ""),
                        graph.text(line > 0 ? "/home/anna/sim.py" : ""), line};
    };
    graph.tables.referrers.push_back(
        {static_cast<uint32_t>(found.size() - 1),
         no_node,
         {},
         {link(PathLinkKind::global, "trace_to_jaxpr"), link(PathLinkKind::attribute, holder),
          link(PathLinkKind::index, "0"), link(PathLinkKind::arrays, sums, 12)}});
    return explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables)));
}

TEST(ExplainOtherPrograms, StaticArgumentsOfJaxJitAreALeak) {
    const Explanation explanation = of_cached_arrays({17, 17, 34, 70, 102}, "part of WeakrefLRUCache");
    ASSERT_EQ(test::leaks_of(explanation), "growing-container") << text_of(explanation);
    const Finding& finding = explanation.findings[0];
    EXPECT_EQ(finding.title, "102 arrays retained by the cache of jax.jit");
    EXPECT_EQ(
        finding.text[0],
        "jax.jit keeps the static arguments of each call in a cache, and with them all that they refer to: at the "
        "end, 102 MiB in 102 arrays. 600 ms before, there were 17 arrays in all: with each heap scan, they are "
        "more.");
    EXPECT_EQ(finding.line, "sim.py:12 Model.__init__");
    EXPECT_EQ(finding.fixes.back().code, "jax.clear_caches()");
    EXPECT_EQ(finding.evidence.size(), 4u);
}

TEST(ExplainOtherPrograms, OneStaticArgumentOfJaxJitIsNoLeak) {
    const std::string cache = "part of WeakrefLRUCache";
    EXPECT_EQ(test::leaks_of(of_cached_arrays({17, 17, 17, 17, 17}, cache)), "");
    EXPECT_EQ(test::leaks_of(of_cached_arrays({2, 7, 17, 17, 17}, cache)), "") << "the model was created";
    EXPECT_EQ(test::leaks_of(of_cached_arrays({80, 80, 85, 90, 102}, cache)), "") << "it hardly grows";
    EXPECT_EQ(test::leaks_of(of_cached_arrays({17, 17, 34, 70, 102}, "history of Model")), "") << "no cache";
}

TEST(ExplainOtherPrograms, EveryOtherRoundOfACppProgramIsALeak) {
    OtherProgram run;
    const StackId site = run.line("Solver::take()", "/home/anna/solver.cu");
    for (int i = 0; i < 40; ++i) {
        const AllocationIndex a = run.take(16 * MiB, site);
        if (i % 2 == 1) {
            run.give_back(a);
        }
    }
    const Explanation explanation = explained(*run.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "unexplained-growth");
    EXPECT_EQ(explanation.findings[0].line, "solver.cu:10 Solver::take");
    expect_no_word_of_pytorch(text_of(explanation));
}

// Each operator of JAX allocates scratch memory and its result. The first result is replaced, the second is retained.
TEST(ExplainOtherPrograms, OneOfSeveralAllocationsOfALineIsALeak) {
    OtherProgram run;
    const StackId times = run.called_through("jax/_src/ufunc_mul.py"),
                  plus = run.called_through("jax/_src/ufunc_add.py");
    std::optional<AllocationIndex> product;
    for (int i = 0; i < 40; ++i) {
        run.give_back(run.take(2 * MiB, times));
        const AllocationIndex next = run.take(4 * MiB, times);
        if (product) {
            run.give_back(*product);
        }
        product = next;
        run.give_back(run.take(2 * MiB, plus));
        run.take(4 * MiB, plus);
    }
    const Explanation explanation = explained(*run.make_context());
    EXPECT_EQ(test::leaks_of(explanation), "unexplained-growth") << text_of(explanation);
    EXPECT_NE(text_of(explanation).find("jax.live_arrays()"), std::string::npos) << text_of(explanation);
}

TEST(ExplainOtherPrograms, TheBlockThatJaxAllocatesAtItsStartIsPreallocated) {
    const auto note_of = [](const std::vector<uint64_t>& blocks) {
        OtherProgram run;
        const StackId stack = run.called_through("jax/_src/array.py");
        run.device().total_bytes = 140'000 * MiB;
        for (const uint64_t bytes : blocks) {
            run.trace.driver_allocations.push_back(
                {DriverMemoryKind::physical, 0, 0, bytes, run.now(), std::nullopt, "xla_cuda_plugin.so", stack});
            run.take(2 * MiB, stack);
        }
        return text_of(explained(*run.make_context())).find("of the GPU) in one block") != std::string::npos;
    };
    EXPECT_TRUE(note_of({2 * MiB, 105'000 * MiB})) << "by default three quarters of the GPU";
    EXPECT_TRUE(note_of({2 * MiB, 14'000 * MiB})) << "XLA_PYTHON_CLIENT_MEM_FRACTION=0.1";
    EXPECT_FALSE(note_of({32 * MiB, 32 * MiB, 64 * MiB, 128 * MiB, 256 * MiB, 512 * MiB, 4096 * MiB}))
        << "it has grown, at last by a large array";
}

TEST(ExplainOtherPrograms, WhatIsFreedOrAllocatedOnceIsNoLeak) {
    OtherProgram run;
    run.take(64 * MiB, run.line("main", "/home/anna/solver.cu"));
    for (int i = 0; i < 40; ++i) {
        run.give_back(run.take(16 * MiB, run.line("relax(int)", "/home/anna/solver.cu")));
    }
    const Explanation explanation = explained(*run.make_context());
    EXPECT_EQ(test::leaks_of(explanation), "");
    EXPECT_EQ(test::find(explanation, FindingKind::empty_cache_thrash), nullptr);
    expect_no_word_of_pytorch(text_of(explanation));
}

TEST(ExplainOtherPrograms, AllocationsOfTheStartAreNoLeak) {
    OtherProgram run;
    for (int i = 0; i < 40; ++i) {
        run.take(8 * MiB, run.line("load(int)", "/home/anna/engine.cu"));
    }
    EXPECT_EQ(test::leaks_of(explained(*run.make_context())), "unexplained-growth") << "it may have been growing";
    run.trace.duration = run.now() + 5'000'000'000;  // the engine worked
    const auto trace = std::make_shared<const Trace>(run.trace);
    const Explanation explanation =
        explained(AnalysisContext(std::make_shared<const Analysis>(trace, trace->devices[0]), nullptr));
    EXPECT_EQ(test::leaks_of(explanation), "");
    EXPECT_NE(text_of(explanation).find("made all its allocations at its start"), std::string::npos)
        << text_of(explanation);
}

TEST(ExplainOtherPrograms, ArraysInTheBlockOfJaxAreInvisible) {
    OtherProgram run;
    run.device().total_bytes = 80 * GiB;
    run.take(60 * GiB, run.called_through("jax/_src/array.py"));
    run.trace.driver_allocations.push_back(
        {DriverMemoryKind::device, 0, 0x1000000, 60 * GiB, 0, std::nullopt, "libjax_common.so", 0, false});
    const std::string text = text_of(explained(*run.make_context()));
    EXPECT_NE(text.find("XLA_PYTHON_CLIENT_PREALLOCATE=false"), std::string::npos) << text;
    EXPECT_EQ(text.find("No fix is needed"), std::string::npos) << text;
}

TEST(ExplainOtherPrograms, ASmallerBlockOfJaxIsItsPoolIfItIsMostOfWhatJaxAllocated) {
    const auto is_told = [](uint64_t block, uint64_t other) {
        OtherProgram run;
        run.device().total_bytes = 128 * GiB;
        run.take(block, run.called_through("jax/_src/array.py"));
        for (const DriverMemoryKind kind : {DriverMemoryKind::physical, DriverMemoryKind::mapped}) {
            run.trace.driver_allocations.push_back(
                {kind, 0, 0x1000000, block, 0, std::nullopt, "xla_cuda_plugin.so", 0, false});
            run.trace.driver_allocations.push_back(
                {kind, 0, 0x2000000, other, 0, std::nullopt, "xla_cuda_plugin.so", 0, false});
        }
        return text_of(explained(*run.make_context())).find("JAX allocated") != std::string::npos;
    };
    EXPECT_TRUE(is_told(4 * GiB, GiB));
    EXPECT_FALSE(is_told(4 * GiB, 2 * GiB)) << "the pool grows by its size each time";
    EXPECT_FALSE(is_told(GiB, 0));
}

TEST(ExplainOtherPrograms, PyTorchWithAnotherAllocatorKeepsItsFindings) {
    OtherProgram run;
    EXPECT_FALSE(run.make_context()->has_pytorch());
    run.take(8 * MiB, run.line("main"));
    run.device().allocations.origin[0] = run.origin("aten::zeros");
    EXPECT_TRUE(run.make_context()->has_pytorch());
}

TEST(BreakdownOfDriverEvents, CountsEachAllocationOnceAndThePoolBesides) {
    OtherProgram run;
    run.take(16 * MiB, 0);
    const auto row_of = [&](DriverMemoryKind kind, uint64_t bytes) {
        run.trace.driver_allocations.push_back({kind, 0, 0x1000000, bytes, 0, std::nullopt, "solver", 0, false});
    };
    row_of(DriverMemoryKind::async, 16 * MiB);
    row_of(DriverMemoryKind::pool, 32 * MiB);
    const BreakdownRow row = run.make_context()->row();
    ASSERT_EQ(row.components.size(), 2u);
    EXPECT_EQ(row.components[0].kind, ComponentKind::requested);
    EXPECT_EQ(row.components[0].name, driver_name);
    EXPECT_EQ(row.components[0].bytes, 16 * MiB);
    EXPECT_EQ(row.components[0].count, 1);
    EXPECT_EQ(row.bytes_of(ComponentKind::driver_pools), 16 * MiB);
}

TEST(FrameRoleOfRecordedPrograms, TheSiteIsTheProgramsOwnFunction) {
    EXPECT_EQ(role_of_frame("Solver::take()", "/home/anna/solver.cu", 34), FrameRole::program);
    EXPECT_EQ(role_of_frame("main", "/home/anna/solver.cu", 60), FrameRole::program);
    EXPECT_EQ(role_of_frame("main+0x1f", "/home/anna/solver", 0), FrameRole::program);
    EXPECT_EQ(role_of_frame("engine::Buffer::grow(int)+0x1f", "/opt/engine/libengine.so", 0), FrameRole::program);
    EXPECT_EQ(role_of_frame("0x4b2f0", "/home/anna/solver", 0), FrameRole::native);
    EXPECT_EQ(role_of_frame("thrust::detail::allocate(int)", "/usr/local/cuda/include/thrust/a.h", 9),
              FrameRole::native);
    EXPECT_EQ(role_of_frame("std::vector<int>::push_back(int)", "/usr/include/c++/12/bits/stl_vector.h", 9),
              FrameRole::plumbing);
    EXPECT_EQ(role_of_frame("_PyEval_EvalFrameDefault+0x7", "/usr/bin/python3.12", 0), FrameRole::plumbing);
    EXPECT_EQ(role_of_frame("PyObject_Call", "/usr/local/src/Python-3.12.1/Objects/call.c", 9), FrameRole::plumbing);
    EXPECT_EQ(role_of_frame("cublasCreate_v2+0x7", "/usr/local/cuda/lib64/libcublas.so.13", 0), FrameRole::op);
    StackTable table;
    const StackId stack = test::stack_of(table, {{"/usr/local/cuda/include/thrust/a.h", "thrust::allocate(int)"},
                                                 {"/home/anna/solver.cu", "Solver::take()"},
                                                 {"/home/anna/solver.cu", "main"}});
    EXPECT_EQ(describe_frame(table, table.site(stack)), "solver.cu:20 Solver::take");
    const FrameId plain = table.intern(Frame{table.intern("main+0x1f"), table.intern("/home/anna/solver"), 0});
    EXPECT_EQ(describe_frame(table, plain), "solver main+0x1f");
}

}  // namespace
}  // namespace tidemark
