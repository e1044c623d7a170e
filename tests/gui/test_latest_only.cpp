// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The worker of which only the newest request matters.
#include <sys/resource.h>

#include <QImage>
#include <QPainter>
#include <QScopeGuard>
#include <QSemaphore>
#include <QTest>
#include <stdexcept>

#include "gui/model/latest_only.h"

namespace tidemark::gui {

class LatestOnlyTest : public QObject {
    Q_OBJECT

private:
    /// A job that signals its start and waits for permission to end.
    struct Gate {
        QSemaphore started, may_end;
        std::atomic<int> running{0}, most_running{0};

        LatestOnly<int>::Job job(int result, bool heeds_cancel = false) {
            return [this, result, heeds_cancel](Progress& progress) -> std::shared_ptr<const int> {
                most_running = std::max<int>(most_running, ++running);
                started.release();
                may_end.acquire();
                --running;
                return heeds_cancel && progress.canceled ? nullptr : std::make_shared<const int>(result);
            };
        }
    };

    std::vector<int> delivered_;
    LatestOnly<int>::Deliver collect() {
        return [this](const std::shared_ptr<const int>& result) {
            QCOMPARE(QThread::currentThread(), thread());
            delivered_.push_back(*result);
        };
    }

private slots:
    void init() { delivered_.clear(); }

    void the_newest_request_replaces_the_waiting_one() {
        Gate gate;
        LatestOnly<int> latest(this, OnNewerRequest::finish_running, collect());
        for (int i = 1; i <= 5; ++i) {
            latest.start(gate.job(i));
        }
        gate.may_end.release(5);
        QTRY_VERIFY(!latest.busy());
        QCOMPARE(delivered_, (std::vector<int>{1, 5}));
        QCOMPARE(gate.most_running.load(), 1);
    }

    /// QPainter of Qt 6.4 waits for the threads of Qt's global pool.
    void painting_does_not_wait_for_jobs() {
        Gate gate;
        std::vector<std::unique_ptr<LatestOnly<int>>> jobs;
        const int threads = worker_threads()->maxThreadCount();
        const auto end = qScopeGuard([&] {
            gate.may_end.release(threads);
            worker_threads()->waitForDone();
        });
        for (int i = 0; i < threads; ++i) {
            jobs.push_back(std::make_unique<LatestOnly<int>>(this, OnNewerRequest::finish_running, collect()));
            jobs.back()->start(gate.job(i));
        }
        gate.started.acquire(threads);
        QCOMPARE(QThreadPool::globalInstance()->activeThreadCount(), 0);
        QImage image(2000, 2000, QImage::Format_ARGB32_Premultiplied);
        image.fill(Qt::white);
        QPainter(&image).fillRect(image.rect(), QColor(0, 0, 0, 100));
        QVERIFY(image.pixelColor(1000, 1000).red() < 255);
    }

    void the_gui_thread_runs_before_jobs() {
        const int here = getpriority(PRIO_PROCESS, 0);
        LatestOnly<int> latest(this, OnNewerRequest::finish_running, collect());
        for (int job = 0; job < 3; ++job) {  // of one thread mostly
            latest.start([](Progress&) { return std::make_shared<const int>(getpriority(PRIO_PROCESS, 0)); });
            QTRY_VERIFY(!latest.busy());
        }
        QCOMPARE(getpriority(PRIO_PROCESS, 0), here);
        QCOMPARE(delivered_, std::vector<int>(3, std::min(here + 5, 19)));
    }

    void a_newer_request_cancels_the_running_job() {
        Gate gate;
        LatestOnly<int> latest(this, OnNewerRequest::cancel_running, collect());
        latest.start(gate.job(1, true));
        gate.started.acquire();
        latest.start(gate.job(2, true));
        gate.may_end.release(2);
        QTRY_VERIFY(!latest.busy());
        QCOMPARE(delivered_, (std::vector<int>{2}));
    }

    void abandoned_jobs_deliver_nothing() {
        Gate gate;
        LatestOnly<int> latest(this, OnNewerRequest::finish_running, collect());
        latest.start(gate.job(1));
        latest.start(gate.job(2));
        latest.abandon();
        QVERIFY(!latest.busy());
        latest.start(gate.job(3));
        gate.may_end.release(3);
        QTRY_VERIFY(!latest.busy());
        QCOMPARE(delivered_, (std::vector<int>{3}));
    }

    void destruction_does_not_wait_and_delivers_nothing() {
        auto gate = std::make_unique<Gate>();
        {
            LatestOnly<int> latest(this, OnNewerRequest::finish_running, collect());
            latest.start(gate->job(1));
            gate->started.acquire();
        }
        gate->may_end.release();
        QVERIFY(worker_threads()->waitForDone(5000));
        QCoreApplication::processEvents();
        QVERIFY(delivered_.empty());
    }

    void the_owner_may_go_before_the_job_ends() {
        auto gate = std::make_unique<Gate>();
        auto owner = std::make_unique<QObject>();
        auto latest = std::make_unique<LatestOnly<int>>(owner.get(), OnNewerRequest::cancel_running, collect());
        latest->start(gate->job(1));
        gate->started.acquire();
        latest.reset();
        owner.reset();
        gate->may_end.release();
        QVERIFY(worker_threads()->waitForDone(5000));
        QCoreApplication::processEvents();
        QVERIFY(delivered_.empty());
    }

    void an_exception_ends_the_job_without_a_result() {
        LatestOnly<int> latest(this, OnNewerRequest::cancel_running, collect());
        latest.start([](Progress&) -> std::shared_ptr<const int> { throw std::runtime_error("no"); });
        QTRY_VERIFY(!latest.busy());
        latest.start([](Progress&) { return std::make_shared<const int>(7); });
        QTRY_VERIFY(!latest.busy());
        QCOMPARE(delivered_, (std::vector<int>{7}));
    }

    void progress_is_seen_from_the_owner() {
        QSemaphore reported, may_end;
        LatestOnly<int> latest(this, OnNewerRequest::cancel_running, collect());
        latest.start([&](Progress& progress) {
            progress.report("phase", 0.5);
            reported.release();
            may_end.acquire();
            return std::make_shared<const int>(1);
        });
        reported.acquire();
        QCOMPARE(latest.fraction(), 0.5);
        may_end.release();
        QTRY_COMPARE(delivered_.size(), size_t{1});
    }

    void a_delivery_may_destroy_its_worker() {
        std::unique_ptr<LatestOnly<int>> latest;
        latest = std::make_unique<LatestOnly<int>>(this, OnNewerRequest::cancel_running,
                                                   [&](const std::shared_ptr<const int>&) { latest.reset(); });
        latest->start([](Progress&) { return std::make_shared<const int>(1); });
        QTRY_VERIFY(!latest);
    }
};

}  // namespace tidemark::gui

QTEST_GUILESS_MAIN(tidemark::gui::LatestOnlyTest)
#include "test_latest_only.moc"
