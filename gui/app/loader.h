// From a file the user named to a Session: opens traces, imports snapshots first. With progress and cancel.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "gui/model/session.h"
#include "storage/read/follow.h"

namespace tidemark::gui {

struct Opened {
    std::shared_ptr<Session> session;
    std::shared_ptr<TraceFollower> follower;  ///< of a trace that is being written
    QString trace_path;                       ///< the trace that is shown: the file itself, or what it was imported to
    QString note;  ///< one sentence the user should know, e.g. where the imported trace lies; may be empty
};

/// Does all of it on the calling thread. The session belongs to the GUI's thread afterwards.
Result<Opened> load_trace(const QString& path, Progress& progress);

/// Where a snapshot's trace goes: beside it, or into the cache when its folder cannot be written.
struct ImportPlace {
    QString path;
    bool in_cache = false;
    bool up_to_date = false;  ///< it is there already and newer than the snapshot
};
ImportPlace import_place(const QString& snapshot);

/// Loads in the background. One file at a time; destroying it cancels.
class Loader : public QObject {
    Q_OBJECT
public:
    explicit Loader(QObject* parent = nullptr);
    ~Loader() override;
    void load(const QString& path);
    void cancel();
    void stop();  ///< cancels and returns when nothing runs any more
    bool busy() const { return job_ != nullptr; }

signals:
    void progressed(const QString& phase, double fraction);
    void opened(const tidemark::gui::Opened& opened);
    void failed(const QString& sentence);
    void canceled();

private:
    struct Job;
    std::shared_ptr<Job> job_;
};

/// A phase's name as the user reads it.
QString phase_text(const QString& phase);

}  // namespace tidemark::gui
