// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/metrics/trace_metrics.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr Metric recording{"tidemark_recording", "gauge", "", "1 for each program and the state of its recording."};
constexpr Metric gpu_info{"tidemark_gpu", "info", "", "The name of the GPU."};
constexpr Metric allocated{"tidemark_allocated_bytes", "gauge", "bytes", "Memory of allocated blocks now."};
constexpr Metric reserved{"tidemark_reserved_bytes", "gauge", "bytes", "Memory that PyTorch has from the driver now."};
constexpr Metric peak{"tidemark_peak_allocated_bytes", "gauge", "bytes", "The most allocated memory so far."};
constexpr Metric device_used{"tidemark_device_used_bytes", "gauge", "bytes",
                             "Memory of the GPU in use, as nvidia-smi shows it."};
constexpr Metric device_total{"tidemark_device_total_bytes", "gauge", "bytes", "Memory of the GPU."};
constexpr Metric component_bytes{"tidemark_breakdown_bytes", "gauge", "bytes",
                                 "Components of the GPU's memory; they add up to device_used where that is known."};
constexpr Metric growth{"tidemark_growth_bytes", "gauge", "bytes",
                        "Growth of the memory that stays after a step, for each of the last steps; of iterations if no "
                        "steps were recorded."};
constexpr Metric steps{"tidemark_steps", "counter", "", "Training steps."};
constexpr Metric events{"tidemark_events", "counter", "", "Events of the allocator."};
constexpr Metric findings{"tidemark_findings", "gauge", "", "Findings of tidemark explain."};
constexpr Metric finding_bytes{"tidemark_finding_bytes", "gauge", "bytes", "Memory of these findings."};
constexpr Metric cost_ratio{"tidemark_recording_cost_ratio", "gauge", "ratio",
                            "Part of the time for which the recording stopped the program's threads."};
constexpr Metric trace_size{"tidemark_trace_file_bytes", "gauge", "bytes", "Size of the trace."};

/// The steps over which growth is averaged.
constexpr size_t steps_compared = 10;

/// Returns "train.py" of "python3 -u /home/anna/train.py --lr 1", and otherwise the program's own name.
std::string program_name(const std::string& command_line) {
    std::istringstream parts(command_line);
    std::string first;
    for (std::string word; parts >> word;) {
        first = first.empty() ? word : first;
        if (word.ends_with(".py")) {
            return fs::path(word).filename().string();
        }
    }
    return fs::path(first).filename().string();
}

MetricLabels labels_of(const Trace& trace, const DeviceHistory& device) {
    const std::string index = std::to_string(device.device);
    if (trace.processes.empty()) {
        return {{"pid", ""}, {"rank", ""}, {"device", index}, {"program", fs::path(trace.path).stem().string()}};
    }
    const Process& process = trace.processes.front();
    return {{"pid", std::to_string(process.pid)},
            {"rank", process.place.rank ? std::to_string(*process.place.rank) : ""},
            {"device", index},
            {"program", program_name(process.command_line)}};
}

MetricLabels with_labels(MetricLabels labels, const MetricLabels& more) {
    labels.insert(labels.end(), more.begin(), more.end());
    return labels;
}

void add_memory(OpenMetrics& metrics, const MetricLabels& labels, const AnalysisContext& context) {
    const EventNumber now = context.device().event_count();
    const BreakdownRow row = context.breakdown().at(now);
    metrics.add(allocated, labels, context.curves().value(Series::allocated, now));
    metrics.add(reserved, labels, context.curves().value(Series::reserved, now));
    metrics.add(peak, labels, context.curves().peak(Series::allocated).max);
    if (row.device_used) {
        metrics.add(device_used, labels, *row.device_used);
    }
    if (row.device_total > 0) {
        metrics.add(device_total, labels, row.device_total);
    }
    std::map<std::pair<std::string, std::string>, int64_t> bytes;  // each set of labels has one sample
    for (const Component& component : row.components) {
        bytes[{std::string(component_word(component.kind)), component.name}] += component.bytes;
    }
    for (const auto& [component, value] : bytes) {
        metrics.add(component_bytes, with_labels(labels, {{"component", component.first}, {"name", component.second}}),
                    value);
    }
}

/// The first step, which makes what all later ones use, is no growth.
void add_growth(OpenMetrics& metrics, const MetricLabels& labels, const AnalysisContext& context) {
    const std::vector<int64_t>& floor = context.allocated_floor();
    if (floor.size() >= 3) {
        const size_t compared = std::min(steps_compared, floor.size() - 2);
        metrics.add(growth, labels,
                    (floor.back() - floor[floor.size() - 1 - compared]) / static_cast<int64_t>(compared));
    }
}

void add_findings(OpenMetrics& metrics, const MetricLabels& labels, const Explanation& explanation) {
    std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> by_kind;  // count and bytes
    for (const Finding& finding : explanation.findings) {
        auto& [count, bytes] =
            by_kind[{std::string(finding_word(finding.kind)), std::string(severity_word(finding.severity))}];
        ++count;
        bytes += finding.bytes;
    }
    for (const auto& [kind, values] : by_kind) {
        const MetricLabels all = with_labels(labels, {{"kind", kind.first}, {"severity", kind.second}});
        metrics.add(findings, all, values.first);
        metrics.add(finding_bytes, all, values.second);
    }
}

}  // namespace

void add_program(OpenMetrics& metrics, const RecordedProgram& program) {
    metrics.add(recording,
                {{"pid", std::to_string(program.pid)},
                 {"program", program_name(program.command_line)},
                 {"state", std::string(state_word(program.state))}},
                int64_t{1});
}

void add_device(OpenMetrics& metrics, const Explained& device, const std::optional<RecordingCostSummary>& cost,
                const MetricLabels& more) {
    const AnalysisContext& context = *device.context;
    const Trace& trace = context.trace();
    const MetricLabels labels = with_labels(labels_of(trace, context.device()), more);
    metrics.add(gpu_info, with_labels(labels, {{"gpu", context.device().name}}), int64_t{1});
    add_memory(metrics, labels, context);
    add_growth(metrics, labels, context);
    if (!trace.steps.empty()) {
        metrics.add(steps, labels, static_cast<int64_t>(trace.steps.size()));
    }
    metrics.add(events, labels, int64_t{context.device().event_count()});
    add_findings(metrics, labels, device.explanation);
    if (cost) {
        metrics.add(cost_ratio, labels, cost->of_time);
    }
    metrics.add(trace_size, labels, trace.file_bytes);
}

}  // namespace tidemark::cli
