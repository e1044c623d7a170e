// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Programs that run out of memory, for tests of the OOM analysis.
#pragma once

#include <array>

#include "tests/unit/program_builder.h"

namespace tidemark::test {

inline constexpr const char* own = "/home/anna/project/train.py";
inline const std::string packages = "/venv/lib/python3.12/site-packages/";

inline std::string text_of(const Finding& finding) {
    std::string text;
    for (const std::string& sentence : finding.text) {
        text += sentence + '\n';
    }
    return text;
}

/// Returns the fix with this code, or nullptr.
inline const Fix* fix_with(const Finding& finding, const std::string& code) {
    for (const Fix& fix : finding.fixes) {
        if (fix.code.find(code) != std::string::npos) {
            return &fix;
        }
    }
    return nullptr;
}

/// A process that can reserve 1 GiB.
struct FailingProgram : Program {
    StackId stack(std::initializer_list<std::pair<std::string_view, std::string_view>> frames) {
        return stack_of(run.trace.stacks, frames);
    }
    /// Returns a stack of one function of PyTorch at a line, called by the program.
    StackId torch_line(const std::string& file, const std::string& function, int32_t line) {
        StackTable& stacks = run.trace.stacks;
        const std::array frames{
            stacks.intern(Frame{stacks.intern(function), stacks.intern(packages + "torch/" + file), line}),
            stacks.intern(Frame{stacks.intern("fit"), stacks.intern(own), 38})};
        return stacks.intern_stack(frames);
    }
    uint32_t op(const std::string& name, Phase phase = Phase::forward) {
        const uint32_t origin = run.origin(name);
        run.trace.origins[origin].phase = phase;
        return origin;
    }
    void fails(int64_t bytes, StackId requesting, uint32_t origin = 0, int64_t free_on_device = 0) {
        run.out_of_memory(static_cast<uint64_t>(bytes), static_cast<uint64_t>(free_on_device), requesting, origin);
    }
    Finding finding() { return diagnose(diagnoses::out_of_memory).at(0); }
};

/// A program whose heap is scanned when an error happens.
struct ScannedProgram : FailingProgram {
    void scan() { graph.tables.scans.push_back({run.now(), ScanReason::out_of_memory, 10, 100, 20}); }
    /// Adds a referrer to the last scan: a variable of a function, and the index of a list's element if there is one.
    void retained(AllocationIndex a, PathLinkKind kind, const std::string& name, const std::string& function,
                  const std::string& index = "", const std::string& file = own) {
        std::vector<PathLink> links{{kind, graph.text(name), graph.text(function), graph.text(file), 3}};
        if (!index.empty()) {
            links.push_back({PathLinkKind::index, graph.text(index), 0, 0, 0});
        }
        graph.tables.referrers.push_back(
            {static_cast<uint32_t>(graph.tables.scans.size() - 1), no_node, memory(a), links});
    }
    Finding scanned_finding() {
        const auto context = run.make_context(std::make_shared<const GraphTables>(graph.tables));
        Findings findings;
        Progress progress;
        diagnoses::out_of_memory.run(*context, {}, Words(Language::english), findings, progress);
        return findings.at(0);
    }
};

}  // namespace tidemark::test
