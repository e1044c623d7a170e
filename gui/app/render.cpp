// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/render.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPainter>
#include <QTimer>
#include <algorithm>
#include <map>
#include <type_traits>

#include "gui/app/job_window.h"
#include "gui/app/main_window.h"
#include "gui/model/file_name.h"
#include "gui/model/worker_threads.h"
#include "storage/job/job.h"
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
    return usage_error("The trace has no device {device}.", with("device", index));
}

Status go_to(Session& session, const QString& at) {
    const auto time_point =
        find_time_point(session.trace(), session.device(), session.analysis().curves(), at.toStdString());
    if (!time_point) {
        return time_point.error();
    }
    session.selection().set_time_point(*time_point);
    session.time_view().reveal(*time_point);
    return {};
}

/// Waits until the panes have prepared their content in the background; at most five seconds. The event loop is the
/// outermost one: the renderer runs before QApplication::exec().
void wait_for_panes() {
    constexpr int quiet_checks = 3;
    constexpr qint64 longest_wait = 5000;  // milliseconds
    QEventLoop loop;
    QTimer timer;
    QElapsedTimer clock;
    clock.start();
    int quiet = 0;
    QObject::connect(&timer, &QTimer::timeout, &loop, [&] {
        const bool idle = worker_threads()->activeThreadCount() == 0 && picture_threads()->activeThreadCount() == 0;
        quiet = idle ? quiet + 1 : 0;
        if (quiet == quiet_checks || clock.elapsed() > longest_wait) {
            loop.quit();
        }
    });
    timer.start(20);
    loop.exec();
}

/// Waits for the explanation, which may take longer than the panes.
void wait_for_explanation(Session& session) {
    ExplanationSource& source = session.explanation_source();
    QEventLoop loop;
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, &loop, [&] {
        if (source.state() != ExplanationSource::State::working) {
            loop.quit();
        }
    });
    timer.start(20);
    loop.exec();
}

Status select_finding(StoryPane& pane, Session& session, const RenderRequest& request) {
    wait_for_explanation(session);
    if (!request.finding) {
        return {};
    }
    for (const FindingFlag& flag : finding_flags(session)) {
        if (flag.number == *request.finding) {
            pane.select_finding(flag.finding);
            return {};
        }
    }
    return usage_error("There is no finding {number}.", with("number", *request.finding));
}

/// Paints a view as it paints pictures, or as it looks on screen.
template <class View>
void paint_view(View& view, QPaintDevice& device, QSize size) {
    if constexpr (requires { view.render_to(device, size); }) {
        view.render_to(device, size);
    } else {
        QPainter painter(&device);
        if constexpr (requires { view.render_to(painter, size); }) {
            view.render_to(painter, size);
        } else {
            view.render(&painter);
        }
    }
}

/// The call tree as a treemap.
class TreemapPane : public TreePane {
public:
    TreemapPane() { set_shape(TreeShape::treemap); }
};

/// Draws a view alone, without the window around it.
template <class View>
Status draw(Application&, const std::shared_ptr<Session>& session, const RenderRequest& request) {
    View view;
    view.setAttribute(Qt::WA_DontShowOnScreen);
    view.resize(request.size);
    view.set_session(session.get());
    if constexpr (std::is_same_v<View, StoryPane>) {
        TIDEMARK_TRY(select_finding(view, *session, request));
    } else if constexpr (!std::is_base_of_v<TimePlot, View> && !std::is_same_v<View, OverviewPlot>) {
        session->load_graph();
    }
    if constexpr (std::is_same_v<View, SourcePane>) {
        session->explanation_source().request();  // the pane begins with the line of the first finding
        wait_for_explanation(*session);
    }
    view.show();
    wait_for_panes();
    return save_picture(request.output, request.size, request.scale, request.view,
                        [&](QPaintDevice& device, QSize size) { paint_view(view, device, size); });
}

/// Selects the time from the begin of the run to the cursor.
void select_run_so_far(Session& session) {
    const TimeView& view = session.time_view();
    session.selection().select_range(
        std::pair(view.whole_from(), view.position_of(session.selection().state().time_point)));
}

/// Opens the comparison that the request names, in place of the plots.
Status compare(TracePage& page, const RenderRequest& request) {
    if (request.compared_steps) {
        page.changes().compare_steps({request.compared_steps->first, request.compared_steps->second});
    } else if (!request.compared_trace.isEmpty()) {
        Progress progress;
        auto other = load_trace(request.compared_trace, progress);
        if (!other) {
            return other.error();
        }
        if (!other->session->has_device()) {
            return usage_error("The trace to compare with has no memory events of any device.");
        }
        page.changes().compare_with(other->session);
        wait_for_explanation(*other->session);  // the summary says which findings only one of them has
    } else {
        return {};
    }
    page.show_pane(page.changes());
    return {};
}

Status show_pane(TracePage& page, const QString& name) {
    const std::map<QString, QWidget*> panes{
        {QStringLiteral("segments"), &page.segments()},   {QStringLiteral("graph"), &page.graph()},
        {QStringLiteral("table"), &page.table()},         {QStringLiteral("histograms"), &page.histograms()},
        {QStringLiteral("summary"), &page.summary()},     {QStringLiteral("changes"), &page.changes()},
        {QStringLiteral("calltree"), &page.call_tree()},  {QStringLiteral("treemap"), &page.call_tree()},
        {QStringLiteral("source"), &page.source()},       {QStringLiteral("whatif"), &page.what_if()},
        {QStringLiteral("breakdown"), &page.breakdown()}, {QStringLiteral("sql"), &page.sql()},
        {QStringLiteral("notes"), &page.notes_pane()}};
    const auto pane = panes.find(name);
    if (pane == panes.end()) {
        return usage_error(
            "A window has no pane \"{pane}\"; it has segments, graph, table, histograms, summary, changes, calltree, "
            "treemap, source, whatif, breakdown, sql and notes.",
            with("pane", name.toStdString()));
    }
    if (name == QStringLiteral("treemap")) {
        page.call_tree().set_shape(TreeShape::treemap);
    }
    page.show_pane(*pane->second);
    return {};
}

Status draw_window(Application& application, const std::shared_ptr<Session>& session, const RenderRequest& request) {
    MainWindow window(application);
    window.setAttribute(Qt::WA_DontShowOnScreen);
    window.resize(request.size);
    window.show();
    window.show_session(session, request.trace);
    TracePage& page = window.page();
    wait_for_explanation(*session);  // the pane may begin with a finding
    if (!request.pane.isEmpty()) {
        TIDEMARK_TRY(show_pane(page, request.pane));
    }
    if (request.stack_by) {
        page.set_group_by({*request.stack_by});
    }
    TIDEMARK_TRY(select_finding(page.why(), *page.session(), request));
    TIDEMARK_TRY(compare(page, request));
    const bool compares = !request.compared_trace.isEmpty() || request.compared_steps;
    if (request.pane == QStringLiteral("changes") && !compares) {
        select_run_so_far(*page.session());
    } else if (request.pane == QStringLiteral("sql")) {
        page.sql().run();
    }
    wait_for_panes();
    window.refresh_now();
    wait_for_panes();
    return save_picture(request.output, request.size, request.scale, request.view, [&](QPaintDevice& device, QSize) {
        QPainter painter(&device);
        window.render(&painter);
    });
}

Status check_comparison(const RenderRequest& request) {
    const bool with_trace = !request.compared_trace.isEmpty(), of_steps = request.compared_steps.has_value();
    if (with_trace && of_steps) {
        return usage_error("A window shows one comparison: use either --compare or --steps.");
    }
    if ((with_trace || of_steps) && request.view != QStringLiteral("window")) {
        return usage_error("--compare and --steps compare in the view \"window\" only.");
    }
    return {};
}

struct View {
    const char* name;
    Status (*draw)(Application&, const std::shared_ptr<Session>&, const RenderRequest&);
};

constexpr View views[] = {{"why", draw<StoryPane>},
                          {"overview", draw<OverviewPlot>},
                          {"timeline", draw<TimelinePlot>},
                          {"allocations", draw<AllocationsPlot>},
                          {"segments", draw<SegmentMap>},
                          {"graph", draw<GraphPane>},
                          {"table", draw<AllocationTable>},
                          {"summary", draw<SummaryTable>},
                          {"calltree", draw<TreePane>},
                          {"treemap", draw<TreemapPane>},
                          {"source", draw<SourcePane>},
                          {"histograms", draw<HistogramsPane>},
                          {"breakdown", draw<BreakdownPane>},
                          {"details", draw<InspectorPane>},
                          {"window", draw_window}};

}  // namespace

std::optional<QSize> parse_size(const QString& text) {
    const QStringList parts = text.split('x');
    bool width_ok = false, height_ok = false;
    const QSize size(parts.value(0).toInt(&width_ok), parts.value(1).toInt(&height_ok));
    const auto is_valid = [](int n) { return n >= 100 && n <= 16384; };
    return parts.size() == 2 && width_ok && height_ok && is_valid(size.width()) && is_valid(size.height())
               ? std::optional(size)
               : std::nullopt;
}

QStringList view_names() {
    QStringList names;
    for (const View& view : views) {
        names << QString::fromLatin1(view.name);
    }
    return names;
}

Status render(Application& application, const std::shared_ptr<Session>& session, const RenderRequest& request) {
    const auto view = std::find_if(std::begin(views), std::end(views),
                                   [&](const View& v) { return request.view == QLatin1String(v.name); });
    if (view == std::end(views)) {
        return usage_error("There is no view \"{view}\"; use one of {views}.", with("view", request.view.toStdString()),
                           with("views", view_names().join(QStringLiteral(", ")).toStdString()));
    }
    TIDEMARK_TRY(check_comparison(request));
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
    return view->draw(application, session, request);
}

static Status render_job(const RenderRequest& request) {
    if (request.view != QStringLiteral("window")) {
        return usage_error("The folder of a job is drawn as a window only: --render window.");
    }
    Progress progress;
    auto explained = load_job(request.trace, progress);
    if (!explained) {
        return explained.error();
    }
    JobView view;
    view.setAttribute(Qt::WA_DontShowOnScreen);
    view.resize(request.size);
    view.show();
    view.show_job(*std::move(explained));
    wait_for_panes();
    return save_picture(request.output, request.size, request.scale, request.view, [&](QPaintDevice& device, QSize) {
        QPainter painter(&device);
        view.render(&painter);
    });
}

Status render(Application& application, const RenderRequest& request) {
    if (is_job(bytes_of_file_name(request.trace))) {
        return render_job(request);
    }
    Progress progress;
    auto opened = load_trace(request.trace, progress);
    if (!opened) {
        return opened.error();
    }
    return render(application, opened->session, request);
}

}  // namespace tidemark::gui
