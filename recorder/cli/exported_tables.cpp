// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/exported_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "storage/allocator/rules.h"
#include "storage/attribution/attribution.h"
#include "storage/replay/active_walk.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

/// A point in time of the tables, and what is active then.
struct ExportedPoint {
    const char* name;
    TimePoint point;
    std::vector<ActiveAllocation> active;

    ExportedPoint(const AnalysisContext& context, const char* called)
        // Both points exist in every trace.
        : name(called),
          point(*find_time_point(context.trace(), context.device(), context.curves(), called)),
          active(active_allocations(context.device(), context.analysis().live(), point)) {}
};

/// The tables of one device.
class Tables {
public:
    Tables(const Explained& device, const TakeRows& take)
        : explained_(device), context_(*device.context), take_(take), peak_(context_, "peak"), end_(context_, "end") {}

    Status runs() const;
    Status sites() const;
    Status steps() const;
    Status findings() const;
    Status breakdown() const;
    Status allocations(ExportedAllocations which) const;

private:
    struct Site;
    class AllocationRows;

    const Trace& trace() const { return context_.trace(); }
    const DeviceHistory& device() const { return context_.device(); }
    int64_t highest(Series series) const { return context_.curves().peak(series).max; }
    int64_t at_end(Series series) const { return context_.curves().value(series, end_.point); }
    std::optional<int64_t> limit() const;
    std::optional<int64_t> highest_sample(std::optional<int64_t> pid) const;
    const std::string& module_of(AllocationIndex a) const {
        return trace().origins[device().allocations.origin[a]].module;
    }
    /// Returns nothing if no graph was recorded.
    std::optional<Category> category_at(const ActiveAllocation& active) const;
    std::vector<Site> find_sites() const;

    const Explained& explained_;
    const AnalysisContext& context_;
    const TakeRows& take_;
    const ExportedPoint peak_, end_;
};

/// Returns the bytes that the process may reserve: those of the device, or the part that the program set.
std::optional<int64_t> Tables::limit() const {
    const double fraction = AllocatorSettings::from_text(trace().settings).memory_fraction;
    const int64_t total = device().total_bytes;
    if (total == 0) {
        return std::nullopt;
    }
    return fraction > 0 ? static_cast<int64_t>(fraction * static_cast<double>(total)) : total;
}

/// Returns the most bytes that NVML reported for the device, or for a process on it.
std::optional<int64_t> Tables::highest_sample(std::optional<int64_t> pid) const {
    std::optional<int64_t> highest;
    for (const Sample& sample : trace().samples) {
        if (sample.device == device().device && sample.pid == pid) {
            highest = std::max(highest.value_or(0), sample.used_bytes);
        }
    }
    return highest;
}

Status Tables::runs() const {
    TableRows rows("runs", take_);
    const Process* process = trace().processes.empty() ? nullptr : &trace().processes.front();
    const auto pid = process != nullptr ? std::optional(process->pid) : std::nullopt;
    const JobPlace place = process != nullptr ? process->place : JobPlace();
    const auto known = [](int64_t value) { return value == 0 ? std::nullopt : std::optional(value); };
    rows.row()
        .number("device", device().device)
        .text("device_name", device().name)
        .text("device_uuid", device().uuid)
        .text("trace", std::filesystem::absolute(trace().path).lexically_normal().string())
        .number("process_id", pid)
        .number("rank", place.rank)
        .number("world_size", place.world_size)
        .text("node", place.node)
        .text("role", place.role)
        .number("start", known(trace().start_utc_ns))
        .number("duration_ns", trace().duration)
        .number("steps", static_cast<int64_t>(trace().steps.size()))
        .number("events", device().event_count())
        .number("allocations", device().allocations.size())
        .number("device_total_bytes", known(device().total_bytes))
        .number("limit_bytes", limit())
        .number("peak_allocated_bytes", highest(Series::allocated))
        .number("peak_active_bytes", highest(Series::active))
        .number("peak_reserved_bytes", highest(Series::reserved))
        .number("peak_device_used_bytes", highest_sample(std::nullopt))
        .number("peak_process_used_bytes", pid ? highest_sample(trace().nvml_pid.value_or(*pid)) : std::nullopt)
        .number("peak_time_ns", time_of(device(), peak_.point))
        .number("end_allocated_bytes", at_end(Series::allocated))
        .number("end_active_bytes", at_end(Series::active))
        .number("end_reserved_bytes", at_end(Series::reserved))
        .text("trend", run_trend_word(explained_.explanation.run_trend))
        .flag("out_of_memory", context_.out_of_memory() != nullptr)
        .text("how_ended", process != nullptr ? word_of(process->how_ended) : "")
        .number("exit_status", process != nullptr ? process->exit_status : std::nullopt)
        .flag("clean_end", trace().clean_end)
        .number("data_gaps", static_cast<int64_t>(trace().data_gaps.size()))
        .text("writer", trace().writer);
    return rows.pass_on();
}

std::optional<Category> Tables::category_at(const ActiveAllocation& active) const {
    if (context_.graph() == nullptr) {
        return std::nullopt;
    }
    return context_.graph()->categories.at({context_.device_position(), active.allocation},
                                           device().time_until(active.state, trace().duration));
}

/// The allocations of one line in one module.
struct Tables::Site {
    struct Sum {
        int64_t bytes = 0, allocations = 0;
        void add(int64_t of_block) {
            bytes += of_block;
            ++allocations;
        }
    };
    Sum peak, end, all;
    std::string name;
    AllocationIndex example = no_allocation;
    std::array<int64_t, category_count> bytes_of{};  ///< by category, at the peak and at the end
    bool has_category = false;

    void add(std::optional<Category> category, int64_t bytes) {
        if (category) {
            bytes_of[static_cast<size_t>(*category)] += bytes;
            has_category = true;
        }
    }
    std::string_view category() const {
        const auto* const most = std::max_element(bytes_of.begin(), bytes_of.end());
        return has_category ? category_name(static_cast<Category>(most - bytes_of.begin())) : "";
    }
};

std::vector<Tables::Site> Tables::find_sites() const {
    const Allocations& all = device().allocations;
    Grouper lines(trace(), device(), GroupBy::line), modules(trace(), device(), GroupBy::module);
    std::vector<Site> sites;
    std::unordered_map<uint64_t, size_t> position;
    const auto site_of = [&](AllocationIndex a) -> Site& {
        const uint32_t line = lines.group_of(a);
        const auto [entry, is_new] = position.try_emplace(uint64_t{line} << 32 | modules.group_of(a), sites.size());
        if (is_new) {
            Site& site = sites.emplace_back();
            site.name = lines.name(line);
            site.example = a;
        }
        return sites[entry->second];
    };
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        site_of(a).all.add(static_cast<int64_t>(all.block_size[a]));
    }
    for (const auto& [point, sum] : {std::pair(&peak_, &Site::peak), std::pair(&end_, &Site::end)}) {
        for (const ActiveAllocation& active : point->active) {
            Site& site = site_of(active.allocation);
            const auto bytes = static_cast<int64_t>(all.block_size[active.allocation]);
            (site.*sum).add(bytes);
            site.add(category_at(active), bytes);
        }
    }
    return sites;
}

Status Tables::sites() const {
    TableRows rows("sites", take_);
    const StackTable& stacks = trace().stacks;
    for (const Site& site : find_sites()) {
        const Frame frame = stacks.frame(stacks.site(device().allocations.stack[site.example]));
        rows.row()
            .number("device", device().device)
            .text("site", site.name)
            .text("file", stacks.string(frame.file))
            .number("line", frame.line > 0 ? std::optional<int64_t>(frame.line) : std::nullopt)
            .text("function", stacks.string(frame.function))
            .text("module", module_of(site.example))
            .text("category", site.category())
            .number("peak_bytes", site.peak.bytes)
            .number("peak_allocations", site.peak.allocations)
            .number("end_bytes", site.end.bytes)
            .number("end_allocations", site.end.allocations)
            .number("allocated_bytes", site.all.bytes)
            .number("allocations", site.all.allocations);
        TIDEMARK_TRY(rows.pass_on_some());
    }
    return rows.pass_on();
}

std::string_view unit_word(IterationSource source) {
    switch (source) {
        case IterationSource::none: return "";
        case IterationSource::steps: return "step";
        case IterationSource::marks: return "mark";
        case IterationSource::loop: return "loop";
    }
    return "";
}

Status Tables::steps() const {
    TableRows rows("steps", take_);
    const Curves& curves = context_.curves();
    const Iterations iterations(trace(), device(), curves);
    std::optional<int64_t> before;
    for (const Iteration& iteration : iterations.all()) {
        const int64_t at_end = curves.value(Series::allocated, iteration.last);
        rows.row()
            .number("device", device().device)
            .number("step", iteration.number)
            .text("unit", unit_word(iterations.source()))
            .number("start_ns", iteration.start)
            .number("duration_ns", iteration.end - iteration.start)
            .number("peak_allocated_bytes", curves.extremes(Series::allocated, iteration.first, iteration.last).max)
            .number("end_allocated_bytes", at_end)
            .number("growth_bytes", before ? std::optional(at_end - *before) : std::nullopt);
        before = at_end;
        TIDEMARK_TRY(rows.pass_on_some());
    }
    return rows.pass_on();
}

Status Tables::findings() const {
    TableRows rows("findings", take_);
    int64_t position = 0;
    for (const Finding& finding : explained_.explanation.findings) {
        rows.row()
            .number("device", device().device)
            .number("position", position++)
            .text("kind", finding_word(finding.kind))
            .text("severity", severity_word(finding.severity))
            .text("confidence", confidence_word(finding.confidence))
            .text("title", finding.title)
            .number("bytes", finding.bytes)
            .number("per_iteration_bytes", finding.per_iteration)
            .number("count", finding.count)
            .number("since_ns", finding.since)
            .number("since_iteration", finding.since_iteration)
            .text("component", finding.component ? component_word(*finding.component) : "")
            .text("line", finding.line)
            .text("referrer", finding.referrer)
            .text("fix", finding.fixes.empty() ? "" : finding.fixes.front().text)
            .number("time_ns", explained_.explanation.time);
    }
    return rows.pass_on();
}

Status Tables::breakdown() const {
    TableRows rows("breakdown", take_);
    for (const ExportedPoint* at : {&peak_, &end_}) {
        const BreakdownRow row = context_.breakdown().at(at->point);
        for (const Component& component : row.components) {
            rows.row()
                .number("device", device().device)
                .text("point", at->name)
                .number("time_ns", row.time)
                .text("component", component_word(component.kind))
                .text("name", component.name)
                .number("process_id", component.pid != 0 ? std::optional(component.pid) : std::nullopt)
                .number("bytes", component.bytes)
                .number("count", component.count);
        }
    }
    return rows.pass_on();
}

/// Writes rows of allocations. Makes the text of a group, an origin and a stack once.
class Tables::AllocationRows {
public:
    explicit AllocationRows(const Tables& tables)
        : tables_(tables),
          device_(tables.device()),
          lines_(tables.trace(), device_, GroupBy::line),
          rows_("allocations", tables.take_) {
        for (const Origin& origin : tables.trace().origins) {
            origins_.push_back(
                {json_string(origin.module), json_string(origin.op), json_string(word_of(origin.phase))});
        }
    }

    /// `at_peak`, `at_end`: the allocation, as it is active there; nullptr if it is not.
    Status add(AllocationIndex a, const ActiveAllocation* at_peak, const ActiveAllocation* at_end) {
        const Allocations& all = device_.allocations;
        const bool has_begin = all.alloc_event[a] != before_history;
        const OriginTexts& origin = origins_[all.origin[a]];
        rows_.row()
            .number("device", device_.device)
            .number("allocation", device_.allocation_id(a))
            .number("bytes", static_cast<int64_t>(all.block_size[a]))
            .number("requested_bytes", static_cast<int64_t>(all.requested[a]))
            .flag("at_peak", at_peak != nullptr)
            .flag("at_end", at_end != nullptr)
            .number("alloc_time_ns", has_begin ? std::optional(device_.alloc_time(a)) : std::nullopt)
            .number("free_time_ns", device_.free_time(a))
            .quoted("site", site(a))
            .quoted("module", origin.module)
            .quoted("op", origin.op)
            .quoted("phase", origin.phase)
            .text("category_at_peak", category(at_peak))
            .text("category_at_end", category(at_end))
            .quoted("stack", stack(all.stack[a]));
        return rows_.pass_on_some();
    }
    Status pass_on() { return rows_.pass_on(); }

private:
    struct OriginTexts {
        std::string module, op, phase;
    };

    const std::string& site(AllocationIndex a) {
        const uint32_t line = lines_.group_of(a);
        if (line == sites_.size()) {
            sites_.push_back(json_string(lines_.name(line)));
        }
        return sites_[line];
    }
    /// "main.py:31 main;net.py:12 forward"
    const std::string& stack(StackId id) {
        const auto [entry, is_new] = stacks_.try_emplace(id);
        if (is_new) {
            const StackTable& table = tables_.trace().stacks;
            auto frames = table.frames_of(id);
            std::reverse(frames.begin(), frames.end());
            std::string text;
            for (const FrameId frame : frames) {
                text += (text.empty() ? "" : ";") + describe_frame(table, frame);
            }
            entry->second = json_string(text);
        }
        return entry->second;
    }
    std::string_view category(const ActiveAllocation* active) const {
        const auto category = active != nullptr ? tables_.category_at(*active) : std::nullopt;
        return category ? category_name(*category) : "";
    }

    const Tables& tables_;
    const DeviceHistory& device_;
    Grouper lines_;
    TableRows rows_;
    std::vector<OriginTexts> origins_;  ///< JSON, as the two below
    std::vector<std::string> sites_;    ///< by group
    std::unordered_map<StackId, std::string> stacks_;
};

Status Tables::allocations(ExportedAllocations which) const {
    struct Active {
        const ActiveAllocation *at_peak = nullptr, *at_end = nullptr;
    };
    std::map<AllocationIndex, Active> active;  // by age
    for (const ActiveAllocation& at_peak : peak_.active) {
        active[at_peak.allocation].at_peak = &at_peak;
    }
    for (const ActiveAllocation& at_end : end_.active) {
        active[at_end.allocation].at_end = &at_end;
    }
    AllocationRows rows(*this);
    if (which == ExportedAllocations::alive) {
        for (const auto& [allocation, when] : active) {
            TIDEMARK_TRY(rows.add(allocation, when.at_peak, when.at_end));
        }
        return rows.pass_on();
    }
    auto next = active.begin();
    for (AllocationIndex a = 0; a < device().allocations.size(); ++a) {
        const bool is_active = next != active.end() && next->first == a;
        const Active when = is_active ? (next++)->second : Active();
        TIDEMARK_TRY(rows.add(a, when.at_peak, when.at_end));
    }
    return rows.pass_on();
}

}  // namespace

Status export_tables(const Explained& device, ExportedAllocations allocations, const TakeRows& take) {
    const Tables tables(device, take);
    TIDEMARK_TRY(tables.runs());
    TIDEMARK_TRY(tables.sites());
    TIDEMARK_TRY(tables.steps());
    TIDEMARK_TRY(tables.findings());
    TIDEMARK_TRY(tables.breakdown());
    return tables.allocations(allocations);
}

}  // namespace tidemark::cli
