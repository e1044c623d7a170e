// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A program with allocations, an autograd graph and referrers, for tests of diagnoses.
#pragma once

#include "storage/explain/diagnoses.h"
#include "tests/unit/graph_builder.h"
#include "tests/unit/run_builder.h"

namespace tidemark::test {

constexpr int64_t MiB = 1 << 20;

/// A run together with its graph; memory of device 0.
struct Program {
    Program() {
        run.segment(1 << 30);
        backward = run.origin("MmBackward0 > aten::mm");
        run.trace.origins.back().phase = Phase::backward;
    }

    static AllocationRef memory(AllocationIndex a) { return {0, a}; }
    AllocationIndex labeled(int64_t bytes, const std::string& line, Category category, const std::string& name = "") {
        const AllocationIndex a = run.alloc(static_cast<uint64_t>(bytes), run.line(line));
        graph.label(memory(a), run.now(), category, name);
        return a;
    }
    NodeIndex node(const std::string& type, const std::vector<NodeIndex>& children,
                   const std::vector<AllocationIndex>& saved, AllocationIndex output, const std::string& line) {
        std::vector<AllocationRef> saved_memory;
        for (const AllocationIndex a : saved) {
            saved_memory.push_back(memory(a));
        }
        GraphBuilder::Lifetime lifetime;
        lifetime.created = run.now();
        return graph.node(type, children, saved_memory, lifetime, memory(output), run.line(line));
    }
    void runs(NodeIndex node) { graph.tables.nodes.executed[node] = graph.tables.nodes.released[node] = run.now(); }
    void is_destroyed(NodeIndex node) { graph.tables.nodes.destroyed[node] = run.now(); }
    /// Adds a referrer with this name to the last heap scan.
    void add_referrer(AllocationIndex a, const std::string& name, const std::string& element = "") {
        std::vector<PathLink> links{{PathLinkKind::global, graph.text(name), 0, graph.text("train.py"), 3}};
        if (!element.empty()) {
            links.push_back({PathLinkKind::index, graph.text(element), 0, 0, 0});
        }
        graph.tables.referrers.push_back({0, no_node, memory(a), links});
    }

    std::unique_ptr<AnalysisContext> make_context() {
        GraphTables tables = graph.tables;
        if (tables.scans.empty()) {
            tables.scans = {{run.now(), ScanReason::end, 10, 100, 20}};
        }
        return run.make_context(std::make_shared<const GraphTables>(std::move(tables)));
    }
    Findings diagnose(const Diagnosis& diagnosis, const Findings& earlier = {}) {
        Findings findings;
        Progress progress;
        diagnosis.run(*make_context(), earlier, Words(Language::english), findings, progress);
        return findings;
    }

    RunBuilder run;
    GraphBuilder graph;
    uint32_t backward = 0;
};

/// One parameter of 8 MiB, activations of 4 MiB.
struct Training : Program {
    Training() {
        weight = labeled(8 * MiB, "main", Category::parameter, "weight");
        leaf = node("AccumulateGrad", {}, {}, weight, "");
    }

    void pass() {
        const AllocationIndex input = labeled(512, "batch", Category::input);
        const AllocationIndex activation = run.alloc(4 * MiB, run.line("forward"));
        const NodeIndex mm = node("MmBackward0", {leaf}, {activation, weight}, activation, "forward");
        graph.tables.saved.version.back() = version;
        const AllocationIndex loss = run.alloc(512, run.line("loss"));
        const NodeIndex root = node("SumBackward0", {mm}, {}, loss, "loss");
        if (zero_before_backward) {
            zero_grad();
        }
        runs(root);
        accumulate();
        runs(mm);
        for (const AllocationIndex a : {activation, loss, input}) {
            run.free(a);
        }
        is_destroyed(mm);
        is_destroyed(root);
    }
    void update() {
        ++version;
        run.step();
    }
    void zero_grad() {
        if (gradient != no_allocation) {
            run.free(gradient);
        }
        gradient = no_allocation;
    }

    AllocationIndex weight = 0, gradient = no_allocation;
    NodeIndex leaf = 0;
    uint16_t version = 0;
    bool zero_before_backward = false;

private:
    void accumulate() {
        const AllocationIndex made = run.alloc(8 * MiB, run.line("forward"), backward);
        if (gradient == no_allocation) {
            gradient = made;
            graph.label(memory(made), run.now(), Category::gradient, "weight");
        } else {
            run.free(made);
        }
    }
};

}  // namespace tidemark::test
