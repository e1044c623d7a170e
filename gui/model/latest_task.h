// Work off the GUI thread of which only the newest request matters.
#pragma once

#include <QFuture>
#include <QObject>
#include <QtConcurrentRun>
#include <atomic>
#include <functional>
#include <memory>

#include "storage/base/progress.h"

namespace tidemark::gui {

/// At most one piece of work runs; a newer request cancels it and replaces any that waits. Results arrive on the
/// GUI thread; a null result (cancelled work) is not delivered. Must live no longer than `context`.
template <class T>
class LatestTask {
public:
    using Answer = std::shared_ptr<const T>;
    using Work = std::function<Answer(Progress&)>;

    LatestTask(QObject* context, std::function<void(Answer)> deliver)
        : context_(context), deliver_(std::move(deliver)) {}
    ~LatestTask() { abandon(); }
    LatestTask(const LatestTask&) = delete;
    LatestTask& operator=(const LatestTask&) = delete;

    void start(Work work) {
        if (job_) {
            job_->progress.canceled = true;
            pending_ = std::move(work);
        } else {
            launch(std::move(work));
        }
    }

    /// Nothing asked for so far is wanted any more.
    void abandon() {
        pending_ = nullptr;
        if (job_) {
            job_->progress.canceled = true;
            job_->wanted = false;
        }
    }

    bool busy() const { return job_ != nullptr; }
    double fraction() const { return job_ ? job_->fraction.load() : 0; }

private:
    struct Job {
        Progress progress;
        std::atomic<double> fraction{0};
        bool wanted = true;  // GUI thread only
    };

    void launch(Work work) {
        auto job = std::make_shared<Job>();
        job->progress.report = [raw = job.get()](const char*, double fraction) { raw->fraction = fraction; };
        job_ = job;
        QtConcurrent::run([job, work = std::move(work)] {
            return work(job->progress);
        }).then(context_, [this, job](Answer answer) { finish(job, std::move(answer)); });
    }

    void finish(const std::shared_ptr<Job>& job, Answer answer) {
        job_.reset();
        if (pending_) {
            launch(std::exchange(pending_, nullptr));
        }
        if (job->wanted && answer) {
            deliver_(std::move(answer));
        }
    }

    QObject* context_;
    std::function<void(Answer)> deliver_;
    std::shared_ptr<Job> job_;
    Work pending_;
};

}  // namespace tidemark::gui
