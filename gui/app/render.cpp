#include "gui/app/render.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QPainter>
#include <QThreadPool>
#include <map>

#include "gui/app/main_window.h"
#include "storage/timeline/time_point.h"

namespace tidemark::gui {

namespace {

Status select_device(Session& session, int index) {
    const auto& devices = session.trace().devices;
    for (size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].device == index) {
            session.selection().select_device(static_cast<int>(i));
            return {};
        }
    }
    return usage_error("The trace has no device " + std::to_string(index) + ".");
}

Status go_to(Session& session, const QString& at) {
    const auto time_point = find_time_point(session.trace(), session.device(), session.analysis().curves(), at.toStdString());
    if (!time_point) {
        return time_point.error();
    }
    session.selection().set_time_point(*time_point);
    return {};
}

/// Lets panes that prepare their content in the background finish it.
void settle() {
    constexpr int quiet_iterations = 3;
    QElapsedTimer clock;
    clock.start();
    for (int quiet = 0; quiet < quiet_iterations && clock.elapsed() < 5000;) {
        const bool cached = QThreadPool::globalInstance()->waitForDone(50);
        QElapsedTimer iteration;
        iteration.start();
        while (iteration.elapsed() < 20) {
            QApplication::processEvents(QEventLoop::AllEvents, 10);
        }
        quiet = cached ? quiet + 1 : 0;
    }
}

/// Reasons may take longer to find than panes to draw.
void settle_reasons(Session& session) {
    while (session.explanation_source().state() == ExplanationSource::State::working) {
        settle();
    }
}

Status select_finding(WhyPane& pane, Session& session, const RenderRequest& request) {
    settle_reasons(session);
    if (!request.finding) {
        return {};
    }
    for (const FindingFlag& flag : finding_flags(session)) {
        if (flag.number == *request.finding) {
            pane.select_finding(flag.finding);
            return {};
        }
    }
    return usage_error("There is no finding " + std::to_string(*request.finding) + ".");
}

template <class Paint>
Status paint_alone(QWidget& widget, const RenderRequest& request, Paint paint) {
    widget.setAttribute(Qt::WA_DontShowOnScreen);
    widget.resize(request.size);
    widget.show();
    settle();
    return save_picture(request.output, request.size, request.scale, request.view, paint);
}

Status render_window(Application& application, std::shared_ptr<Session> session, const RenderRequest& request) {
    MainWindow window(application);
    window.setAttribute(Qt::WA_DontShowOnScreen);
    window.resize(request.size);
    window.show();
    window.show_session(std::move(session), request.trace);
    TracePage& page = window.page();
    const std::map<QString, QWidget*> panes{{QStringLiteral("segments"), &page.segments()},
                                            {QStringLiteral("graph"), &page.graph()},
                                            {QStringLiteral("table"), &page.table()},
                                            {QStringLiteral("summary"), &page.summary()},
                                            {QStringLiteral("breakdown"), &page.breakdown()}};
    if (const auto pane = panes.find(request.pane); pane != panes.end()) {
        page.show_pane(*pane->second);
    } else if (!request.pane.isEmpty()) {
        return usage_error("A window has no pane \"" + request.pane.toStdString() +
                           "\"; it has segments, graph, table, summary and ledger.");
    }
    if (request.stack_by) {
        page.set_group_by({*request.stack_by});
    }
    TIDEMARK_TRY(select_finding(page.why(), *page.session(), request));
    settle();
    window.refresh_now();
    settle();
    return save_picture(request.output, request.size, request.scale, request.view, [&](QPaintDevice& device, QSize) {
        QPainter painter(&device);
        window.render(&painter);
    });
}

}  // namespace

std::optional<QSize> parse_size(const QString& text) {
    const QStringList parts = text.split('x');
    bool width_ok = false, height_ok = false;
    const QSize size(parts.value(0).toInt(&width_ok), parts.value(1).toInt(&height_ok));
    const auto sane = [](int n) { return n >= 100 && n <= 16384; };
    return parts.size() == 2 && width_ok && height_ok && sane(size.width()) && sane(size.height()) ? std::optional(size)
                                                                                                   : std::nullopt;
}

Status render(Application& application, const RenderRequest& request) {
    Progress progress;
    auto opened = load_trace(request.trace, progress);
    if (!opened) {
        return opened.error();
    }
    const std::shared_ptr<Session> session = opened->session;
    if (request.device) {
        TIDEMARK_TRY(select_device(*session, *request.device));
    }
    if (session->has_device()) {
        TIDEMARK_TRY(go_to(*session, request.at));
    }
    if (session->has_device() && request.stack_by) {
        session->load_graph();
        session->set_group_by({*request.stack_by});
    }
    if (request.view == QLatin1String("why")) {
        WhyPane pane;
        pane.set_session(session.get());
        TIDEMARK_TRY(select_finding(pane, *session, request));
        return paint_alone(pane, request, [&](QPaintDevice& device, QSize size) { pane.render_to(device, size); });
    }
    if (request.view == QLatin1String("timeline")) {
        TimelinePlot plot;
        plot.set_session(session.get());
        return paint_alone(plot, request, [&](QPaintDevice& device, QSize size) { plot.render_to(device, size); });
    }
    if (request.view == QLatin1String("allocations")) {
        AllocationsPlot plot;
        plot.set_session(session.get());
        return paint_alone(plot, request, [&](QPaintDevice& device, QSize size) { plot.render_to(device, size); });
    }
    if (request.view == QLatin1String("segments")) {
        SegmentMap map;
        map.set_session(session.get());
        return paint_alone(map, request, [&](QPaintDevice& device, QSize size) {
            QPainter painter(&device);
            map.render_to(painter, size);
        });
    }
    if (request.view == QLatin1String("graph")) {
        GraphPane pane;
        pane.set_session(session.get());
        session->load_graph();
        return paint_alone(pane, request, [&](QPaintDevice& device, QSize size) { pane.render_to(device, size); });
    }
    if (request.view == QLatin1String("breakdown")) {
        BreakdownPane pane;
        pane.set_session(session.get());
        return paint_alone(pane, request, [&](QPaintDevice& device, QSize size) { pane.render_to(device, size); });
    }
    if (request.view == QLatin1String("overview")) {
        OverviewPlot plot;
        plot.set_session(session.get());
        return paint_alone(plot, request, [&](QPaintDevice& device, QSize size) {
            QPainter painter(&device);
            plot.render_to(painter, size);
        });
    }
    if (request.view == QLatin1String("window")) {
        return render_window(application, session, request);
    }
    return usage_error("There is no view \"" + request.view.toStdString() +
                       "\"; use why, timeline, allocations, segments, graph, ledger, overview or window.");
}

}  // namespace tidemark::gui
