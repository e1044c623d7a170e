// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A window with a job. Reads it in the background, and again while its processes are being recorded.
#pragma once

#include <QFutureWatcher>
#include <QMainWindow>
#include <QTimer>
#include <memory>

#include "gui/job/job_view.h"
#include "storage/base/progress.h"

class QStackedWidget;

namespace tidemark::gui {

class Application;

/// Reads and explains a job on the calling thread.
Result<std::shared_ptr<const ExplainedJob>> load_job(const QString& folder, Progress& progress);

class JobWindow : public QMainWindow {
    Q_OBJECT
public:
    JobWindow(Application& application, const QString& folder);
    ~JobWindow() override;

    JobView& view() { return *view_; }
    const QString& folder() const { return folder_; }
    bool loading() const { return watcher_.isRunning(); }

private:
    using Loaded = Result<std::shared_ptr<const ExplainedJob>>;

    void load();
    void show_loaded();

    Application& application_;
    QString folder_;
    JobView* view_;
    QLabel* message_;
    QStackedWidget* stack_;
    Progress progress_;
    QFutureWatcher<Loaded> watcher_;
    QTimer again_;
};

}  // namespace tidemark::gui
