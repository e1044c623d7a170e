// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Makes a page follow a run while it is recorded.
#pragma once

#include <QObject>
#include <memory>

#include "gui/app/streaming_feed.h"

namespace tidemark::gui {

class LiveStrip;
class TracePage;

/// Connects a feed, the page's session and the strip: shows what the feed delivers, and reports what is on screen.
class LiveView : public QObject {
    Q_OBJECT
public:
    /// Requires that the page shows a session of the feed's trace.
    LiveView(TracePage& page, LiveStrip& strip, std::unique_ptr<StreamingFeed> feed);

    void set_frozen(bool frozen);
    bool frozen() const { return feed_->frozen(); }
    /// Returns the feed for another window; this object is unusable afterwards.
    std::unique_ptr<StreamingFeed> release_feed();

signals:
    /// The timeline shows this trace.
    void painted(std::shared_ptr<const tidemark::Trace> trace);
    /// The session was replaced, because the first had no device yet.
    void session_replaced();
    void frozen_changed();
    void ended();
    void failed(const QString& sentence);

private:
    void take(const Content& content, const DeviceGroups& groups);
    bool is_story_read() const;
    void note_painted();
    void end();

    TracePage& page_;
    LiveStrip& strip_;
    std::unique_ptr<StreamingFeed> feed_;
    bool awaited_ = false;  ///< a delivered trace is not yet on screen
};

}  // namespace tidemark::gui
