// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/open_trace.h"

#include "storage/read/growing_trace.h"
#include "storage/read/integrity.h"
#include "storage/read/read_graph.h"

namespace tidemark {
namespace {

/// In files up to this size, the rows of allocations are always compared with their chunks.
constexpr int64_t largest_compared_file = 16 << 20;

/// Reads a trace within the time that `integrity` needs.
template <class Report>
Result<std::shared_ptr<const Trace>> read_trace(const WatchedFile& watched, const TraceFile& file, GrowingTrace& trace,
                                                Report&& integrity, Progress& progress) {
    auto connection = open_checked(watched.path(), file, progress);
    if (!connection) {
        return connection.error();
    }
    if (const auto read = trace.read(*connection, file, progress); !read) {
        return read.error();
    }
    const auto report = integrity();
    if (!report) {
        return report.error();
    }
    trace.set_integrity(*report);
    return trace.take();
}

Result<TraceSummary> open_with(const std::string& path, GrowingTrace::Steps steps, Progress& progress) {
    const auto watched = WatchedFile::open(path);
    if (!watched) {
        return watched.error();
    }
    const TraceFile file = watched->look();
    const bool is_small = file.bytes <= largest_compared_file;
    GrowingTrace rows(path, is_small ? GrowingTrace::Rows::compare : GrowingTrace::Rows::trust_chunks, steps);
    IntegrityCheck integrity(*watched, progress);
    auto trace = read_trace(
        *watched, file, rows, [&] { return integrity.report(); }, progress);
    return trace ? Result<TraceSummary>(TraceSummary{*std::move(trace), rows.steps(), rows.repeats()}) : trace.error();
}

}  // namespace

Result<std::shared_ptr<const Trace>> open_trace(const std::string& path, Progress& progress) {
    auto opened = open_with(path, GrowingTrace::Steps::each, progress);
    return opened ? Result<std::shared_ptr<const Trace>>(std::move(opened->trace)) : opened.error();
}

Result<TraceSummary> open_summary(const std::string& path, Progress& progress) {
    return open_with(path, GrowingTrace::Steps::summary, progress);
}

Result<std::vector<DataGap>> check_trace(const std::string& path, Progress& progress) {
    const auto watched = WatchedFile::open(path);
    if (!watched) {
        return watched.error();
    }
    const TraceFile file = watched->look();
    {
        auto connection = open_database(path, file, progress);
        if (!connection) {
            return connection.error();
        }
        TIDEMARK_TRY(check_pages(*connection, path, "integrity_check"));
    }
    GrowingTrace rows(path, GrowingTrace::Rows::compare);
    const auto trace = read_trace(
        *watched, file, rows, [&] { return check_integrity(*watched, HowLarge::any, progress); }, progress);
    if (!trace) {
        return trace.error();
    }
    const auto graph = read_graph(**trace, progress);
    if (!graph) {
        return graph.error();
    }
    std::vector<DataGap> found = (*graph)->data_gaps;
    for (const DataGap& gap : (*trace)->data_gaps) {
        if (gap.kind == DataGapKind::damaged) {
            found.push_back(gap);
        }
    }
    return found;
}

}  // namespace tidemark
