// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/export/export_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "recorder/cli/explained.h"
#include "recorder/cli/export/export_output.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/convert/folded_stacks.h"
#include "storage/convert/perfetto.h"
#include "storage/convert/profiler_trace.h"
#include "storage/convert/pytorch_snapshot.h"

namespace tidemark::cli {
namespace {

/// Returns the name of the output: the given one, or that of the trace with another ending.
std::string output_name(const ExportOptions& options, const std::string& trace, const char* ending) {
    return options.output.empty() ? std::filesystem::path(trace).replace_extension(ending).string() : options.output;
}

/// Lets `write` write the output, and prints the name and the size of a file.
template <class Write>
Status write_output(const std::string& path, bool force, Progress& progress, Write&& write) {
    auto output = ExportOutput::open(path, force);
    if (!output) {
        return output.error();
    }
    TIDEMARK_TRY(write(
        [&](std::string_view bytes) { return progress.canceled ? Status(canceled_error()) : output->write(bytes); }));
    TIDEMARK_TRY(output->keep());
    return output->is_file() ? print(fmt::format("{}: {}\n", visible_text(path), format_bytes(output->bytes())))
                             : Status();
}

void note_small_allocations(const PerfettoSummary& summary, const Words& words) {
    if (summary.allocations_left_out > 0) {
        print_note(words,
                   words.plural(summary.allocations_left_out,
                                "{n} allocation is no span, because {shown} are larger; the smallest of these "
                                "has {bytes}. --spans 0 shows all.",
                                "{n} allocations are no spans, because {shown} are larger; the smallest of these "
                                "has {bytes}. --spans 0 shows all.",
                                with("shown", format_count(summary.allocations)),
                                with("bytes", format_bytes(summary.smallest))));
    }
}

/// Writes the timeline into a file of its own, or into a copy of the profiler's.
Status write_timeline(const ExportOptions& options, std::span<const PerfettoDevice> devices, const Words& words,
                      Progress& progress, const TakeBytes& take) {
    PerfettoOptions timeline{options.most_spans, std::nullopt};
    if (options.profile.empty()) {
        const auto summary = write_perfetto(devices, timeline, words, take);
        return summary ? (note_small_allocations(*summary, words), Status()) : summary.error();
    }
    if (devices.front().context.trace().start_utc_ns == 0) {
        return input_error("{path} has no wall-clock times, so its events have no place among those of a profile.",
                           with("path", devices.front().context.trace().path));
    }
    const auto profile = ProfilerTrace::open(options.profile, progress);
    if (!profile) {
        return profile.error();
    }
    timeline.base = profile->base();
    const auto add = [&](const TakeBytes& take_events) -> Status {
        const auto summary = write_perfetto_events(devices, timeline, words, take_events);
        return summary ? (note_small_allocations(*summary, words), Status()) : summary.error();
    };
    return profile->write_with(add, take, progress);
}

/// Reports events that the trace does not have.
void note_left_out_events(std::span<const Analysis* const> devices, const Words& words) {
    int64_t events = 0;
    for (const Analysis* analysis : devices) {
        for (const RepeatedSteps& repeat : analysis->device().repeats) {
            events += repeat.events_left_out;
        }
    }
    if (events > 0) {
        print_note(words,
                   words.plural(events, "{n} event of repeated steps is not in the trace, so the snapshot lacks it.",
                                "{n} events of repeated steps are not in the trace, so the snapshot lacks "
                                "them."));
    }
}

}  // namespace

Status export_perfetto(const ExportOptions& options, const std::string& trace, const Words& words, Progress& progress) {
    const ProgressBar bar(progress, words("Exporting {path}", with("path", trace)));
    const auto explained = explain_devices({trace, "", options.device}, "", words, progress);
    if (!explained) {
        return explained.error();
    }
    std::vector<PerfettoDevice> devices;
    for (const Explained& device : *explained) {
        devices.push_back({*device.context, device.explanation});
    }
    return write_output(output_name(options, trace, ".perfetto.json"), options.force, progress,
                        [&](const TakeBytes& take) { return write_timeline(options, devices, words, progress, take); });
}

Status export_memory_viz(const ExportOptions& options, const std::string& trace, const Words& words,
                         Progress& progress) {
    const ProgressBar bar(progress, words("Exporting {path}", with("path", trace)));
    const auto points = open_time_points({trace, "end", options.device}, progress);
    if (!points) {
        return points.error();
    }
    std::vector<const Analysis*> devices;
    for (const DeviceTimePoint& point : *points) {
        devices.push_back(point.analysis.get());
    }
    note_left_out_events(devices, words);
    return write_output(output_name(options, trace, ".memory_viz.pickle"), options.force, progress,
                        [&](const TakeBytes& take) { return write_pytorch_snapshot(devices, take); });
}

Status export_folded(const ExportOptions& options, const std::string& trace, const Words& words, Progress& progress) {
    const ProgressBar bar(progress, words("Exporting {path}", with("path", trace)));
    const auto points = open_time_points({trace, options.at, options.device}, progress);
    if (!points) {
        return points.error();
    }
    return write_output(
        output_name(options, trace, ".folded.txt"), options.force, progress, [&](const TakeBytes& take) -> Status {
            for (const DeviceTimePoint& point : *points) {
                const std::string root = points->size() > 1 ? fmt::format("device {}", point.device().device) : "";
                const auto active = active_allocations(point.device(), point.analysis->live(), point.point);
                TIDEMARK_TRY(write_folded_stacks(point.trace(), point.device(), active, root, take));
            }
            return {};
        });
}

}  // namespace tidemark::cli
