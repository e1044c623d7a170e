// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Turns a file into a Session: opens traces, imports snapshots first. With progress and cancel.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "gui/model/session.h"
#include "storage/read/follow.h"

namespace tidemark::gui {

struct Opened {
    std::shared_ptr<Session> session;
    std::shared_ptr<TraceFollower> follower;  ///< of a growing trace, else null
    QString trace_path;                       ///< the shown trace: the file itself, or the result of its import
    QString note;  ///< a sentence for the user, such as the place of the imported trace; may be empty
};

/// Loads on the calling thread. The session belongs to the GUI thread afterwards.
Result<Opened> load_trace(const QString& path, Progress& progress);

/// The place of a snapshot's trace: beside it, or in the cache if its folder is read-only.
struct ImportPlace {
    QString path;
    bool in_cache = false;
    bool up_to_date = false;  ///< it exists and is newer than the snapshot
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
    void stop();  ///< cancels and waits for the end of the work
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

/// Returns the kinds of files that can be loaded, for a file dialog.
QStringList trace_filters();

/// Returns a phase's name for display.
QString phase_text(const QString& phase);

}  // namespace tidemark::gui
