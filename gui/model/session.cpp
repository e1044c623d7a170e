#include "gui/model/session.h"

#include <algorithm>

#include "gui/model/column_cache.h"
#include "gui/model/grouping.h"

namespace tidemark::gui {

namespace {

/// The first state with at least this part of the peak's active bytes.
EventNumber first_with(const Analysis& analysis, double part) {
    const Curves& curves = analysis.curves();
    const auto wanted = static_cast<int64_t>(static_cast<double>(curves.peak(Series::active).max) * part);
    EventNumber low = 0, high = analysis.device().event_count();
    while (low < high) {
        const EventNumber middle = low + (high - low) / 2;
        if (curves.extremes(Series::active, 0, middle).max >= wanted) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

}  // namespace

std::vector<std::shared_ptr<const Analysis>> Session::analyse(const std::shared_ptr<const Trace>& trace) {
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
    connect(&selection_, &Selection::chosen_changed, this, [this] { chosen_group_ = -1; });
    if (has_device()) {
        const auto main = std::find_if(trace_->devices.begin(), trace_->devices.end(),
                                       [this](const DeviceHistory& d) { return &d == &trace_->main_device(); });
        selection_.choose_device(static_cast<int>(main - trace_->devices.begin()));
        selection_.forget_history();
        show_device();
        shared_groups();
    }
}

void Session::show_device() {
    if (!has_device()) {
        return;
    }
    chosen_group_ = -1;
    time_view_.set_history(&device(), trace_->duration);
    skip_silence();
    go_to_peak();
    emit grouping_changed();
}

/// Set-up often leaves a few small allocations and then seconds of silence; what follows would fill a sliver at the
/// right edge. The whole run is one undo away.
void Session::skip_silence() {
    if (time_view_.axis() != TimeAxis::wall_clock || device().event_count() == 0) {
        return;
    }
    const double end = time_view_.whole_to(), whole = end - time_view_.whole_from();
    const double busy_from = time_view_.position_of(first_with(analysis(), 0.05));
    if (busy_from > 0.7 * whole) {
        time_view_.show(busy_from - 0.05 * (end - busy_from), end);
    }
}

void Session::go_to_peak() {
    if (has_device()) {
        selection_.set_moment(analysis().curves().peak(Series::allocated).max_event);
    }
}

void Session::set_group_by(GroupBy by) {
    if (by == group_by_) {
        return;
    }
    group_by_ = by;
    chosen_group_ = -1;
    emit grouping_changed();
}

std::shared_ptr<const Groups> Session::shared_groups() const {
    auto& entry = groups_[{device_position(), group_by_}];
    if (!entry) {
        entry = make_groups(analysis(), group_by_);
    }
    return entry;
}

int Session::chosen_group() const {
    const std::optional<StackId>& stack = selection_.state().stack;
    if (group_by_ != GroupBy::stack || !stack || !has_device()) {
        return chosen_group_;
    }
    const auto groups = shared_groups();
    const auto found = std::find(groups->stack.begin(), groups->stack.end(), *stack);
    return found == groups->stack.end() || *stack == 0 ? -1 : static_cast<int>(found - groups->stack.begin());
}

void Session::choose_group(int group) {
    const auto groups = shared_groups();
    const StackId stack = group >= 0 && group < groups->count() ? groups->stack[static_cast<size_t>(group)] : 0;
    if (stack != 0) {
        selection_.choose_stack(stack);
        return;
    }
    selection_.choose_stack(std::nullopt);
    chosen_group_ = group;
    emit group_chosen();
}

void Session::clear_choice() {
    selection_.clear();
    if (chosen_group_ >= 0) {
        chosen_group_ = -1;
        emit group_chosen();
    }
}

}  // namespace tidemark::gui
