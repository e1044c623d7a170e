// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/source_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "storage/explain/leaked_memory.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

SourceMemory memory_of(const ReportInput& reported) {
    const AnalysisContext& context = reported.context;
    const std::vector<AllocationIndex> leaked = leaked_allocations(reported.explanation.findings);
    return memory_by_line(
        context.trace(), context.device(), context.analysis().live(),
        {context.now(), peak_time_point(context.trace(), context.device(), context.curves()), std::nullopt, leaked});
}

std::string without_indent(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin);
}

}  // namespace

SourceFigures::SourceFigures(const ReportInput& reported)
    : trace_(reported.context.trace()), memory_(memory_of(reported)) {}

const FileMemory* SourceFigures::find(std::string_view file) const {
    const auto found = std::find_if(memory_.files.begin(), memory_.files.end(), [&](const FileMemory& memory) {
        return trace_.stacks.string(memory.file) == file;
    });
    return found == memory_.files.end() ? nullptr : &*found;
}

const LineBytes* SourceFigures::bytes_of(std::string_view file, int32_t line) const {
    const FileMemory* memory = find(file);
    if (memory == nullptr) {
        return nullptr;
    }
    const auto found = std::partition_point(memory->lines.begin(), memory->lines.end(),
                                            [line](const LineMemory& l) { return l.line < line; });
    return found != memory->lines.end() && found->line == line ? &found->bytes : nullptr;
}

std::vector<SourceFigures::Row> SourceFigures::top_lines() const {
    constexpr size_t most_lines = 12;
    std::vector<Row> rows;
    for (const FileMemory& file : memory_.files) {
        const std::string& name = trace_.stacks.string(file.file);
        const std::string short_name = name.substr(name.find_last_of("/\\") + 1);
        for (const LineMemory& line : file.lines) {
            // A line that calls others has all of their memory, so only lines with memory of their own are listed.
            if (file.is_own_code && line.bytes.self > 0) {
                const std::string* code = trace_.source_text.line(name, line.line);
                rows.push_back({fmt::format("{}:{}", short_name, line.line),
                                code == nullptr ? "" : without_indent(*code), line.bytes});
            }
        }
    }
    const auto key = [](const Row& row) { return std::tuple(row.bytes.leaked, row.bytes.active, row.bytes.peak); };
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) > key(b); });
    rows.resize(std::min(rows.size(), most_lines));
    return rows;
}

}  // namespace tidemark
