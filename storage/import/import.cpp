// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/import.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>

#include "storage/format/schema.h"
#include "storage/import/derive_history.h"
#include "storage/import/event_times.h"
#include "storage/import/snapshot_reader.h"
#include "storage/timeline/curves.h"
#include "storage/trace/file_extensions.h"

namespace tidemark {

namespace {

std::string_view file_name(std::string_view path) {
    const size_t slash = path.find_last_of('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Pairs starts and ends by name and device, innermost first.
std::vector<Annotation> pair_annotations(const Snapshot& snapshot, int64_t zero_us, int64_t end) {
    std::vector<Annotation> result;
    std::map<std::pair<int, std::string>, std::vector<size_t>> open;
    int64_t time = 0;
    for (const SnapshotAnnotation& a : snapshot.annotations) {
        // An annotation without a time belongs next to the one before it.
        time = a.time_us == no_time ? time : trace_time(a.time_us, zero_us);
        auto& stack = open[{a.device, a.name}];
        if (a.is_start) {
            stack.push_back(result.size());
            const bool optimizer = a.name.starts_with("Optimizer.");
            const bool step = a.name.starts_with("ProfilerStep#");
            result.push_back({a.name,
                              step        ? AnnotationKind::step
                              : optimizer ? AnnotationKind::optimizer
                                          : AnnotationKind::user,
                              a.device, time, end, false});
        } else if (!stack.empty()) {
            result[stack.back()].end = std::max(time, result[stack.back()].start);
            result[stack.back()].closed = true;
            stack.pop_back();
        }
    }
    for (Annotation& a : result) {
        if (!a.closed) {
            a.end = std::max(a.start, end);
        }
    }
    return result;
}

std::vector<int> devices_of(const Snapshot& snapshot) {
    std::vector<int> devices;
    for (size_t d = 0; d < snapshot.traces.size(); ++d) {
        if (!snapshot.traces[d].empty()) {
            devices.push_back(static_cast<int>(d));
        }
    }
    for (const SnapshotSegment& segment : snapshot.segments) {
        devices.push_back(segment.device);
    }
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
}

/// Reports the values that were left out, as one data gap.
void report_damage(const Snapshot& snapshot, std::vector<DataGap>& data_gaps) {
    DataGap gap;
    gap.kind = DataGapKind::not_recorded;
    gap.reason = DataGapReason::damaged_fields;
    std::string fields;
    for (const auto& [field, count] : snapshot.damaged) {
        gap.count += count;
        fields += fmt::format("{}{}", fields.empty() ? "" : ", ", field);
    }
    gap.arguments = {{"fields", fields}};
    if (gap.count > 0) {
        data_gaps.push_back(std::move(gap));
    }
}

}  // namespace

Result<std::shared_ptr<Trace>> read_snapshot_trace(const std::string& path, Progress& progress) {
    auto snapshot = read_snapshot_file(path, progress);
    if (!snapshot) {
        return snapshot.error();
    }
    const std::vector<int> devices = devices_of(*snapshot);
    if (devices.empty()) {
        return input_error(
            "{path} is a PyTorch memory snapshot without any event or segment: nothing had been allocated on a GPU "
            "when it was taken. Call torch.cuda.memory._record_memory_history() before the part you want to see, and "
            "take the snapshot after it.",
            with("path", path));
    }
    auto trace = std::make_shared<Trace>();
    remove_absurd_times(*snapshot);
    const int64_t zero_us = first_time(*snapshot);
    report_damage(*snapshot, trace->data_gaps);
    trace->source =
        fmt::format("PyTorch memory snapshot {} (pickle protocol {})", file_name(path), snapshot->pickle_protocol);
    trace->writer = "Tidemark " TIDEMARK_VERSION;
    trace->start_utc_ns = zero_us * 1000;
    trace->settings = snapshot->settings;
    for (uint64_t handle : snapshot->streams) {
        trace->streams.push_back({handle, {}});
    }
    for (const PoolKey& pool : snapshot->pools) {
        trace->pools.push_back({{pool[0], pool[1]}});
    }
    for (const SnapshotContext& context : snapshot->contexts) {
        Origin origin;
        origin.compile_context = snapshot->stacks.string(context.compile_context);
        origin.user_metadata = snapshot->stacks.string(context.user_metadata);
        trace->origins.push_back(std::move(origin));
    }
    for (int device : devices) {
        if (progress.canceled) {
            return canceled_error();
        }
        progress.report("deriving", static_cast<double>(trace->devices.size()) / static_cast<double>(devices.size()));
        trace->devices.push_back(derive_history(*snapshot, device, zero_us, trace->data_gaps));
        const auto& times = trace->devices.back().event_time;
        trace->duration = std::max(trace->duration, times.empty() ? 0 : times.back());
    }
    trace->annotations = pair_annotations(*snapshot, zero_us, trace->duration);
    trace->stacks = std::move(snapshot->stacks);
    if (trace->streams.empty()) {
        trace->streams.push_back({});
    }
    return trace;
}

Result<std::shared_ptr<const Trace>> import_snapshot(const std::string& snapshot, const std::string& path,
                                                     IfExists if_exists, Progress& progress) {
    auto trace = read_snapshot_trace(snapshot, progress);
    if (!trace) {
        return trace.error();
    }
    if (auto written = write_trace(**trace, peak_events(**trace), path, if_exists, progress); !written) {
        return written.error();
    }
    (*trace)->path = path;
    (*trace)->format_version = trace_format_version;
    struct stat about {};
    if (stat(path.c_str(), &about) == 0) {
        (*trace)->file_bytes = about.st_size;
    }
    return std::shared_ptr<const Trace>(std::move(*trace));
}

std::string trace_path_for(const std::string& snapshot) {
    std::string_view stem = snapshot;
    const auto remove_one_of = [&](std::initializer_list<std::string_view> endings) {
        for (std::string_view ending : endings) {
            if (stem.ends_with(ending)) {
                stem.remove_suffix(ending.size());
                return;
            }
        }
    };
    remove_one_of({".gz", ".xz", ".zst", ".zstd"});
    remove_one_of({".pickle", ".pkl", ".snapshot"});
    return fmt::format("{}{}", stem, trace_extension);
}

}  // namespace tidemark
