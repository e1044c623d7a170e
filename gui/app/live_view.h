// Keeps a page at the end of a run that is being recorded.
#pragma once

#include <QObject>
#include <memory>

#include "gui/app/streaming_feed.h"

namespace tidemark::gui {

class LiveStrip;
class TracePage;

/// Between a feed, the page's session and the strip: what comes is shown, and what is on screen is told to the feed.
class LiveView : public QObject {
    Q_OBJECT
public:
    /// The page shows a session of the feed's trace already.
    LiveView(TracePage& page, LiveStrip& strip, std::unique_ptr<StreamingFeed> feed);

    void set_frozen(bool frozen);
    bool frozen() const { return feed_->frozen(); }
    /// Hands the feed to another window; of no use afterwards.
    std::unique_ptr<StreamingFeed> release_feed();

signals:
    /// The timeline shows this trace.
    void painted(std::shared_ptr<const tidemark::Trace> trace);
    /// The session is another one: the first had no device yet.
    void session_replaced();
    void frozen_changed();
    void ended();
    void failed(const QString& sentence);

private:
    void take(const Content& content, const DeviceGroups& groups);
    void note_painted();
    void end();

    TracePage& page_;
    LiveStrip& strip_;
    std::unique_ptr<StreamingFeed> feed_;
    bool awaited_ = false;  ///< something was handed over and is not on screen yet
};

}  // namespace tidemark::gui
