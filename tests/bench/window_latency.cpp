// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/window_latency.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTextStream>
#include <QTimer>

#include "gui/app/main_window.h"
#include "tests/bench/percentiles.h"

namespace tidemark::gui {

namespace {

/// Records, for each picture, the age of its newest event, and the age of the oldest event that the previous picture
/// lacks.
class Stopwatch {
public:
    void note(const Trace& trace) {
        const DeviceHistory& device = trace.main_device();
        const EventNumber events = device.event_count();
        if (events > shown_ && trace.start_utc_ns != 0) {
            const auto age = [&](EventNumber event) {
                const int64_t time = device.event_time[static_cast<size_t>(event)];
                return static_cast<double>(wall_clock_now() - *wall_clock_of(trace, time)) / 1e6;
            };
            newest_.push_back(age(events - 1));
            if (shown_ > 0) {
                oldest_.push_back(age(shown_));
            }
        }
        shown_ = events;
    }
    EventNumber events() const { return shown_; }
    const std::vector<double>& newest() const { return newest_; }
    const std::vector<double>& oldest() const { return oldest_; }

private:
    EventNumber shown_ = 0;
    std::vector<double> newest_, oldest_;
};

/// Measures how long the GUI thread is busy without interruption: the delay of a timer that is always due.
class GuiThreadWatch : public QObject {
public:
    GuiThreadWatch() {
        clock_.start();
        startTimer(0);
    }
    const std::vector<double>& busy() const { return busy_; }

protected:
    void timerEvent(QTimerEvent*) override {
        const double passed = static_cast<double>(clock_.nsecsElapsed()) / 1e6;
        if (passed > shortest) {
            busy_.push_back(passed);
        }
        clock_.restart();
    }

private:
    static constexpr double shortest = 2;  // shorter stretches are the event loop itself
    QElapsedTimer clock_;
    std::vector<double> busy_;
};

}  // namespace

Status measure_latency(Application& application, const QString& trace, QSize size, double seconds) {
    Progress progress;
    auto opened = load_trace(trace, progress);
    if (!opened) {
        return opened.error();
    }
    if (!opened->follower) {
        return usage_error("The trace is not being written.");
    }
    MainWindow window(application);
    window.resize(size);
    window.show();
    window.show_session(opened->session, trace);
    window.page().follow(std::make_unique<StreamingFeed>(opened->follower));
    Stopwatch stopwatch;
    QObject::connect(window.page().live(), &LiveView::painted, &window,
                     [&](const std::shared_ptr<const Trace>& painted) { stopwatch.note(*painted); });
    QEventLoop loop;
    QObject::connect(&window.page(), &TracePage::live_ended, &loop, &QEventLoop::quit);
    QTimer::singleShot(static_cast<int>(seconds * 1000), &loop, &QEventLoop::quit);
    GuiThreadWatch watch;
    loop.exec();
    QJsonObject result{{"events", stopwatch.events()},
                       {"frames", static_cast<int>(stopwatch.newest().size())},
                       {"newest_event_to_pixel", percentiles(stopwatch.newest())},
                       {"every_event_to_pixel", percentiles(stopwatch.oldest())},
                       {"gui_thread_stretches", percentiles(watch.busy())}};
    QTextStream(stdout) << QJsonDocument(result).toJson();
    return {};
}

}  // namespace tidemark::gui
