// What a trace holds while it is being written, made ready off the GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "gui/model/session.h"
#include "storage/read/follow.h"

namespace tidemark::gui {

/// How the recording is going.
struct LiveFigures {
    int64_t events = 0;             ///< of all devices, in the trace
    double events_per_second = 0;   ///< over the last seconds
    std::optional<int64_t> behind;  ///< ns between the wall clock and what is committed; nothing: times are unknown
};

/// Looks for what was committed about ten times a second; slower when making it ready takes longer, and never before
/// what it delivered last is on screen: nothing queues up. Lives on the GUI thread, works on one of its own.
class StreamingFeed : public QObject {
    Q_OBJECT
public:
    explicit StreamingFeed(std::shared_ptr<TraceFollower> follower, QObject* parent = nullptr);
    ~StreamingFeed() override;

    void start();  ///< once; later calls do nothing
    /// What was delivered is on screen; the next is wanted with these groups, which keep their colours.
    void shown(const DeviceGroups& groups);
    /// While frozen only figures come.
    void set_frozen(bool frozen);
    bool frozen() const;

signals:
    void grown(const tidemark::gui::Content& content, const tidemark::gui::DeviceGroups& groups);
    void figures(const tidemark::gui::LiveFigures& figures);
    /// The writer is gone; everything it wrote was delivered.
    void ended();
    void failed(const QString& sentence);

private:
    struct Work;
    std::shared_ptr<Work> work_;
};

/// A trace's time on the wall clock, ns since 1970; nothing for a trace that does not know its start.
std::optional<int64_t> wall_clock_of(const Trace& trace, int64_t time);
int64_t wall_clock_now();

}  // namespace tidemark::gui
