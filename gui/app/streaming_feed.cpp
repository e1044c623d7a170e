// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/streaming_feed.h"

#include <QMetaObject>
#include <QThread>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "gui/model/grouping.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto shortest_period = std::chrono::milliseconds(60);  // with the writer's 100 ms: 130 ms at worst
constexpr auto frozen_period = std::chrono::milliseconds(500);
constexpr auto longest_wait_for_paint = std::chrono::seconds(1);  // a plot that is not shown paints nothing
constexpr auto rate_window = std::chrono::seconds(3);

int64_t events_of(const Trace& trace) {
    int64_t events = 0;
    for (const DeviceHistory& device : trace.devices) {
        events += device.event_count();
    }
    return events;
}

/// Estimates events per second from recent observations.
class Rate {
public:
    double add(int64_t events) {
        const auto now = Clock::now();
        seen_.push_back({now, events});
        while (seen_.size() > 2 && now - seen_[1].first > rate_window) {
            seen_.pop_front();
        }
        const double seconds = std::chrono::duration<double>(now - seen_.front().first).count();
        return seconds > 0 ? static_cast<double>(events - seen_.front().second) / seconds : 0;
    }

private:
    std::deque<std::pair<Clock::time_point, int64_t>> seen_;
};

}  // namespace

std::optional<int64_t> wall_clock_of(const Trace& trace, int64_t time) {
    return trace.start_utc_ns != 0 ? std::optional(trace.start_utc_ns + time) : std::nullopt;
}

int64_t wall_clock_now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

struct StreamingFeed::Work {
    std::shared_ptr<TraceFollower> follower;
    std::unique_ptr<QThread> thread;
    Progress progress;

    std::mutex mutex;
    std::condition_variable wake;
    bool stop = false, frozen = false, on_screen = true;
    DeviceGroups wanted;

    // Used by the worker only.
    std::shared_ptr<const Trace> newest;
    bool delivered = true;  ///< whether `newest` was delivered
    Rate rate;

    void run(StreamingFeed* feed);
    bool wait_for_next(Clock::duration time);
    void deliver(StreamingFeed* feed);
    void report_figures(StreamingFeed* feed);
};

StreamingFeed::StreamingFeed(std::shared_ptr<TraceFollower> follower, QObject* parent)
    : QObject(parent), work_(std::make_shared<Work>()) {
    work_->follower = std::move(follower);
}

StreamingFeed::~StreamingFeed() {
    {
        const std::lock_guard lock(work_->mutex);
        work_->stop = true;
        work_->progress.canceled = true;
    }
    work_->wake.notify_all();
    if (work_->thread) {
        work_->thread->wait();
    }
}

void StreamingFeed::start() {
    if (work_->thread) {
        return;
    }
    work_->thread.reset(QThread::create([this, work = work_] { work->run(this); }));
    work_->thread->start();
}

void StreamingFeed::shown(const DeviceGroups& groups) {
    {
        const std::lock_guard lock(work_->mutex);
        work_->wanted = groups;
        work_->on_screen = true;
    }
    work_->wake.notify_all();
}

void StreamingFeed::set_frozen(bool frozen) {
    {
        const std::lock_guard lock(work_->mutex);
        work_->frozen = frozen;
    }
    work_->wake.notify_all();
}

bool StreamingFeed::frozen() const {
    const std::lock_guard lock(work_->mutex);
    return work_->frozen;
}

/// Waits for the period and until the last delivery is on screen. Returns false to stop.
bool StreamingFeed::Work::wait_for_next(Clock::duration time) {
    std::unique_lock lock(mutex);
    const auto began = Clock::now();
    const bool was_frozen = frozen;
    wake.wait_for(lock, time, [&] { return stop || (was_frozen && !frozen); });
    wake.wait_until(lock, began + std::max<Clock::duration>(time, longest_wait_for_paint),
                    [&] { return stop || on_screen; });
    return !stop;
}

void StreamingFeed::Work::deliver(StreamingFeed* feed) {
    Content content{newest, Session::analyze(newest)};
    DeviceGroups groups;
    {
        const std::lock_guard lock(mutex);
        groups = wanted;
        on_screen = false;
    }
    const auto requested = std::find_if(content.analyses.begin(), content.analyses.end(),
                                        [&](const auto& a) { return a->device().device == groups.device; });
    // Only the session has the graph, so it makes the groups that need one.
    groups.groups = requested != content.analyses.end() && !needs_graph(groups.choice.by)
                        ? make_groups(**requested, groups.choice, nullptr, groups.groups.get())
                        : nullptr;
    delivered = true;
    QMetaObject::invokeMethod(
        feed, [feed, content, groups] { emit feed->grown(content, groups); }, Qt::QueuedConnection);
}

void StreamingFeed::Work::report_figures(StreamingFeed* feed) {
    LiveFigures now;
    now.events = newest ? events_of(*newest) : 0;
    now.events_per_second = rate.add(now.events);
    const auto known = [this] { return std::max(newest->committed_time, newest->duration); };
    if (const auto committed = newest ? wall_clock_of(*newest, known()) : std::nullopt) {
        now.behind = std::max<int64_t>(wall_clock_now() - *committed, 0);
    }
    QMetaObject::invokeMethod(
        feed, [feed, now] { emit feed->figures(now); }, Qt::QueuedConnection);
}

void StreamingFeed::Work::run(StreamingFeed* feed) {
    Clock::duration pause = shortest_period;
    while (wait_for_next(pause)) {
        const auto began = Clock::now();
        auto polled = follower->poll(progress);
        if (!polled) {
            if (polled.error().kind != ErrorKind::canceled) {
                QMetaObject::invokeMethod(
                    feed, [feed, error = polled.error()] { emit feed->failed(error_text(error)); },
                    Qt::QueuedConnection);
            }
            return;
        }
        if (*polled) {
            newest = *polled;
            delivered = false;
        }
        const bool over = follower->ended();
        bool is_frozen = false;
        {
            const std::lock_guard lock(mutex);
            is_frozen = frozen;
        }
        if (!delivered && (!is_frozen || over)) {
            deliver(feed);
        }
        report_figures(feed);
        if (over) {
            QMetaObject::invokeMethod(
                feed, [feed] { emit feed->ended(); }, Qt::QueuedConnection);
            return;
        }
        // Uses half of one core at most, because the recorded run needs the machine too.
        pause = is_frozen ? frozen_period : std::max<Clock::duration>(shortest_period, Clock::now() - began);
    }
}

}  // namespace tidemark::gui
