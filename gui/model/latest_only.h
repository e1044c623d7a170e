// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Work off the GUI thread of which only the newest request matters.
#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QPromise>
#include <QtConcurrentRun>
#include <atomic>
#include <functional>
#include <memory>

#include "gui/model/worker_threads.h"
#include "storage/base/progress.h"

namespace tidemark::gui {

/// What a newer request does to the running job.
enum class OnNewerRequest : uint8_t {
    cancel_running,  ///< the running job should stop; if it finishes nevertheless, its result is delivered
    finish_running,  ///< the running job finishes and delivers, so results appear while requests never stop
};

/// Runs at most one job at a time. A newer request replaces the waiting one.
///
/// All members are called on the owner's thread; `deliver` runs there too, from the event loop. A null result is
/// dropped. A job must own everything it uses: destruction cancels and detaches the running job, and does not wait
/// for it. An exception ends the job without a result.
template <class T>
class LatestOnly {
public:
    using Result = std::shared_ptr<const T>;
    using Job = std::function<Result(Progress&)>;
    using Deliver = std::function<void(Result)>;

    LatestOnly(QObject* owner, OnNewerRequest policy, Deliver deliver, QThreadPool* pool = worker_threads())
        : owner_(owner), policy_(policy), deliver_(std::move(deliver)), pool_(pool) {}
    ~LatestOnly() { abandon(); }
    LatestOnly(const LatestOnly&) = delete;
    LatestOnly& operator=(const LatestOnly&) = delete;

    void start(Job job) {
        if (!running_) {
            launch(std::move(job));
            return;
        }
        if (policy_ == OnNewerRequest::cancel_running) {
            running_->progress.canceled = true;
        }
        waiting_ = std::move(job);
    }

    /// Cancels the running job, forgets the waiting one and delivers neither.
    void abandon() {
        waiting_ = nullptr;
        if (running_) {
            running_->progress.canceled = true;
            running_->wanted = false;
        }
    }

    /// Returns whether a result is still to come.
    bool busy() const { return waiting_ || (running_ && running_->wanted); }
    /// Returns what the running job reports as done, 0 to 1.
    double fraction() const { return running_ ? running_->fraction.load() : 0; }

private:
    struct Running {
        Progress progress;
        std::atomic<double> fraction{0};
        bool wanted = true;  // owner's thread only
    };

    void launch(Job job) {
        auto running = std::make_shared<Running>();
        running->progress.report = [raw = running.get()](const char*, double fraction) { raw->fraction = fraction; };
        running_ = running;
        watcher_ = std::make_unique<QFutureWatcher<Result>>();
        QObject::connect(watcher_.get(), &QFutureWatcherBase::finished, owner_, [this] { finish(); });
        watcher_->setFuture(QtConcurrent::run(pool_, [running, job = std::move(job)](QPromise<Result>& promise) {
            let_gui_thread_run_first();
            promise.addResult(job(running->progress));
        }));
    }

    void finish() {
        const std::shared_ptr<Running> running = std::exchange(running_, nullptr);
        const QFuture<Result> future = watcher_->future();
        watcher_.release()->deleteLater();  // it is sending its signal
        if (waiting_) {
            launch(std::exchange(waiting_, nullptr));
        }
        if (running->wanted && future.resultCount() > 0) {
            if (Result result = future.resultAt(0)) {
                const Deliver deliver = deliver_;  // a delivery may destroy the LatestOnly
                deliver(std::move(result));
            }
        }
    }

    QObject* owner_;
    OnNewerRequest policy_;
    Deliver deliver_;
    QThreadPool* pool_;
    std::shared_ptr<Running> running_;
    std::unique_ptr<QFutureWatcher<Result>> watcher_;  ///< of the running job
    Job waiting_;
};

}  // namespace tidemark::gui
