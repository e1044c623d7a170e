// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Reads a growing trace off the GUI thread and prepares it for the panes.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "gui/model/session.h"
#include "storage/read/follow.h"

namespace tidemark::gui {

/// The progress of the recording.
struct LiveFigures {
    int64_t events = 0;             ///< of all devices, in the trace
    double events_per_second = 0;   ///< over the last seconds
    std::optional<int64_t> behind;  ///< ns between the wall clock and what is committed; nothing: times are unknown
};

/// Reads new commits about ten times a second; slower if the preparation takes longer, and never before
/// the last delivery is on screen, so nothing queues up. Thread: GUI; the work runs on a thread of its own.
class StreamingFeed : public QObject {
    Q_OBJECT
public:
    explicit StreamingFeed(std::shared_ptr<TraceFollower> follower, QObject* parent = nullptr);
    ~StreamingFeed() override;

    void start();  ///< later calls do nothing
    /// Reports that the delivery is on screen and requests the next one with these groups, whose colors stay.
    void shown(const DeviceGroups& groups);
    /// While frozen it delivers figures only.
    void set_frozen(bool frozen);
    bool frozen() const;

signals:
    void grown(const tidemark::gui::Content& content, const tidemark::gui::DeviceGroups& groups);
    void figures(const tidemark::gui::LiveFigures& figures);
    /// The writer has ended; everything it wrote was delivered.
    void ended();
    void failed(const QString& sentence);

private:
    struct Work;
    std::shared_ptr<Work> work_;
};

/// Returns a trace time on the wall clock in ns since 1970; nothing if the trace has no start time.
std::optional<int64_t> wall_clock_of(const Trace& trace, int64_t time);
int64_t wall_clock_now();

}  // namespace tidemark::gui
