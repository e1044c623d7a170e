// Work off the GUI thread of which only the newest request matters.
#pragma once

#include <QFuture>
#include <QObject>
#include <QPromise>
#include <QThreadPool>
#include <QtConcurrentRun>
#include <atomic>
#include <functional>
#include <memory>

#include "storage/base/progress.h"

namespace tidemark::gui {

/// What a newer request does to the running job.
enum class OnNewerRequest : uint8_t {
    cancel_running,  ///< the running job is asked to stop; a result that it finishes all the same is delivered
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

    LatestOnly(QObject* owner, OnNewerRequest policy, Deliver deliver,
               QThreadPool* pool = QThreadPool::globalInstance())
        : state_(std::make_shared<State>(State{owner, policy, std::move(deliver), pool, nullptr, nullptr})) {}
    ~LatestOnly() {
        abandon();
        state_->deliver = nullptr;
    }
    LatestOnly(const LatestOnly&) = delete;
    LatestOnly& operator=(const LatestOnly&) = delete;

    void start(Job job) {
        if (!state_->running) {
            launch(state_, std::move(job));
            return;
        }
        if (state_->policy == OnNewerRequest::cancel_running) {
            state_->running->progress.canceled = true;
        }
        state_->waiting = std::move(job);
    }

    /// Cancels the running job, forgets the waiting one and delivers neither.
    void abandon() {
        state_->waiting = nullptr;
        if (state_->running) {
            state_->running->progress.canceled = true;
            state_->running->wanted = false;
        }
    }

    /// Returns whether a result is still to come.
    bool busy() const { return state_->waiting || (state_->running && state_->running->wanted); }
    /// Returns what the running job reports as done, 0 to 1.
    double fraction() const { return state_->running ? state_->running->fraction.load() : 0; }

private:
    struct Running {
        Progress progress;
        std::atomic<double> fraction{0};
        bool wanted = true;  // owner's thread only
    };
    /// Outlives the LatestOnly until the detached job's continuation has run.
    struct State {
        QObject* owner;
        OnNewerRequest policy;
        Deliver deliver;  ///< empty once the LatestOnly is gone
        QThreadPool* pool;
        std::shared_ptr<Running> running;
        Job waiting;
    };

    static void launch(const std::shared_ptr<State>& state, Job job) {
        auto running = std::make_shared<Running>();
        running->progress.report = [raw = running.get()](const char*, double fraction) { raw->fraction = fraction; };
        state->running = running;
        QtConcurrent::run(state->pool, [running, job = std::move(job)](QPromise<Result>& promise) {
            promise.addResult(job(running->progress));
        }).then(state->owner, [state, running](const QFuture<Result>& future) { finish(state, running, future); });
    }

    static void finish(const std::shared_ptr<State>& state, const std::shared_ptr<Running>& running,
                       const QFuture<Result>& future) {
        state->running.reset();
        if (!state->deliver) {
            return;
        }
        if (state->waiting) {
            launch(state, std::exchange(state->waiting, nullptr));
        }
        Result result;
        if (running->wanted && future.resultCount() > 0) {
            result = future.resultAt(0);
        }
        if (result) {
            const Deliver deliver = state->deliver;  // a delivery may destroy the LatestOnly
            deliver(std::move(result));
        }
    }

    std::shared_ptr<State> state_;
};

}  // namespace tidemark::gui
