// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/summarize.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "storage/attribution/attribution.h"
#include "storage/explain/explain.h"
#include "storage/graph/open_graph.h"
#include "storage/read/open_trace.h"
#include "storage/text/words.h"
#include "storage/timeline/columns.h"

namespace tidemark {
namespace {

constexpr size_t most_sites = 64, most_findings = 24, most_step_ends = 256, most_meetings = 256;

std::vector<StepEnd> step_ends_of(const Trace& trace) {
    std::vector<StepEnd> all;
    for (const Step& step : trace.steps) {
        if (step.end) {
            all.push_back({step.number, *step.end});
        }
    }
    // Multiples of a power of two: ranks that made different numbers of steps have most of these numbers in common.
    int64_t every = 1;
    for (size_t left = all.size(); left > most_step_ends; left /= 2) {
        every *= 2;
    }
    std::erase_if(all, [every](const StepEnd& step) { return step.number % every != 0; });
    return all;
}

std::vector<Meeting> meetings_of(const Trace& trace) {
    std::vector<Meeting> meetings;
    for (const Annotation& span : trace.annotations) {
        if (span.closed && span.kind == AnnotationKind::collective && meetings.size() < most_meetings) {
            meetings.push_back({span.name, span.end});
        }
    }
    return meetings;
}

/// Sums the allocations of a device by site, in one pass.
class SiteSums {
public:
    explicit SiteSums(const AnalysisContext& context)
        : context_(context),
          grouper_(context.trace(), context.device(), GroupBy::line),
          peak_(context.curves().peak(Series::allocated).max_event) {}

    std::vector<SiteMemory> take() {
        const Allocations& all = context_.device().allocations;
        for (AllocationIndex a = 0; a < all.size(); ++a) {
            add(a);
        }
        for (size_t i = 0; i < sites_.size(); ++i) {
            finish(static_cast<uint32_t>(i));
        }
        const auto weight = [](const SiteMemory& site) { return std::max(site.at_peak, site.at_end); };
        std::sort(sites_.begin(), sites_.end(), [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
        sites_.resize(std::min(sites_.size(), most_sites));
        return std::move(sites_);
    }

private:
    void add(AllocationIndex a) {
        const uint32_t group = grouper_.group_of(a);
        if (group >= sites_.size()) {
            sites_.resize(group + 1);
            lifetimes_.resize(group + 1);
            largest_.resize(group + 1, no_allocation);
        }
        const Allocations& all = context_.device().allocations;
        SiteMemory& site = sites_[group];
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        const bool at_peak = is_active(a, peak_), at_end = is_active(a, context_.now());
        site.at_peak += at_peak ? bytes : 0;
        site.at_end += at_end ? bytes : 0;
        ++site.allocated;
        if ((at_peak || at_end) &&
            (largest_[group] == no_allocation || all.block_size[largest_[group]] < all.block_size[a])) {
            largest_[group] = a;
        }
        if (const auto free = context_.device().free_time(a); free && all.alloc_event[a] != before_history) {
            lifetimes_[group].push_back(*free - context_.device().alloc_time(a));
        }
    }

    bool is_active(AllocationIndex a, EventNumber state) const {
        const Allocations& all = context_.device().allocations;
        return all.alloc_event[a] < state && state <= all.free_completed[a];
    }

    void finish(uint32_t group) {
        SiteMemory& site = sites_[group];
        site.line = grouper_.name(group);
        std::vector<int64_t>& times = lifetimes_[group];
        if (!times.empty()) {
            const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
            std::nth_element(times.begin(), middle, times.end());
            site.median_lifetime = *middle;
        }
        if (context_.graph() != nullptr && largest_[group] != no_allocation) {
            site.category = context_.graph()->categories.at({context_.device_position(), largest_[group]},
                                                            context_.device().time_of_state(peak_));
        }
    }

    const AnalysisContext& context_;
    Grouper grouper_;
    EventNumber peak_;
    std::vector<SiteMemory> sites_;
    std::vector<std::vector<int64_t>> lifetimes_;
    std::vector<AllocationIndex> largest_;
};

FindingSummary summary_of(const Finding& finding) {
    FindingSummary summary;
    summary.kind = finding.kind;
    summary.severity = finding.severity;
    summary.bytes = finding.bytes;
    summary.per_iteration = finding.per_iteration;
    summary.line = finding.line;
    summary.is_gpu_leak = is_gpu_leak(finding);
    summary.is_slow = is_slow_growth(finding);
    return summary;
}

FindingTexts texts_of(const Finding& finding) {
    FindingTexts texts{finding.title, finding.text.empty() ? "" : finding.text.front(), finding.referrer, {}};
    if (!finding.fixes.empty()) {
        const Fix& fix = finding.fixes.front();
        texts.fix = {fix.text, fix.code, fix.diff};
    }
    return texts;
}

/// Explains the device in each language: the findings are the same.
void add_explanation(DeviceSummary& summary, const AnalysisContext& context, Progress& progress) {
    for (size_t language = 0; language < language_count; ++language) {
        const Explanation explanation = explain(context, Words(static_cast<Language>(language)), progress);
        summary.findings.resize(std::min(explanation.findings.size(), most_findings));
        for (size_t i = 0; i < summary.findings.size(); ++i) {
            if (language == 0) {
                summary.findings[i] = summary_of(explanation.findings[i]);
            }
            summary.findings[i].texts[language] = texts_of(explanation.findings[i]);
        }
    }
}

void add_curves(DeviceSummary& summary, const AnalysisContext& context) {
    const Trace& trace = context.trace();
    const auto columns = make_columns(trace, context.device(), context.curves(), TimeAxis::wall_clock, 0,
                                      static_cast<double>(trace.duration), DeviceSummary::columns);
    std::vector<int64_t> times;
    times.reserve(DeviceSummary::columns);
    summary.allocated.reserve(columns.size());
    summary.reserved.reserve(columns.size());
    summary.used.reserve(columns.size());
    for (const Column& column : columns) {
        summary.allocated.push_back(column.max[static_cast<size_t>(Series::allocated)]);
        summary.reserved.push_back(column.max[static_cast<size_t>(Series::reserved)]);
    }
    for (int i = 0; i < DeviceSummary::columns; ++i) {
        times.push_back(trace.duration * (i + 1) / DeviceSummary::columns);
    }
    for (const BreakdownRow& row : context.breakdown().band(times)) {
        summary.used.push_back(row.device_used.value_or(-1));
    }
}

/// Returns the phase of the last allocation before the peak.
std::string phase_at(const AnalysisContext& context, EventNumber state) {
    const DeviceHistory& device = context.device();
    for (EventNumber n = std::min(state, device.event_count()); n > 0; --n) {
        const EventRef ref = device.event_ref[static_cast<size_t>(n - 1)];
        if (ref.action() == Action::alloc) {
            const Origin& origin = context.trace().origins[device.allocations.origin[ref.index()]];
            return origin.phase == Phase::none ? "" : word_of(origin.phase);
        }
    }
    return {};
}

void add_oom(DeviceSummary& summary, const AnalysisContext& context) {
    if (const OtherEvent* oom = context.out_of_memory()) {
        summary.oom = OomSummary{context.device().event_time[static_cast<size_t>(oom->event)],
                                 static_cast<int64_t>(oom->size), static_cast<int64_t>(oom->address)};
    }
}

void add_parameters(DeviceSummary& summary, const AnalysisContext& context) {
    if (context.graph() == nullptr) {
        return;
    }
    const Categories& categories = context.graph()->categories;
    uint64_t names = 0;
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        const AllocationRef allocation{context.device_position(), a};
        if (categories.at(allocation, context.now_time()) == Category::parameter) {
            summary.parameters += static_cast<int64_t>(context.device().allocations.block_size[a]);
            names += std::hash<std::string>()(categories.name(allocation));
        }
    });
    summary.parameter_names = static_cast<int64_t>(names);
}

DeviceSummary summarize_device(const AnalysisContext& context, Progress& progress) {
    const DeviceHistory& device = context.device();
    const Curves& curves = context.curves();
    DeviceSummary summary;
    summary.device = device.device;
    summary.name = device.name;
    summary.uuid = device.uuid;
    summary.total_bytes = device.total_bytes;
    summary.events = device.event_count();
    const Extremes peak = curves.peak(Series::allocated);
    summary.peak_allocated = peak.max;
    summary.peak_reserved = curves.peak(Series::reserved).max;
    summary.peak_time = device.time_of_state(peak.max_event);
    summary.peak_phase = phase_at(context, peak.max_event);
    summary.end_time = context.now_time();
    summary.allocated_at_end = curves.value(Series::allocated, context.now());
    summary.reserved_at_end = curves.value(Series::reserved, context.now());
    add_parameters(summary, context);
    summary.device_used = context.row().device_used;
    for (const Component& component : context.row().components) {
        summary.components.push_back({component.kind, component.name, component.bytes});
    }
    summary.sites = SiteSums(context).take();
    add_explanation(summary, context, progress);
    add_curves(summary, context);
    add_oom(summary, context);
    return summary;
}

void add_process(ProcessSummary& summary, const Trace& trace) {
    summary.start_utc_ns = trace.start_utc_ns;
    summary.duration = trace.duration;
    summary.is_being_written = trace.being_written;
    summary.has_clean_end = trace.clean_end;
    summary.steps = static_cast<int64_t>(trace.steps.size());
    summary.step_ends = step_ends_of(trace);
    summary.meetings = meetings_of(trace);
    if (!trace.processes.empty()) {
        const Process& process = trace.processes.front();
        summary.place = process.place;
        summary.pid = process.pid;
        summary.how_ended = process.how_ended;
        summary.end = process.end;
        summary.exit_status = process.exit_status;
    }
    for (const DeviceHistory& device : trace.devices) {
        if (!device.event_time.empty()) {
            summary.last_event = std::max(summary.last_event, device.event_time.back());
        }
    }
}

}  // namespace

int64_t DeviceSummary::own_at_end() const {
    int64_t bytes = 0;
    for (const ComponentMemory& component : components) {
        const bool is_own =
            component.kind != ComponentKind::other_processes && component.kind != ComponentKind::unknown;
        bytes += is_own ? component.bytes : 0;
    }
    return bytes;
}

int64_t DeviceSummary::growth() const {
    int64_t bytes = 0;
    for (const FindingSummary& finding : findings) {
        bytes += finding.is_gpu_leak ? finding.per_iteration.value_or(0) : 0;
    }
    return bytes;
}

FileState state_of_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return {};
    }
    return {status.st_size, status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec};
}

Result<ProcessSummary> summarize_trace(const std::string& path, Progress& progress) {
    const FileState state = state_of_file(path);
    const auto trace = open_trace(path, progress);
    if (!trace) {
        return trace.error();
    }
    auto opened = open_graph(*trace, progress);
    if (!opened) {
        return opened.error();
    }
    const std::shared_ptr<const Graph> graph = *std::move(opened);
    ProcessSummary summary;
    summary.file_bytes = state.bytes;
    summary.modified_ns = state.modified_ns;
    add_process(summary, **trace);
    for (const DeviceHistory& device : (*trace)->devices) {
        const AnalysisContext context(std::make_shared<const Analysis>(*trace, device), graph);
        summary.devices.push_back(summarize_device(context, progress));
        if (progress.canceled) {
            return canceled_error();
        }
    }
    std::stable_sort(summary.devices.begin(), summary.devices.end(),
                     [](const auto& a, const auto& b) { return a.events > b.events; });
    return summary;
}

}  // namespace tidemark
