// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "storage/convert/perfetto_parts.h"
#include "storage/convert/span_lanes.h"

namespace tidemark {
namespace {

using perfetto::DeviceTimeline;

/// Above all process ids of Linux: torch.profiler's own processes keep theirs in a common file.
constexpr int64_t first_process = 2'000'000'000;
/// torch.profiler places GPUs from 5,000,000 on, after the process.
constexpr int64_t first_position = 4'000'000;

std::string device_title(const DeviceTimeline& timeline) {
    const DeviceHistory& device = timeline.history();
    return device.name.empty() ? timeline.words("Memory of GPU {device}", with("device", device.device))
                               : timeline.words("Memory of GPU {device} ({name})", with("device", device.device),
                                                with("name", device.name));
}

struct Span {
    std::string name;
    int64_t start = 0, end = 0;
};

/// Writes spans that may overlap on tracks of one name.
void write_spans(const DeviceTimeline& timeline, std::vector<Span> spans, int64_t first_thread,
                 const std::string& title) {
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    SpanLanes lanes;
    for (const Span& span : spans) {
        const int64_t before = lanes.count();
        const SpanLanes::Place place = lanes.place(span.start, span.end);
        const ChromeTrack track{timeline.process, first_thread + place.lane};
        if (lanes.count() > before) {
            timeline.events.name_thread(track, title);
        }
        timeline.events.span(track, span.name, timeline.at(span.start), timeline.at(place.end), {});
    }
}

void write_steps(const DeviceTimeline& timeline) {
    std::vector<Span> spans;
    for (const Step& step : timeline.trace().steps) {
        const int64_t end = step.end.value_or(timeline.trace().duration);
        spans.push_back(
            {timeline.words("step {number}", with("number", step.number)), step.start, std::max(step.start, end)});
    }
    write_spans(timeline, std::move(spans), perfetto::steps_thread, timeline.words("Steps"));
}

void write_phases(const DeviceTimeline& timeline) {
    std::vector<Span> spans;
    for (const Annotation& span : timeline.trace().annotations) {
        if (span.device == timeline.history().device) {
            spans.push_back({span.name, span.start, std::max(span.start, span.end)});
        }
    }
    write_spans(timeline, std::move(spans), perfetto::phases_thread, timeline.words("Phases and ranges"));
}

void write_marks(const DeviceTimeline& timeline) {
    const ChromeTrack track{timeline.process, perfetto::marks_thread};
    timeline.events.name_thread(track, timeline.words("Marks"));
    for (const Mark& mark : timeline.trace().marks) {
        if (mark.value) {
            timeline.events.instant(track, mark.name, timeline.at(mark.time), {{"value", *mark.value}});
        } else {
            timeline.events.instant(track, mark.name, timeline.at(mark.time), {});
        }
    }
    const DeviceHistory& device = timeline.history();
    for (const OtherEvent& other : device.others) {
        if (other.action == Action::oom) {
            timeline.events.instant(track, timeline.words("out of memory"),
                                    timeline.at(device.event_time[static_cast<size_t>(other.event)]),
                                    {{"requested_bytes", static_cast<int64_t>(other.size)},
                                     {"free_bytes", static_cast<int64_t>(other.address)}});
        }
    }
}

/// A finding is where its memory begins to grow, or otherwise at the point in time of the explanation.
void write_findings(const DeviceTimeline& timeline) {
    const ChromeTrack track{timeline.process, perfetto::findings_thread};
    timeline.events.name_thread(track, timeline.words("Findings"));
    const Explanation& explanation = timeline.device.explanation;
    for (const Finding& finding : explanation.findings) {
        timeline.events.instant(track, finding.title, timeline.at(finding.since.value_or(explanation.time)),
                                {{"kind", finding_word(finding.kind)},
                                 {"severity", severity_word(finding.severity)},
                                 {"confidence", confidence_word(finding.confidence)},
                                 {"bytes", finding.bytes},
                                 {"per_iteration_bytes", finding.per_iteration.value_or(0)},
                                 {"line", finding.line},
                                 {"referrer", finding.referrer},
                                 {"fix", finding.fixes.empty() ? std::string_view() : finding.fixes.front().text}});
    }
}

int64_t base_of(const Trace& trace, const PerfettoOptions& options) {
    return options.base.value_or(profiler_base(trace.start_utc_ns));
}

}  // namespace

int64_t profiler_base(int64_t utc_ns) {
    constexpr int64_t three_months = 7'889'238'000'000'000;  // as Kineto rounds them
    return utc_ns / three_months * three_months;
}

Result<PerfettoSummary> write_perfetto_events(std::span<const PerfettoDevice> devices, const PerfettoOptions& options,
                                              const Words& words, const TakeBytes& take) {
    const Trace& trace = devices.front().context.trace();
    ChromeEvents events(take);
    PerfettoSummary summary;
    for (const PerfettoDevice& device : devices) {
        const int64_t index = device.context.device().device;
        const DeviceTimeline timeline{device, words, events, first_process + index,
                                      trace.start_utc_ns - base_of(trace, options)};
        events.name_process(timeline.process, device_title(timeline), first_position + index);
        write_findings(timeline);
        write_marks(timeline);
        write_steps(timeline);
        write_phases(timeline);
        perfetto::write_counters(timeline);
        perfetto::write_allocations(timeline, options.most_allocations, summary);
        TIDEMARK_TRY(events.status());
    }
    TIDEMARK_TRY(events.finish());
    return summary;
}

Result<PerfettoSummary> write_perfetto(std::span<const PerfettoDevice> devices, const PerfettoOptions& options,
                                       const Words& words, const TakeBytes& take) {
    const Trace& trace = devices.front().context.trace();
    TIDEMARK_TRY(take(fmt::format("{{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":{},\"traceEvents\":[\n",
                                  base_of(trace, options))));
    auto summary = write_perfetto_events(devices, options, words, take);
    if (!summary) {
        return summary.error();
    }
    TIDEMARK_TRY(take("\n]}\n"));
    return summary;
}

}  // namespace tidemark
