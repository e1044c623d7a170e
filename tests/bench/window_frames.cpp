// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/window_frames.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTextStream>
#include <QThread>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>

#include "gui/app/main_window.h"
#include "gui/breakdown/breakdown_plot.h"
#include "tests/bench/percentiles.h"

namespace tidemark::gui {

namespace {

constexpr int frames = 60;

double milliseconds(const QElapsedTimer& clock) { return static_cast<double>(clock.nsecsElapsed()) / 1e6; }

/// Returns the CPU time of a frame, which does not depend on the load of the machine.
double cpu_milliseconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

using Gesture = void (*)(Session& session, int frame);

/// Zooms in to a thousandth of the run around its peak, and out again.
void zoom_frame(Session& session, int frame) {
    TimeView& view = session.time_view();
    const double peak = view.position_of(session.analysis().curves().peak(Series::allocated).max_event);
    const double depth = frame < frames / 2 ? frame : frames - frame;
    const double span = (view.whole_to() - view.whole_from()) * std::pow(1000, -depth / (frames / 2.0));
    view.show(peak - span / 2, peak + span / 2);
}

/// Pans a tenth of the run across the window.
void pan_frame(Session& session, int frame) {
    TimeView& view = session.time_view();
    const double whole = view.whole_to() - view.whole_from(), span = whole / 10;
    const double from = view.whole_from() + (whole - span) * frame / frames;
    view.show(from, from + span);
}

void whole_pan_frame(Session& session, int frame) {
    TimeView& view = session.time_view();
    const double whole = view.whole_to() - view.whole_from();
    const double from = view.whole_from() + whole * 0.1 * frame / frames;
    view.show(from, from + whole * 0.9);
}

/// Moves the cursor in equal steps through the whole run.
void scrub_frame(Session& session, int frame) {
    session.selection().set_time_point(session.device().event_count() / frames * frame);
}

QJsonObject measure(Session& session, Gesture gesture, const std::function<void()>& paint) {
    std::vector<double> times, thread_times;
    for (int frame = 0; frame < frames; ++frame) {
        QElapsedTimer clock;
        clock.start();
        const double cpu = cpu_milliseconds(CLOCK_THREAD_CPUTIME_ID);
        gesture(session, frame);
        paint();
        times.push_back(milliseconds(clock));
        thread_times.push_back(cpu_milliseconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
    }
    QJsonObject result = percentiles(std::move(times));
    result["gui_thread_cpu_p95_ms"] = percentiles(std::move(thread_times))["p95_ms"];
    return result;
}

/// Moves the cursor 60 times a second, as a mouse does, so that what workers compute arrives between moves. Measures
/// the longest time of each frame in which the GUI thread did not react.
QJsonObject measure_paced_scrub(Session& session) {
    constexpr double period = 1000.0 / 60;
    std::vector<double> times, thread_times;
    for (int frame = 0; frame < frames; ++frame) {
        const double cpu = cpu_milliseconds(CLOCK_THREAD_CPUTIME_ID);
        QElapsedTimer clock, busy;
        clock.start();
        busy.start();
        scrub_frame(session, frame);
        QApplication::processEvents();
        double longest = milliseconds(busy);
        while (milliseconds(clock) < period) {
            QThread::usleep(100);
            busy.restart();
            QApplication::processEvents();
            longest = std::max(longest, milliseconds(busy));
        }
        times.push_back(longest);
        thread_times.push_back(cpu_milliseconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
    }
    QJsonObject result = percentiles(std::move(times));
    result["gui_thread_cpu_p95_ms"] = percentiles(std::move(thread_times))["p95_ms"];
    return result;
}

template <class Plot>
QJsonObject measure_plot(Session& session, QSize size) {
    Plot plot;
    plot.setAttribute(Qt::WA_DontShowOnScreen);
    plot.resize(size);
    plot.set_session(&session);
    plot.show();
    QApplication::processEvents();
    QJsonObject result;
    plot.set_synchronous(true);
    const auto complete = [&] { plot.replot(QCustomPlot::rpImmediateRefresh); };
    result["zoom_complete"] = measure(session, zoom_frame, complete);
    result["pan_complete"] = measure(session, pan_frame, complete);
    result["pan_wide_complete"] = measure(session, whole_pan_frame, complete);
    plot.set_synchronous(false);
    QApplication::processEvents();
    const auto interactive = [&] { QApplication::processEvents(); };
    result["zoom_interactive"] = measure(session, zoom_frame, interactive);
    result["pan_interactive"] = measure(session, pan_frame, interactive);
    return result;
}

/// Processes events until the pane has no pending work.
template <class Pane>
void settle(const Pane& pane) {
    do {
        QApplication::processEvents(QEventLoop::AllEvents, 5);
    } while (pane.busy());
}

/// Measures a pane that a worker fills: how long it is incomplete after the cursor moved, and the GUI thread's frames.
/// `prepare` is called before its first picture.
template <class Pane>
QJsonObject measure_pane(Session& session, QSize size, const std::function<void(Pane&)>& prepare = {}) {
    Pane pane;
    pane.setAttribute(Qt::WA_DontShowOnScreen);
    pane.resize(size);
    QElapsedTimer clock;
    clock.start();
    pane.set_session(&session);
    pane.show();
    if (prepare) {
        prepare(pane);
    }
    settle(pane);
    pane.grab();
    QJsonObject result{{"first_picture_ms", std::round(milliseconds(clock))}};
    const auto interactive = [&] { QApplication::processEvents(); };
    result["scrub_interactive"] = measure(session, scrub_frame, interactive);
    result["zoom_interactive"] = measure(session, zoom_frame, interactive);
    result["pan_interactive"] = measure(session, pan_frame, interactive);
    session.time_view().show_all();
    settle(pane);
    result["scrub_complete"] = measure(session, scrub_frame, [&] {
        settle(pane);
        pane.repaint();
    });
    return result;
}

/// Compares the trace with itself.
Result<QJsonObject> measure_comparison(Session& session, const QString& trace, QSize size) {
    Progress progress;
    const auto other = load_trace(trace, progress);
    if (!other) {
        return other.error();
    }
    return measure_pane<ChangesPane>(session, size, [&](ChangesPane& pane) { pane.compare_with(other->session); });
}

QJsonObject measure_gestures(Session& session) {
    const auto interactive = [&] { QApplication::processEvents(); };
    QJsonObject result;
    result["zoom_interactive"] = measure(session, zoom_frame, interactive);
    result["pan_interactive"] = measure(session, pan_frame, interactive);
    session.time_view().show_all();
    result["scrub_interactive"] = measure(session, scrub_frame, interactive);
    return result;
}

/// Measures the window while the explanation is made, and afterwards, when it shows a finding's memory too.
QJsonObject measure_window(Application& application, const std::shared_ptr<Session>& session, QSize size) {
    MainWindow window(application);
    window.setAttribute(Qt::WA_DontShowOnScreen);
    window.resize(size);
    window.show();
    window.show_session(session, {});
    QApplication::processEvents();
    QJsonObject result = measure_gestures(*session);
    while (session->explanation_source().state() == ExplanationSource::State::working) {
        QApplication::processEvents(QEventLoop::AllEvents, 5);
    }
    QApplication::processEvents();
    QJsonObject explained = measure_gestures(*session);
    explained["scrub_at_60_hz"] = measure_paced_scrub(*session);
    result["explained"] = explained;
    return result;
}

QJsonObject measure_graph(Session& session, QSize size) {
    GraphPane pane;
    pane.setAttribute(Qt::WA_DontShowOnScreen);
    pane.resize(size);
    QElapsedTimer clock;
    clock.start();
    session.load_graph();
    pane.set_session(&session);
    while (session.graph_source().state() == GraphSource::State::reading) {
        QApplication::processEvents(QEventLoop::AllEvents, 5);
    }
    QJsonObject result{{"read_ms", std::round(milliseconds(clock))}};
    if (!session.graph() || !session.graph()->has_nodes()) {
        return result;
    }
    result["nodes"] = static_cast<qint64>(session.graph()->tables().nodes.size());
    clock.restart();
    pane.show();
    settle(pane);
    pane.grab();
    result["first_picture_ms"] = std::round(milliseconds(clock));
    std::vector<double> zooms, pans;
    GraphView& view = pane.view();
    for (int frame = 0; frame < frames; ++frame) {
        clock.restart();
        view.zoom_by(frame < frames / 2 ? 1.02 : 1 / 1.02);
        view.repaint();
        zooms.push_back(milliseconds(clock));
    }
    // There are no boxes if nothing is alive at the end.
    for (int frame = 0; frame < frames && view.picture() && !view.picture()->scene->boxes.empty(); ++frame) {
        const auto boxes = static_cast<int>(view.picture()->scene->boxes.size());
        clock.restart();
        view.reveal(frame * boxes / frames);
        view.repaint();
        pans.push_back(milliseconds(clock));
    }
    result["zoom"] = percentiles(std::move(zooms));
    result["pan"] = percentiles(std::move(pans));
    return result;
}

/// Opens a trace that has a device to draw.
Result<Opened> open_drawable(const QString& trace) {
    Progress progress;
    auto opened = load_trace(trace, progress);
    if (opened && !opened->session->has_device()) {
        return input_error("The trace has no device to draw.");
    }
    return opened;
}

}  // namespace

Status measure_graph(const QString& trace, QSize size) {
    const auto opened = open_drawable(trace);
    if (!opened) {
        return opened.error();
    }
    QTextStream(stdout) << QJsonDocument(measure_graph(*opened->session, size)).toJson();
    return {};
}

Status measure_frames(Application& application, const QString& trace, QSize size, const QString& only) {
    QElapsedTimer clock;
    clock.start();
    const auto opened = open_drawable(trace);
    if (!opened) {
        return opened.error();
    }
    Session& session = *opened->session;
    QJsonObject result{{"trace_events", session.device().event_count()},
                       {"width", size.width()},
                       {"height", size.height()},
                       {"open_ms", std::round(milliseconds(clock))}};
    {
        MainWindow window(application);
        window.setAttribute(Qt::WA_DontShowOnScreen);
        window.resize(size);
        window.show();
        window.show_session(opened->session, {});
        window.refresh_now();
        result["open_to_first_picture_ms"] = std::round(milliseconds(clock));
    }
    const std::pair<const char*, std::function<Result<QJsonObject>()>> parts[] = {
        {"timeline", [&] { return measure_plot<TimelinePlot>(session, size); }},
        {"allocations", [&] { return measure_plot<AllocationsPlot>(session, size); }},
        {"breakdown", [&] { return measure_plot<BreakdownPlot>(session, size); }},
        {"histograms", [&] { return measure_pane<HistogramsPane>(session, size); }},
        {"tree", [&] { return measure_pane<TreePane>(session, size); }},
        {"comparison", [&] { return measure_comparison(session, trace, size); }},
        {"graph", [&] { return measure_graph(session, size); }},
        {"window", [&] { return measure_window(application, opened->session, size); }},
    };
    for (const auto& [name, measured] : parts) {
        if (only.isEmpty() || only == QLatin1String(name)) {
            auto numbers = measured();
            if (!numbers) {
                return numbers.error();
            }
            result[QLatin1String(name)] = *numbers;
        }
    }
    QTextStream(stdout) << QJsonDocument(result).toJson();
    return {};
}

}  // namespace tidemark::gui
