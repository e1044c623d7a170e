// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/session.h"

#include <algorithm>
#include <cmath>

#include "gui/model/column_cache.h"
#include "gui/model/grouping.h"
#include "gui/model/lazy_breakdown.h"
#include "gui/model/lazy_iterations.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/time_point.h"

namespace tidemark::gui {

std::vector<std::shared_ptr<const Analysis>> Session::analyze(const std::shared_ptr<const Trace>& trace) {
    std::vector<std::shared_ptr<const Analysis>> result;
    result.reserve(trace->devices.size());
    for (const DeviceHistory& device : trace->devices) {
        result.push_back(std::make_shared<Analysis>(trace, device));
    }
    return result;
}

Session::Session(std::shared_ptr<const Trace> trace, std::vector<std::shared_ptr<const Analysis>> analyses,
                 QObject* parent)
    : QObject(parent),
      trace_(std::move(trace)),
      analyses_(std::move(analyses)),
      column_cache_(std::make_shared<ColumnCache>()) {
    selection_.set_trace(trace_.get());
    connect(&selection_, &Selection::device_changed, this, &Session::show_device);
    connect(&selection_, &Selection::selected_changed, this, [this] { selected_group_ = -1; });
    connect(&graph_source_, &GraphSource::changed, this, &Session::take_graph);
    if (has_device()) {
        const auto main = std::find_if(trace_->devices.begin(), trace_->devices.end(),
                                       [this](const DeviceHistory& d) { return &d == &trace_->main_device(); });
        selection_.select_device(static_cast<int>(main - trace_->devices.begin()));
        selection_.forget_history();
        show_device();
        shared_groups();
    }
}

void Session::show_device() {
    if (!has_device()) {
        return;
    }
    selected_group_ = -1;
    time_view_.set_history(trace_.get(), &device(), known_time());
    go_to_peak();
    emit grouping_changed();
}

ShownTime Session::busy_part() const { return busy_time(*trace_, device(), analysis().curves(), known_time()); }

void Session::show_busy_part() {
    const ShownTime busy = busy_part();
    time_view_.show(time_view_.position_of_time(busy.start), time_view_.position_of_time(busy.end));
}

int64_t Session::known_time() const { return std::max(trace_->duration, trace_->committed_time); }

// ---- a growing run -------------------------------------------------------------------------------------------

void Session::grow(Content content, const DeviceGroups& groups) {
    const bool at_end = selection_.state().time_point == end_point();
    // The old trace stays alive until every pane shows the new one.
    const Content before{std::exchange(trace_, std::move(content.trace)),
                         std::exchange(analyses_, std::move(content.analyses))};
    selection_.grow(*trace_);
    column_cache_ = std::make_shared<ColumnCache>();
    breakdowns_.clear();
    iterations_.clear();
    groups_.clear();
    if (groups.groups && groups.choice == group_option_ && groups.device == device().device) {
        groups_[{device_position(), group_option_}] = groups.groups;
    }
    time_view_.grow(trace_.get(), &device(), known_time());
    if (at_end && time_view_.follows_tail()) {
        selection_.set_time_point(end_point());
    }
    emit grown();
}

void Session::set_live(bool live) {
    if (live == live_) {
        return;
    }
    live_ = live;
    time_view_.set_live(live);
    if (live && has_device()) {
        time_view_.set_tail_length(0);
        selection_.set_time_point(end_point());
    }
    emit live_changed();
}

std::vector<DataGap> Session::data_gaps() const {
    std::vector<DataGap> data_gaps = trace_->data_gaps;
    if (live_) {
        std::erase_if(data_gaps, [](const DataGap& data_gap) { return data_gap.kind == DataGapKind::unclean_end; });
    }
    if (graph()) {
        const auto& of_graph = graph()->tables().data_gaps;
        data_gaps.insert(data_gaps.end(), of_graph.begin(), of_graph.end());
    }
    return data_gaps;
}

DeviceGroups Session::device_groups() const { return {device().device, group_option_, shared_groups()}; }

void Session::rename_groups() {
    groups_.clear();
    if (has_device()) {
        emit grouping_changed();
    }
}

int64_t Session::cursor_time() const {
    const TimePoint& point = selection_.state().time_point;
    return point.repeated || point.between ? time_of(device(), point)
                                           : device().time_until(point.event, trace_->duration);
}

TimePoint Session::end_point() const { return tidemark::end_point(*trace_, device(), known_time()); }

CategoryLookup Session::categories() const { return {graph(), device().device, cursor_time()}; }

void Session::take_graph(const std::shared_ptr<const Graph>& before) {
    selection_.renumber_nodes([&](NodeIndex node) {
        return before && node < before->tables().nodes.size() ? graph()->index.find(before->tables().nodes.id[node])
                                                              : no_node;
    });
    std::erase_if(groups_, [](const auto& entry) { return needs_graph(entry.first.second.by); });
    if (!group_is_chosen_ && !graph()->tables().labels.empty()) {
        group_option_ = {GroupBy::category};
        selected_group_ = -1;
    }
    if (has_device() && needs_graph(group_by())) {
        emit grouping_changed();
    }
}

void Session::go_to_peak() {
    if (has_device()) {
        selection_.set_time_point(peak_time_point(*trace_, device(), analysis().curves()));
    }
}

void Session::go_to_change(int direction) {
    const TimePoint& point = selection_.state().time_point;
    const auto next = time_view_.axis() == TimeAxis::wall_clock ? next_change(*trace_, device(), point, direction)
                                                                : next_event(*trace_, device(), point, direction);
    if (next) {
        selection_.set_time_point(*next);
    }
}

void Session::set_group_by(const GroupOption& choice) {
    group_is_chosen_ = true;
    if (choice == group_option_) {
        return;
    }
    group_option_ = choice;
    selected_group_ = -1;
    emit grouping_changed();
}

std::shared_ptr<const Groups> Session::shared_groups() const {
    auto& entry = groups_[{device_position(), group_option_}];
    if (!entry) {
        entry = make_groups(analysis(), group_option_, graph());
    }
    return entry;
}

std::shared_ptr<const LazyBreakdown> Session::shared_breakdown() const {
    auto& entry = breakdowns_[device_position()];
    if (!entry) {
        entry = std::make_shared<const LazyBreakdown>(shared_analysis());
    }
    return entry;
}

std::shared_ptr<const LazyIterations> Session::shared_iterations() const {
    auto& entry = iterations_[device_position()];
    if (!entry) {
        entry = std::make_shared<const LazyIterations>(shared_analysis());
    }
    return entry;
}

int Session::selected_group() const {
    const std::optional<StackId>& stack = selection_.state().stack;
    if (group_by() != GroupBy::stack || !stack || !has_device()) {
        return selected_group_;
    }
    const auto groups = shared_groups();
    const auto found = std::find(groups->stack.begin(), groups->stack.end(), *stack);
    return found == groups->stack.end() || *stack == 0 ? -1 : static_cast<int>(found - groups->stack.begin());
}

void Session::select_group(int group) {
    const auto groups = shared_groups();
    const StackId stack = group >= 0 && group < groups->count() ? groups->stack[static_cast<size_t>(group)] : 0;
    if (stack != 0) {
        selection_.select_stack(stack);
        return;
    }
    selection_.select_stack(std::nullopt);
    selected_group_ = group;
    emit group_selected();
}

void Session::clear_selection() {
    selection_.clear();
    if (selected_group_ >= 0) {
        selected_group_ = -1;
        emit group_selected();
    }
}

}  // namespace tidemark::gui
