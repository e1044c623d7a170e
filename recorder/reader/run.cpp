// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/reader/run.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "storage/attribution/group_way.h"
#include "storage/base/utf8.h"
#include "storage/compare/common_axis.h"
#include "storage/graph/open_graph.h"
#include "storage/read/open_trace.h"
#include "storage/report/report.h"
#include "storage/timeline/time_point.h"
#include "storage/trace/select_devices.h"

namespace tidemark::reader {
namespace {

/// What selects the rows of a table of one device.
struct Query {
    const std::optional<std::string>& at;
    const std::string& by;

    Result<TimePoint> point(const AnalysisContext& context) const {
        return find_time_point(context.trace(), context.device(), context.curves(), at.value_or("peak"));
    }
};

/// Returns the options of a grouping in a context.
GroupOptions options_in(const AnalysisContext& context, const Way& way) {
    GroupOptions options = way.options;
    options.categories = context.graph() == nullptr ? nullptr : &context.graph()->categories;
    return options;
}

Status write_breakdown_of(const AnalysisContext& context, const Query& query, const TakeBatch& take) {
    if (!query.at) {
        return write_breakdown(context, peak_and_end(context), take);
    }
    const auto point = query.point(context);
    return point ? write_breakdown(context, std::vector<NamedPoint>{{*query.at, *point}}, take) : point.error();
}

Status write_active_of(const AnalysisContext& context, const Query& query, const TakeBatch& take) {
    const auto point = query.point(context);
    return point ? write_active(context, *point, take) : point.error();
}

Status write_groups_of(const AnalysisContext& context, const Query& query, const TakeBatch& take) {
    const auto way = parse_way(query.by);
    if (!way) {
        return way.error();
    }
    const auto point = query.point(context);
    return point ? write_groups(context, *point, way->by, options_in(context, *way), take) : point.error();
}

/// A table of which each device has rows.
template <class Device>
struct DeviceTable {
    const TableInfo& (*info)();
    Status (*write)(const Device& device, const Query& query, const TakeBatch& take);
};

constexpr DeviceTable<Explained> explained_tables[] = {
    {runs_table, [](const Explained& device, const Query&, const TakeBatch& take) { return write_runs(device, take); }},
    {findings_table,
     [](const Explained& device, const Query&, const TakeBatch& take) { return write_findings(device, take); }},
};

/// Tables that need no explanation.
constexpr DeviceTable<AnalysisContext> context_tables[] = {
    {sites_table,
     [](const AnalysisContext& context, const Query&, const TakeBatch& take) { return write_sites(context, take); }},
    {steps_table,
     [](const AnalysisContext& context, const Query&, const TakeBatch& take) { return write_steps(context, take); }},
    {events_table,
     [](const AnalysisContext& context, const Query&, const TakeBatch& take) { return write_events(context, take); }},
    {allocations_table,
     [](const AnalysisContext& context, const Query&, const TakeBatch& take) {
         return write_allocations(context, ExportedAllocations::all, take);
     }},
    {breakdown_table, write_breakdown_of},
    {active_table, write_active_of},
    {groups_table, write_groups_of},
};

template <class Device>
const DeviceTable<Device>* find_table(std::span<const DeviceTable<Device>> tables, std::string_view name) {
    const auto found =
        std::find_if(tables.begin(), tables.end(), [&](const auto& table) { return table.info().name == name; });
    return found == tables.end() ? nullptr : &*found;
}

/// Collects the rows of all devices.
template <class Device, class Devices>
Run::TableResult collect(const DeviceTable<Device>& table, const Devices& devices, const Query& query) {
    auto rows = std::make_shared<Rows>(table.info());
    const TakeBatch take = [&](TableBatch&& batch) {
        rows->batches.push_back(std::move(batch));
        return Status();
    };
    for (const auto& device : devices) {
        const Status written = table.write(*device, query, take);
        if (!written) {
            return written.error();
        }
    }
    return std::shared_ptr<const Rows>(std::move(rows));
}

StateOf state_in(const AnalysisContext& context, const TimePoint& point) {
    return {context.trace(), context.device(), context.analysis().live(), point,
            context.graph() == nullptr ? nullptr : &context.graph()->categories};
}

Words words_of_user() { return Words(language_of_locale()); }

std::string format_report(std::string_view format, std::span<const ReportInput> devices) {
    const Words words = words_of_user();
    if (format == "html") {
        return report_html(devices, words);
    }
    if (format == "fragment") {
        return report_fragment(devices, words);
    }
    if (format == "markdown") {
        return report_markdown(devices, words);
    }
    auto list = nlohmann::ordered_json::array();
    std::string text;
    for (const ReportInput& reported : devices) {
        if (format == "json") {
            list.push_back(report_json(reported));
        } else if (format == "summary") {
            for (const std::string& sentence : reported.explanation.summary) {
                text += visible_text(sentence) + '\n';
            }
        } else {
            text += (text.empty() ? "" : "\n") + report_text(reported, words, {});
        }
    }
    return format == "json" ? (list.size() == 1 ? list.front() : list).dump() : text;
}

}  // namespace

Result<std::unique_ptr<Run>> Run::open(const std::string& path) {
    Progress progress;
    auto trace = open_trace(path, progress);
    return trace ? Result<std::unique_ptr<Run>>(std::make_unique<Run>(*std::move(trace))) : trace.error();
}

Result<const Contexts*> Run::contexts() const {
    const std::lock_guard lock(mutex_);
    if (!contexts_) {
        Progress progress;
        auto read = open_graph(trace_, progress);
        if (!read) {
            return read.error();
        }
        const std::shared_ptr<const Graph> graph = *std::move(read);
        Contexts contexts;
        for (const DeviceHistory& device : trace_->devices) {
            contexts.push_back(
                std::make_shared<const AnalysisContext>(std::make_shared<const Analysis>(trace_, device), graph));
        }
        contexts_ = std::move(contexts);
    }
    return &*contexts_;
}

Result<const std::vector<Explained>*> Run::explained() const {
    const auto contexts = this->contexts();
    if (!contexts) {
        return contexts.error();
    }
    const std::lock_guard lock(mutex_);
    if (!explained_) {
        Progress progress;
        auto explained = explain_devices(**contexts, words_of_user(), progress);
        if (!explained) {
            return explained.error();
        }
        explained_ = *std::move(explained);
    }
    return &*explained_;
}

Result<Run::Devices> Run::devices(std::optional<int> device) const {
    if (!device && trace_->devices.empty()) {
        return Devices();
    }
    const auto selected = select_devices(*trace_, device);
    if (!selected) {
        return selected.error();
    }
    const auto contexts = this->contexts();
    if (!contexts) {
        return contexts.error();
    }
    Devices devices;
    for (const auto& context : **contexts) {
        if (std::find(selected->begin(), selected->end(), &context->device()) != selected->end()) {
            devices.push_back(context);
        }
    }
    return devices;
}

Result<std::shared_ptr<const AnalysisContext>> Run::one_device(std::optional<int> device) const {
    const auto selected = select_devices(*trace_, device);
    if (!selected) {
        return selected.error();
    }
    auto devices = this->devices(device ? *device : trace_->main_device().device);
    return devices ? Result<std::shared_ptr<const AnalysisContext>>(devices->front()) : devices.error();
}

Result<std::vector<const Explained*>> Run::explained_devices(std::optional<int> device) const {
    const auto selected = devices(device);
    if (!selected) {
        return selected.error();
    }
    const auto explained = this->explained();
    if (!explained) {
        return explained.error();
    }
    std::vector<const Explained*> devices;
    for (const Explained& each : **explained) {
        if (std::find(selected->begin(), selected->end(), each.context) != selected->end()) {
            devices.push_back(&each);
        }
    }
    return devices;
}

Run::TableResult Run::table(std::string_view name, const Selection& selection, const std::string& by) const {
    const Query query{selection.at, by};
    if (const auto* table = find_table<Explained>(explained_tables, name)) {
        const auto devices = explained_devices(selection.device);
        return devices ? collect(*table, *devices, query) : devices.error();
    }
    if (const auto* table = find_table<AnalysisContext>(context_tables, name)) {
        const auto devices = this->devices(selection.device);
        return devices ? collect(*table, *devices, query) : devices.error();
    }
    return usage_error("There is no table {name}.", with("name", name));
}

Result<std::string> Run::points(const Selection& selection) const {
    const auto devices = this->devices(selection.device);
    if (!devices) {
        return devices.error();
    }
    const Words words = words_of_user();
    std::string text;
    for (const auto& context : *devices) {
        const auto point = Query{selection.at, {}}.point(*context);
        if (!point) {
            return point.error();
        }
        text += words.translate(describe_time_point(context->trace(), context->device(), *point)) + '\n';
    }
    return text;
}

Result<std::string> Run::explanation(std::string_view format, std::optional<int> device) const {
    const auto selected = select_devices(*trace_, device);
    if (!selected) {
        return selected.error();
    }
    const auto devices = explained_devices(device);
    if (!devices) {
        return devices.error();
    }
    std::vector<ReportInput> reported;
    for (const Explained* explained : *devices) {
        reported.push_back({*explained->context, explained->explanation});
    }
    return format_report(format, reported);
}

Run::TableResult Run::changes(const Run& a, const Selection& at_a, const Run& b, const Selection& at_b,
                              const std::string& by) {
    const auto way = parse_way(by);
    if (!way) {
        return way.error();
    }
    const auto context_a = a.one_device(at_a.device);
    if (!context_a) {
        return context_a.error();
    }
    const auto position = device_to_compare(*b.trace_, (*context_a)->device().device);
    const auto context_b =
        b.one_device(at_b.device || !position ? at_b.device : std::optional(b.trace_->devices[*position].device));
    if (!context_b) {
        return context_b.error();
    }
    const auto point_a = Query{at_a.at, by}.point(**context_a), point_b = Query{at_b.at, by}.point(**context_b);
    if (!point_a || !point_b) {
        return point_a ? point_b.error() : point_a.error();
    }
    auto rows = std::make_shared<Rows>(changes_table());
    const Comparison comparison =
        compare(state_in(**context_a, *point_a), state_in(**context_b, *point_b), way->by, way->options);
    const Status written = write_changes(comparison, [&](TableBatch&& batch) {
        rows->batches.push_back(std::move(batch));
        return Status();
    });
    return written ? TableResult(std::shared_ptr<const Rows>(std::move(rows))) : written.error();
}

}  // namespace tidemark::reader
