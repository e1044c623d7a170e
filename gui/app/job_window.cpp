// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/job_window.h"

#include <QFileInfo>
#include <QLabel>
#include <QMenuBar>
#include <QScreen>
#include <QStackedWidget>
#include <QtConcurrent>
#include <chrono>

#include "gui/app/application.h"
#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "gui/model/worker_threads.h"

namespace tidemark::gui {

namespace {

constexpr auto live_pause = std::chrono::seconds(2);

bool is_being_recorded(const Job& job) {
    return std::any_of(job.members.begin(), job.members.end(),
                       [](const JobMember& member) { return member.is_being_recorded; });
}

}  // namespace

Result<std::shared_ptr<const ExplainedJob>> load_job(const QString& folder, Progress& progress) {
    auto job = open_job(bytes_of_file_name(folder), progress);
    if (!job) {
        return job.error();
    }
    auto explained = std::make_shared<ExplainedJob>();
    explained->job = *std::move(job);
    explained->explanation = explain_job(explained->job, reader_words());
    return std::shared_ptr<const ExplainedJob>(std::move(explained));
}

JobWindow::JobWindow(Application& application, const QString& folder)
    : application_(application), folder_(folder), view_(new JobView), message_(new QLabel), stack_(new QStackedWidget) {
    message_->setAlignment(Qt::AlignCenter);
    message_->setWordWrap(true);
    stack_->addWidget(message_);
    stack_->addWidget(view_);
    setCentralWidget(stack_);
    setWindowTitle(shown_file_name(QFileInfo(folder).fileName()) + QStringLiteral(" – Tidemark"));
    resize(QSize(1600, 1000).boundedTo(screen()->availableSize() - QSize(20, 60)));  // leaves room for the window frame
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&Read again"), QKeySequence::Refresh, this, &JobWindow::load);
    file->addAction(tr("&Close"), QKeySequence::Close, this, &QWidget::close);
    connect(view_, &JobView::open_requested, this, [this](const QString& trace) { application_.open(trace); });
    connect(&watcher_, &QFutureWatcherBase::finished, this, &JobWindow::show_loaded);
    again_.setSingleShot(true);
    connect(&again_, &QTimer::timeout, this, &JobWindow::load);
    load();
}

JobWindow::~JobWindow() {
    progress_.canceled = true;
    watcher_.waitForFinished();
}

void JobWindow::load() {
    if (watcher_.isRunning()) {
        return;
    }
    if (stack_->currentWidget() == message_) {
        message_->setText(tr("Reading the traces of %1 …").arg(shown_file_name(folder_)));
    }
    watcher_.setFuture(QtConcurrent::run(worker_threads(), [folder = folder_, this] {
        let_gui_thread_run_first();
        return load_job(folder, progress_);
    }));
}

void JobWindow::show_loaded() {
    const Loaded loaded = watcher_.result();
    if (!loaded) {
        message_->setText(error_text(loaded.error()));
        stack_->setCurrentWidget(message_);
        return;
    }
    view_->show_job(*loaded);
    stack_->setCurrentWidget(view_);
    if (is_being_recorded((*loaded)->job)) {
        again_.start(live_pause);
    }
}

}  // namespace tidemark::gui
