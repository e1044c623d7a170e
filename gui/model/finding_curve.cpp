// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/finding_curve.h"

#include <algorithm>
#include <utility>

#include "storage/explain/finding_memory.h"
#include "storage/timeline/shown_time.h"

namespace tidemark::gui {

namespace {

constexpr size_t levels_of_block = 64;

void include(FindingCurve::Column& column, const FindingCurve::Column& part) {
    column.lowest = std::min(column.lowest, part.lowest);
    column.highest = std::max(column.highest, part.highest);
}

}  // namespace

FindingCurve::FindingCurve(std::shared_ptr<const Explained> explained, int finding)
    : explained_(std::move(explained)),
      finding_(static_cast<size_t>(finding)),
      levels_(
          levels_of(explained_->context->device(), memory_over_time(explained_->context->device(), this->finding()))) {
    for (size_t i = 0; i < levels_.size(); ++i) {
        if (i % levels_of_block == 0) {
            blocks_.push_back({levels_[i].bytes, levels_[i].bytes});
        }
        include(blocks_.back(), {levels_[i].bytes, levels_[i].bytes});
    }
}

std::optional<FindingCurve> FindingCurve::of(std::shared_ptr<const Explained> explained, int finding) {
    if (!explained || !explained->context || finding < 0) {
        return std::nullopt;
    }
    FindingCurve curve(std::move(explained), finding);
    const auto component = curve.finding().component;
    // What a program requests is drawn above; a part of it is not the whole.
    const bool has_component = component && *component != ComponentKind::requested;
    return curve.is_of_component() && !has_component ? std::nullopt : std::optional(std::move(curve));
}

const Finding& FindingCurve::finding() const { return explained_->explanation.findings[finding_]; }

EventNumber FindingCurve::state_at(const Session& session, double position) const {
    const TimeView& view = session.time_view();
    const DeviceHistory& device = explained_->context->device();
    // Events have distinct numbers, but may share a time.
    if (view.axis() == TimeAxis::event_index && &explained_->context->trace() == &session.trace()) {
        return view.point_at(position).event;
    }
    return device.events_until(view.time_at(position));
}

int64_t FindingCurve::component_at(int64_t time) const {
    return explained_->context->breakdown().at_time(time).bytes_of(*finding().component);
}

int64_t FindingCurve::highest(const Session& session) const {
    constexpr int samples = 400;
    const TimeView& view = session.time_view();
    Column all;
    for (const Column& part :
         is_of_component() ? columns(session, view.whole_from(), view.whole_to(), samples) : blocks_) {
        include(all, part);
    }
    return all.highest;
}

FindingCurve::Value FindingCurve::at(const Session& session, double position) const {
    if (is_of_component()) {
        return {component_at(session.time_view().time_at(position)), std::nullopt};
    }
    const AllocationLevel level = level_at(levels_, state_at(session, position));
    return {level.bytes, level.count};
}

/// Returns the range of the levels from one state to another.
FindingCurve::Column FindingCurve::column_between(EventNumber from, EventNumber to) const {
    const int64_t begin = level_at(levels_, from).bytes;
    Column column{begin, begin};
    const auto after = [this](EventNumber at) {
        const auto found =
            std::upper_bound(levels_.begin(), levels_.end(), at,
                             [](EventNumber state, const AllocationLevel& level) { return state < level.state; });
        return static_cast<size_t>(found - levels_.begin());
    };
    const size_t end = after(to);
    for (size_t i = after(from); i < end;) {
        const bool is_block = i % levels_of_block == 0 && i + levels_of_block <= end;
        include(column, is_block ? blocks_[i / levels_of_block] : Column{levels_[i].bytes, levels_[i].bytes});
        i += is_block ? levels_of_block : 1;
    }
    return column;
}

std::vector<FindingCurve::Column> FindingCurve::columns(const Session& session, double from, double to,
                                                        int count) const {
    const auto edge = [&](double i) { return from + (to - from) * i / count; };
    return columns_of(
        count, [&](int i) { return state_at(session, edge(i)); },
        [&](double i) { return session.time_view().time_at(edge(i)); });
}

std::vector<FindingCurve::Column> FindingCurve::over_run(int count) const {
    const Trace& trace = explained_->context->trace();
    const DeviceHistory& device = explained_->context->device();
    const ShownTime run = used_time(trace, device, trace.duration);
    const auto edge = [&](double i) {
        return run.start + static_cast<int64_t>(static_cast<double>(run.end - run.start) * i / count);
    };
    return columns_of(
        count, [&](int i) { return device.events_until(edge(i)); }, edge);
}

/// Returns the columns between edges 0 to `count`, whose states and times the functions return.
std::vector<FindingCurve::Column> FindingCurve::columns_of(int count, const std::function<EventNumber(int)>& state_at,
                                                           const std::function<int64_t(double)>& time_at) const {
    std::vector<Column> columns;
    EventNumber state = is_of_component() ? 0 : state_at(0);
    for (int i = 0; i < count; ++i) {
        if (is_of_component()) {
            const int64_t bytes = component_at(time_at(i + 0.5));
            columns.push_back({bytes, bytes});
        } else {
            const EventNumber next = state_at(i + 1);
            columns.push_back(column_between(state, next));
            state = next;
        }
    }
    return columns;
}

int finding_shown(const Session& session) {
    const ExplanationSource& source = session.explanation_source();
    const auto explained = session.has_device() ? source.explained() : nullptr;
    if (!explained || explained->explanation.findings.empty()) {
        return -1;
    }
    return source.selected() >= 0                                                ? source.selected()
           : explained->explanation.findings.front().severity <= Severity::waste ? 0
                                                                                 : -1;
}

}  // namespace tidemark::gui
