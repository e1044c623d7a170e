// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/time_view.h"

#include <algorithm>
#include <cmath>

#include "storage/base/saturated.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {
constexpr size_t longest_history = 200;
constexpr double smallest_time_span = 50;  // ns: finer than any clock an allocator event carries
constexpr double smallest_part = 0x1p-37;  // of the run: below, doubles cannot tell the pixels of a plot apart
constexpr double smallest_event_span = 4;
constexpr double room_at_the_end = 0.008;   // the last event (often the OOM) is drawn inside, not on the edge
constexpr double room_for_the_next = 0.02;  // of a followed span: the next events appear inside
}  // namespace

void TimeView::set_history(const Trace* trace, const DeviceHistory* device, int64_t duration) {
    trace_ = trace;
    device_ = device;
    duration_ = duration;
    past_.clear();
    future_.clear();
    pointer_.reset();
    set_limits();
    from_ = whole_from_;
    to_ = whole_to_;
    emit changed();
    emit history_changed();
}

void TimeView::set_limits() {
    whole_from_ = 0;
    if (device_ == nullptr) {
        whole_to_ = 1;
    } else if (axis_ == TimeAxis::event_index) {
        whole_to_ = std::max<double>(device_->event_count(), smallest_event_span) * (1 + room_at_the_end);
    } else {
        const ShownTime used = used_time(*trace_, *device_, duration_);
        whole_from_ = static_cast<double>(used.start);
        const double length = std::max(static_cast<double>(used.end) - whole_from_, smallest_time_span);
        whole_to_ = whole_from_ + length * (1 + room_at_the_end);
    }
}

int64_t TimeView::last_time() const {
    return std::max(duration_, device_->event_time.empty() ? int64_t{0} : device_->event_time.back());
}

double TimeView::smallest_span() const {
    return axis_ == TimeAxis::event_index ? smallest_event_span
                                          : std::max(smallest_time_span, whole_to_ * smallest_part);
}

void TimeView::set_axis(TimeAxis axis) {
    if (axis == axis_) {
        return;
    }
    const bool whole = from_ <= whole_from_ && to_ >= whole_to_;
    const int64_t from_time = time_at(from_), to_time = time_at(to_);
    axis_ = axis;
    set_limits();
    past_.clear();
    future_.clear();
    pointer_.reset();
    const Span span =
        whole ? Span{whole_from_, whole_to_} : clamped({position_of_time(from_time), position_of_time(to_time)});
    from_ = span.from;
    to_ = span.to;
    emit changed();
    emit history_changed();
}

TimeView::Span TimeView::clamped(Span span) const {
    if (span.from > span.to) {
        std::swap(span.from, span.to);
    }
    const double whole = whole_to_ - whole_from_;
    const double length = std::clamp(span.to - span.from, std::min(smallest_span(), whole), whole);
    const double middle = (span.from + span.to) / 2;
    const double from = span.to - span.from == length ? span.from : middle - length / 2;
    const double start = std::clamp(from, whole_from_, whole_to_ - length);
    return {start, start + length};
}

void TimeView::apply(Span span, bool remember) {
    if (!std::isfinite(span.from) || !std::isfinite(span.to)) {
        return;  // the pointer was over a plot without width
    }
    span = clamped(span);
    if (span == Span{from_, to_}) {
        return;
    }
    const bool save = remember && !(in_gesture_ && gesture_saved_);
    if (save) {
        past_.push_back({from_, to_});
        if (past_.size() > longest_history) {
            past_.erase(past_.begin());
        }
        future_.clear();
        gesture_saved_ = in_gesture_;
    }
    from_ = span.from;
    to_ = span.to;
    emit changed();
    if (save) {
        emit history_changed();
    }
    notice_tail();
}

// ---- a growing run -------------------------------------------------------------------------------------------

double TimeView::known_to() const {
    if (device_ == nullptr) {
        return whole_to_;
    }
    return axis_ == TimeAxis::event_index ? device_->event_count() : static_cast<double>(last_time());
}

void TimeView::grow(const Trace* trace, const DeviceHistory* device, int64_t duration) {
    trace_ = trace;
    const bool whole = from_ <= whole_from_ && to_ >= whole_to_;
    device_ = device;
    duration_ = duration;
    set_limits();
    if (follows_tail() || whole) {
        const Span span = follows_tail() ? clamped(tail_span()) : Span{whole_from_, whole_to_};
        from_ = span.from;
        to_ = span.to;
    }
}

void TimeView::set_live(bool live) {
    live_ = live;
    tail_ = false;
    tail_length_ = 0;
    emit tail_changed();
}

TimeView::Span TimeView::tail_span() const {
    const double end = known_to(), from = position_of_time(last_time() - tail_length_);
    return tail_length_ == 0 || from <= whole_from_ ? Span{whole_from_, whole_to_}
                                                    : Span{from, end + (end - from) * room_for_the_next};
}

void TimeView::follow_tail(bool on) {
    if (!live_ || on == tail_) {
        return;
    }
    if (on) {
        apply(tail_span(), true);
    }
    tail_ = on;
    emit tail_changed();
}

void TimeView::set_tail_length(int64_t nanoseconds) {
    if (!live_) {
        return;
    }
    tail_length_ = nanoseconds;
    apply(tail_span(), true);
    tail_length_ = nanoseconds;  // a shorter run will grow to it
    tail_ = true;
    emit tail_changed();
}

/// Follows the tail if the moved span contains the end of the run.
void TimeView::notice_tail() {
    if (!live_) {
        return;
    }
    tail_ = to_ >= known_to();
    if (tail_) {
        tail_length_ = from_ <= whole_from_ ? 0 : last_time() - time_at(from_);
    }
    emit tail_changed();
}

void TimeView::show(double from, double to) { apply({from, to}, true); }

void TimeView::zoom(double factor, double at) {
    if (!(factor > 0) || !std::isfinite(factor)) {
        return;
    }
    const double shortest = std::min(smallest_span(), whole_to_ - whole_from_);
    const double length = std::clamp(span() / factor, shortest, whole_to_ - whole_from_);
    const double left = span() > 0 ? (at - from_) / span() : 0.5;
    show(at - left * length, at - left * length + length);
}

void TimeView::pan(double fraction) { show(from_ + fraction * span(), to_ + fraction * span()); }

void TimeView::show_all() { show(whole_from_, whole_to_); }

void TimeView::reveal(const TimePoint& point) {
    const double at = position_of(point);
    if (at < from_ || at > to_) {
        show(at - span() / 2, at + span() / 2);
    }
}

void TimeView::begin_gesture() {
    in_gesture_ = true;
    gesture_saved_ = false;
}

void TimeView::end_gesture() { in_gesture_ = gesture_saved_ = false; }

void TimeView::undo() {
    if (past_.empty()) {
        return;
    }
    future_.push_back({from_, to_});
    const Span span = past_.back();
    past_.pop_back();
    apply(span, false);
    emit history_changed();
}

void TimeView::redo() {
    if (future_.empty()) {
        return;
    }
    past_.push_back({from_, to_});
    const Span span = future_.back();
    future_.pop_back();
    apply(span, false);
    emit history_changed();
}

double TimeView::position_of(const TimePoint& point) const {
    if (axis_ == TimeAxis::event_index || device_ == nullptr) {
        return point.event;
    }
    return position_of_time(time_of(*device_, point));
}

double TimeView::position_of_time(int64_t time) const {
    if (axis_ == TimeAxis::wall_clock || device_ == nullptr) {
        return std::max(static_cast<double>(time), whole_from_);
    }
    return device_->events_until(time);
}

TimePoint TimeView::point_at(double position) const {
    if (device_ == nullptr) {
        return {};
    }
    if (axis_ == TimeAxis::event_index) {
        return std::clamp(saturated<EventNumber>(std::floor(position)), 0, device_->event_count());
    }
    return time_point_at(*trace_, *device_,
                         std::clamp(saturated<int64_t>(std::floor(position)), int64_t{0}, last_time()));
}

TimePoint TimeView::point_near(double position, double reach) const {
    const TimePoint point = point_at(position);
    if (!point.between) {
        return point;
    }
    const auto time_of_event = [this](EventNumber event) { return device_->time_of_state(event); };
    const int64_t before = time_of_event(point.event), after = time_of_event(point.event + 1);
    const auto distance = [&](int64_t time) { return std::abs(static_cast<double>(time) - position); };
    const int64_t nearest = distance(after) <= distance(before) ? after : before;
    return distance(nearest) <= reach ? TimePoint(device_->events_until(nearest)) : point;
}

int64_t TimeView::time_at(double position) const {
    if (axis_ == TimeAxis::wall_clock || device_ == nullptr) {
        return saturated<int64_t>(position);
    }
    return time_of(*device_, point_at(position));
}

void TimeView::set_pointer(std::optional<double> position) {
    if (position != pointer_) {
        pointer_ = position;
        emit pointer_moved();
    }
}

}  // namespace tidemark::gui
