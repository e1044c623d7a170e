// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The shared horizontal axis: the shown span, its unit, and an undo history of zooms.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "storage/timeline/columns.h"
#include "storage/timeline/shown_time.h"

namespace tidemark::gui {

class TimeView : public QObject {
    Q_OBJECT
public:
    explicit TimeView(QObject* parent = nullptr) : QObject(parent) {}

    /// Sets the limits of the axis: the whole run, or by time, from the first use of GPU memory. Resets the view and
    /// its history.
    void set_history(const Trace* trace, const DeviceHistory* device, int64_t duration);
    TimeAxis axis() const { return axis_; }
    void set_axis(TimeAxis axis);  ///< converts the shown span; clears the zoom history

    double from() const { return from_; }
    double to() const { return to_; }
    double span() const { return to_ - from_; }
    double whole_from() const { return whole_from_; }
    double whole_to() const { return whole_to_; }
    double smallest_span() const;  ///< the deepest zoom
    /// Returns the end of the recorded part; a growing run has no events beyond.
    double known_to() const;

    void show(double from, double to);    ///< clamped; one undo step unless part of a running gesture
    void zoom(double factor, double at);  ///< factor > 1 zooms in around `at` (axis units)
    void pan(double fraction);            ///< of the span; positive moves right
    void show_all();
    void reveal(const TimePoint& point);  ///< moves the span only if the point lies outside
    void begin_gesture();                 ///< a drag or wheel burst becomes one undo step
    void end_gesture();
    bool can_undo() const { return !past_.empty(); }
    bool can_redo() const { return !future_.empty(); }
    void undo();
    void redo();

    /// Takes a longer run. While the tail is followed the newest events stay in view, else the span stays. Emits
    /// nothing: receivers of Session::grown read it again.
    void grow(const Trace* trace, const DeviceHistory* device, int64_t duration);
    /// While a run is recorded, the right edge may follow its end; moving the span away from the end stops this,
    /// moving it back to the end resumes it.
    void set_live(bool live);
    bool follows_tail() const { return live_ && tail_; }
    void follow_tail(bool on);
    int64_t tail_length() const { return tail_length_; }  ///< ns before the end that are shown; 0: the whole run
    void set_tail_length(int64_t nanoseconds);            ///< follows the tail

    double position_of(const TimePoint& point) const;  ///< its place on the axis
    double position_of_time(int64_t time) const;       ///< a wall-clock time's place on the axis; its begin if earlier
    TimePoint point_at(double position) const;         ///< the point in time at a place on the axis
    /// Returns the event nearest to a place, unless it is further away than `reach`: then the place itself.
    TimePoint point_near(double position, double reach) const;
    int64_t time_at(double position) const;  ///< the wall-clock time at a place on the axis

    /// Returns the position of the pointer, shared by all plots; nothing if it is elsewhere.
    std::optional<double> pointer() const { return pointer_; }
    void set_pointer(std::optional<double> position);

signals:
    void changed();  ///< span or axis
    void history_changed();
    void pointer_moved();
    void tail_changed();

private:
    struct Span {
        double from, to;
        bool operator==(const Span&) const = default;
    };
    void set_limits();
    int64_t last_time() const;
    Span clamped(Span span) const;
    void apply(Span span, bool remember);
    Span tail_span() const;
    void notice_tail();

    const Trace* trace_ = nullptr;
    const DeviceHistory* device_ = nullptr;
    int64_t duration_ = 0;
    TimeAxis axis_ = TimeAxis::wall_clock;
    double from_ = 0, to_ = 1, whole_from_ = 0, whole_to_ = 1;
    bool in_gesture_ = false, gesture_saved_ = false;
    bool live_ = false, tail_ = false;
    int64_t tail_length_ = 0;
    std::vector<Span> past_, future_;
    std::optional<double> pointer_;
};

}  // namespace tidemark::gui
