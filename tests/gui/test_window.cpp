// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The whole window: opens a trace, every pane shows its state, errors are shown, language and theme change live.
#include <QAccessible>
#include <QDropEvent>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/app/render.h"
#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "gui/widgets/toolbar.h"
#include "gui/widgets/upright_button.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/curves.h"
#include "storage/write/trace_writer.h"
#include "synthetic_trace.h"
#include "tests/unit/run_builder.h"

using namespace tidemark;
using namespace tidemark::gui;

class TestWindow : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        Progress progress;
        trace_ = folder_.filePath(QStringLiteral("run.tide"));
        const Status written = write_trace(*gui::test::synthetic_trace(), peak_events(*gui::test::synthetic_trace()),
                                           trace_.toStdString(), IfExists::fail, progress);
        QVERIFY2(written, written ? "" : written.error().sentence.english().c_str());
    }

    void opens_a_trace_and_every_pane_shows_its_state() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        QSignalSpy shown(window, &MainWindow::trace_shown);
        window->open(trace_);
        QVERIFY(shown.wait(10000));
        Session& session = *window->page().session();
        QCOMPARE(session.selection().state().time_point.event,
                 session.analysis().curves().peak(Series::allocated).max_event);
        QVERIFY(session.analysis().curves().value(Series::allocated, session.selection().state().time_point) >
                512 << 20);
        QVERIFY2(!window->page().arrangement().shows_inspector(), "nothing is selected");
        window->page().arrangement().set_inspector(true);
        session.selection().set_time_point(33);
        const QString event = to_qstring(event_words(reader_words(), session.device(), 32));
        QTRY_VERIFY(window->page().details().shown_text().contains(event));
        const auto labels = window->findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(),
                            [&](const QLabel* l) { return l->text().contains(QStringLiteral("event 33: ")); }));
        session.selection().select_allocation(5);
        QTRY_VERIFY(window->page().allocations().picture().request.selected == 5);
        session.clear_selection();
        QVERIFY(!session.selection().state().stack);
    }

    void the_inspector_opens_with_the_first_selection() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1600, 900);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        const PageLayout& arrangement = window->page().arrangement();
        QVERIFY(!window->page().details().isVisible());
        window->page().session()->selection().select_allocation(5);
        QVERIFY(window->page().details().isVisible() && arrangement.shows_inspector());
        window->actions().find(QStringLiteral("view.details"))->trigger();
        QVERIFY(!window->page().details().isVisible());
    }

    void a_pane_takes_the_whole_stage_and_gives_it_back() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1600, 900);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY(QTest::qWaitForWindowExposed(window));
        const int before = window->page().segments().height();
        auto* tabs = window->findChild<QTabWidget*>();
        emit tabs->tabBarDoubleClicked(0);
        QVERIFY(!window->page().timeline().isVisible());
        QTRY_VERIFY(window->page().segments().height() > before + 300);
        window->actions().find(QStringLiteral("view.fill_stage"))->trigger();
        QVERIFY(window->page().timeline().isVisible());
    }

    void in_a_narrow_window_the_story_covers_the_stage() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        window->resize(1000, 760);
        QTRY_VERIFY(!window->page().why().isVisible());
        QCOMPARE(window->width(), 1000);
        const int width = window->page().timeline().width();
        QTRY_VERIFY_WITH_TIMEOUT((window->activateWindow(), window->isActiveWindow()), 60000);
        auto* drawer = window->findChild<QTabWidget*>(QStringLiteral("drawer"));
        drawer->setFocus();
        QTRY_VERIFY(drawer->isAncestorOf(QApplication::focusWidget()) || drawer->hasFocus());
        window->actions().find(QStringLiteral("view.why"))->trigger();
        QVERIFY(window->page().why().isVisible());
        QVERIFY2(window->page().why().hasFocus(), "what it covers has no focus");
        QCoreApplication::processEvents();
        QCOMPARE(window->page().timeline().width(), width);
        QVERIFY(window->page().why().width() >= 240);
        auto* strip = window->findChild<UprightButton*>();
        QVERIFY(strip && strip->isVisible() && strip->width() < 30);
        strip->click();
        QVERIFY(!window->page().why().isVisible());
        strip->click();
        QVERIFY(window->page().why().isVisible());
    }

    void a_unit_in_the_header_stays_with_its_number() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        static const QRegularExpression broken(QStringLiteral("\\d [KMGTPE]iB"));
        int headers = 0;
        for (const QLabel* label : window->page().findChildren<QLabel*>()) {
            if (label->text().contains(QLatin1String("peak "))) {
                ++headers;
                QVERIFY2(!label->text().contains(broken), qPrintable(label->text()));
            }
        }
        QVERIFY(headers > 0);
    }

    void keys_drive_the_view() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        // Repeats, because a window that closes late takes the activation away.
        QTRY_VERIFY_WITH_TIMEOUT((window->activateWindow(), window->isActiveWindow()), 60000);
        Session& session = *window->page().session();
        TimeView& view = session.time_view();
        QTest::keyClick(window, Qt::Key_W);
        QVERIFY(view.span() < view.whole_to());
        QTest::keyClick(window, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(view.span(), view.whole_to());
        const EventNumber time_point = session.selection().state().time_point.event;
        QTest::keyClick(window, Qt::Key_Period);
        QCOMPARE(session.selection().state().time_point.event, time_point + 1);
        QTest::keyClick(window, Qt::Key_Comma);
        QCOMPARE(session.selection().state().time_point.event, time_point);
        QTest::keyClick(&window->page().timeline(), Qt::Key_Right);
        QCOMPARE(session.selection().state().time_point, TimePoint(time_point + 1));
        QTest::keyClick(&window->page().timeline(), Qt::Key_Left);
        QCOMPARE(session.selection().state().time_point, TimePoint(time_point));
        QTest::keyClick(window, Qt::Key_O);
        QCOMPARE(session.selection().state().time_point.event, session.device().others.front().event);
        QTest::keyClick(window, Qt::Key_W);
        QTest::keyClick(window, Qt::Key_H);
        QCOMPARE(view.span(), view.whole_to());
    }

    void wheel_scrolls_and_zooms() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        TimeView& view = window->page().session()->time_view();
        TimelinePlot& plot = window->page().timeline();
        const QPoint middle = plot.rect().center();
        const auto turn = [&](Qt::KeyboardModifiers modifiers) {
            QWheelEvent event(middle, plot.mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, modifiers,
                              Qt::NoScrollPhase, false);
            QApplication::sendEvent(&plot, &event);
        };
        turn(Qt::ControlModifier);
        QVERIFY(view.span() < view.whole_to() * 0.9);
        const double from = view.from(), span = view.span();
        turn(Qt::NoModifier);
        QVERIFY(view.from() < from);
        QCOMPARE(view.span(), span);
        AllocationsPlot& allocations = window->page().allocations();
        const double high = allocations.yAxis->range().size();
        QWheelEvent event(middle, allocations.mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, Qt::ShiftModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&allocations, &event);
        QVERIFY(allocations.yAxis->range().size() < high);
    }

    void clicks_and_drags_select() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1600, 1000);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        Session& session = *window->page().session();
        AllocationsPlot& plot = window->page().allocations();
        QVERIFY(QTest::qWaitForWindowExposed(window));
        plot.refresh_now();
        const QPoint bottom(plot.width() / 2, plot.height() - TimePlot::bottom_margin - 1);
        QTest::mouseClick(&plot, Qt::LeftButton, {}, bottom);
        QVERIFY(session.selection().state().allocation != no_allocation);
        const QPoint start(plot.width() / 4, plot.height() / 2);
        QTest::mousePress(&plot, Qt::LeftButton, {}, start);
        QTest::mouseMove(&plot, start + QPoint(60, 0));
        QTest::mouseMove(&plot, start + QPoint(120, 0));
        QTest::mouseRelease(&plot, Qt::LeftButton, {}, start + QPoint(120, 0));
        QVERIFY(session.selection().state().range.has_value());
    }

    void middle_drag_and_space_drag_move_the_view() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        TimeView& view = window->page().session()->time_view();
        TimelinePlot& plot = window->page().timeline();
        const double quarter = view.span() / 4;
        view.show(quarter, 2 * quarter);
        const QPoint start(plot.width() / 2, plot.height() / 2);
        const auto drag = [&](Qt::MouseButton button) {
            QTest::mousePress(&plot, button, {}, start);
            QMouseEvent move(QEvent::MouseMove, start - QPoint(60, 0), plot.mapToGlobal(start - QPoint(60, 0)), button,
                             button, Qt::NoModifier);
            QApplication::sendEvent(&plot, &move);
            QTest::mouseRelease(&plot, button, {}, start - QPoint(60, 0));
        };
        drag(Qt::MiddleButton);
        QVERIFY(view.from() > quarter);
        const double after_middle = view.from();
        QTest::keyPress(&plot, Qt::Key_Space);
        drag(Qt::LeftButton);
        QTest::keyRelease(&plot, Qt::Key_Space);
        QVERIFY(view.from() > after_middle);
        QVERIFY(!window->page().session()->selection().state().range);
        view.undo();
        QCOMPARE(view.from(), after_middle);
    }

    void the_overview_brush_moves_and_resizes() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        TimeView& view = window->page().session()->time_view();
        OverviewPlot& overview = window->page().overview();
        const double whole = view.whole_to();
        const double width = overview.width() - TimePlot::left_margin - TimePlot::right_margin;
        const auto at = [&](double part) {
            return QPoint(TimePlot::left_margin + static_cast<int>(part * width), overview.height() / 2);
        };
        const auto drag = [&](double from, double to) {
            QTest::mousePress(&overview, Qt::LeftButton, {}, at(from));
            QMouseEvent move(QEvent::MouseMove, at(to), overview.mapToGlobal(at(to)), Qt::LeftButton, Qt::LeftButton,
                             Qt::NoModifier);
            QApplication::sendEvent(&overview, &move);
            QTest::mouseRelease(&overview, Qt::LeftButton, {}, at(to));
        };
        view.show(0.4 * whole, 0.6 * whole);
        drag(0.5, 0.7);
        QVERIFY(std::abs(view.from() - 0.6 * whole) < 0.02 * whole);
        QVERIFY(std::abs(view.span() - 0.2 * whole) < 0.02 * whole);
        drag(0.6, 0.3);
        QVERIFY(std::abs(view.from() - 0.3 * whole) < 0.02 * whole);
        QVERIFY(std::abs(view.to() - 0.8 * whole) < 0.02 * whole);
    }

    void a_link_beside_the_overview_shows_the_busy_part() {
        tidemark::test::RunBuilder run;
        run.segment(64 << 20);
        for (int i = 0; i < 100; ++i) {
            run.free(run.alloc(2 << 20));
        }
        run.trace.duration = int64_t{60'000'000'000};
        const auto trace = std::make_shared<const Trace>(run.trace);
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(std::make_shared<Session>(trace, Session::analyze(trace)), QStringLiteral("run.tide"));
        TimeView& view = window->page().session()->time_view();
        const double whole = view.span();
        auto* link = window->page().overview().findChild<QLabel*>(QStringLiteral("busy_link"));
        QVERIFY(link->isVisible());
        QVERIFY(link->x() >= 0 && link->geometry().right() < TimePlot::left_margin);
        QVERIFY(link->geometry().bottom() < window->page().overview().height());
        emit link->linkActivated(QString());
        QVERIFY(view.span() < 0.2 * whole);
        window->actions().find(QStringLiteral("plots.whole"))->trigger();
        QCOMPARE(view.span(), whole);
        window->actions().find(QStringLiteral("plots.busy"))->trigger();
        QVERIFY(view.span() < 0.2 * whole);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY2(!window->page().overview().findChild<QLabel*>(QStringLiteral("busy_link"))->isVisible(),
                 "the events are everywhere");
    }

    void a_narrow_status_bar_leaves_out_the_least_important_parts() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        window->page().session()->selection().set_time_point(33);
        const auto label = [&](const char* name) { return window->findChild<QLabel*>(QString::fromLatin1(name)); };
        window->resize(2400, 900);
        QTRY_VERIFY(label("status_time")->text().contains(QStringLiteral("event 33: ")));
        const QString all = label("status_memory")->text();
        for (int width = 2300; width >= 1000; width -= 100) {
            window->resize(width, 900);
            QTRY_COMPARE(window->width(), width);
            for (const char* name : {"status_time", "status_memory"}) {
                QTRY_VERIFY(label(name)->sizeHint().width() <= label(name)->width());
                QVERIFY(label(name)->toolTip().contains(QStringLiteral("event 33: ")));
            }
            QVERIFY(label("status_memory")->text().contains(QStringLiteral("reserved")));
        }
        window->resize(2400, 900);
        QTRY_COMPARE(label("status_memory")->text(), all);
    }

    void a_low_window_keeps_the_timeline() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1280, 720);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        window->page().show_pane(window->page().changes());
        QTRY_COMPARE(window->height(), 720);
        QVERIFY(window->page().timeline().height() >= 150);
        QVERIFY(window->page().timeline().height() > window->page().allocations().height());
    }

    void a_comparison_in_a_low_window_has_the_stage_until_it_ends() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1280, 800);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY(QTest::qWaitForWindowExposed(window));
        TracePage& page = window->page();
        page.compare_with(trace_);
        QTRY_VERIFY(page.changes().compares_traces());
        QVERIFY(page.arrangement().drawer_fills_stage());
        QVERIFY(!page.changes().is_low() || !page.timeline().isVisible());
        window->actions().find(QStringLiteral("compare.stop"))->trigger();
        QTRY_VERIFY(page.timeline().isVisible());
    }

    void the_graph_and_what_if_fill_the_stage_of_a_low_window() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1000, 700);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY(QTest::qWaitForWindowExposed(window));
        TracePage& page = window->page();
        PageLayout& arrangement = page.arrangement();
        for (QWidget* pane : std::initializer_list<QWidget*>{&page.graph(), &page.what_if()}) {
            page.show_pane(*pane);
            QTRY_VERIFY2(pane->height() > 400, qPrintable(QString::number(pane->height())));
        }
        page.show_pane(page.table());
        QVERIFY2(page.timeline().isVisible(), "the plots are back beside a table");

        page.show_pane(page.graph());
        arrangement.set_drawer_fills_stage(false);
        QVERIFY2(page.timeline().isVisible(), "the user wants the plots");
        arrangement.set_drawer_fills_stage(true);
        page.show_pane(page.table());
        QVERIFY2(arrangement.drawer_fills_stage(), "the user wants the drawer in each tab");
        arrangement.set_drawer_fills_stage(false);

        page.show_pane(page.graph());
        QVERIFY(arrangement.drawer_fills_stage());
        window->resize(1600, 1000);
        QTRY_VERIFY2(page.timeline().isVisible(), "there is room for both");
        page.show_pane(page.table());
        page.show_pane(page.graph());
        QVERIFY(page.timeline().isVisible());
    }

    void segments_and_rows_of_the_table_have_room_in_a_low_window() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1000, 700);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY(QTest::qWaitForWindowExposed(window));
        TracePage& page = window->page();
        SegmentCanvas& canvas = page.segments().canvas();
        QTRY_VERIFY2(canvas.viewport()->height() > 90, qPrintable(QString::number(canvas.viewport()->height())));
        page.show_pane(page.table());
        const auto* rows = page.table().findChild<QTableView*>();
        QTRY_VERIFY2(rows->viewport()->height() >= 5 * rows->rowHeight(0),
                     qPrintable(QString::number(rows->viewport()->height())));
        QVERIFY(page.timeline().isVisible());

        window->resize(1600, 1000);
        const int high = page.timeline().height();
        window->resize(1000, 700);
        window->resize(1600, 1000);
        QTRY_COMPARE(page.timeline().height(), high);
    }

    void a_window_begins_with_its_plots_even_if_the_last_one_ended_with_the_graph() {
        Application application(Settings::Storage::in_memory);
        application.settings().set(QStringLiteral("layout/tab"), 1);
        MainWindow* window = application.open_window();
        window->resize(1000, 700);
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY(QTest::qWaitForWindowExposed(window));
        QVERIFY(window->page().graph().isVisible());
        QVERIFY(window->page().timeline().isVisible());
    }

    void swapped_traces_change_places() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->resize(1280, 800);
        const std::shared_ptr<Session> first = gui::test::synthetic_session();
        window->show_session(first, QStringLiteral("first.tide"));
        TracePage& page = window->page();
        QAction* swap = window->actions().find(QStringLiteral("compare.swap"));
        QVERIFY(!swap->isEnabled());
        page.compare_with(trace_);
        QTRY_VERIFY(page.changes().compares_traces());
        const auto second = page.changes().compared().other;
        QVERIFY2(second->selection().state().time_point.event > 0, "the cursor stays at the peak");
        QVERIFY(swap->isEnabled());
        swap->trigger();
        QCOMPARE(page.session(), second.get());
        QCOMPARE(page.changes().compared().other, first);
        QTRY_VERIFY(page.arrangement().drawer_fills_stage());
        QVERIFY(window->windowTitle().contains(QStringLiteral("run.tide")));
        window->findChild<QPushButton*>(QStringLiteral("swap"))->click();
        QCOMPARE(page.session(), first.get());
    }

    void the_older_recording_is_a() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        constexpr int64_t start = 1'000'000'000;
        Trace dated = *gui::test::synthetic_trace();
        dated.start_utc_ns = start;
        const QString path = folder_.filePath(QStringLiteral("dated.tide"));
        Progress progress;
        QVERIFY(
            static_cast<bool>(write_trace(dated, peak_events(dated), path.toStdString(), IfExists::fail, progress)));
        for (const int64_t of_first : {start - 1, start + 1}) {
            auto trace = std::make_shared<Trace>(*gui::test::synthetic_trace());
            trace->start_utc_ns = of_first;
            const auto first = std::make_shared<Session>(trace, Session::analyze(trace));
            window->show_session(first, QStringLiteral("first.tide"));
            window->page().compare_with(path);
            QTRY_VERIFY(window->page().changes().compares_traces());
            const bool is_older = of_first < start;
            QTRY_COMPARE(window->page().session() == first.get(), is_older);
            QCOMPARE(window->page().changes().compared().other == first, !is_older);
            window->actions().find(QStringLiteral("compare.stop"))->trigger();
            QCOMPARE(window->page().session(), first.get());
            QVERIFY(window->windowTitle().contains(QStringLiteral("first.tide")));
            QVERIFY(!window->page().changes().compares_traces());
        }
    }

    void a_dropped_file_opens() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        QMimeData files;
        files.setUrls({QUrl::fromLocalFile(trace_)});
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window, &enter);
        QVERIFY(enter.isAccepted());
        QSignalSpy shown(window, &MainWindow::trace_shown);
        QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window, &drop);
        QVERIFY(shown.wait(10000));
    }

    void a_file_with_a_hostile_name_opens() {
        // Bytes that are not UTF-8, markup, a line break and a change of direction.
        const std::string name = "\xff<img src=x>\n\u202egpj.tide";
        const std::string path = folder_.path().toStdString() + "/" + name;
        std::filesystem::copy_file(trace_.toStdString(), path);
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        QMimeData files;
        const QByteArray encoded = QByteArray::fromStdString(path).toPercentEncoding("/");
        files.setUrls({QUrl::fromEncoded("file://" + encoded)});
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window, &enter);
        QSignalSpy shown(window, &MainWindow::trace_shown);
        QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window, &drop);
        QVERIFY(shown.wait(10000));
        const QString escaped = QStringLiteral("\\xff<img src=x>\\n\\u202egpj.tide");
        QVERIFY2(window->windowTitle().startsWith(escaped), qPrintable(window->windowTitle()));
        const QStringList recent = application.settings().recent_files();
        QCOMPARE(bytes_of_file_name(recent.value(0)), path);
        QSignalSpy again(window, &MainWindow::trace_shown);
        window->open(recent.front());
        QVERIFY(again.wait(10000));
        for (const QLabel* label : window->findChildren<QLabel*>()) {
            QVERIFY2(!label->text().contains(QStringLiteral("<img")) || label->textFormat() == Qt::PlainText,
                     qPrintable(label->text()));
        }
    }

    void plots_report_their_values() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        window->page().session()->selection().set_time_point(33);
        for (TimePlot* plot :
             std::initializer_list<TimePlot*>{&window->page().timeline(), &window->page().allocations()}) {
            const QString reported = QAccessible::queryAccessibleInterface(plot)->text(QAccessible::Description);
            QVERIFY2(reported.contains(QStringLiteral("event 33: allocated")), qPrintable(reported));
        }
    }

    void legend_names_follow_the_language() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        const std::shared_ptr<Session> session = gui::test::synthetic_session();
        window->show_session(session, QStringLiteral("synthetic.tide"));
        QCOMPARE(session->grouping().names.back(), std::string("other"));
        application.set_language(QStringLiteral("zh_CN"));
        QVERIFY(session->grouping().names.back() != "other");
        const DataGap data_gap{DataGapKind::pool_unknown, -1, 0, 4, 0, DataGapReason::pool_not_in_history, {}, {}};
        QVERIFY(data_gap_text(data_gap).contains(QStringLiteral("4 个段")));
        application.set_language(QStringLiteral("en"));
        QCOMPARE(session->grouping().names.back(), std::string("other"));
    }

    void errors_are_shown() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        for (const auto& [name, content] : {std::pair("foreign.tide", "hello"), std::pair("one.pickle", "x")}) {
            const QString path = folder_.filePath(QString::fromLatin1(name));
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(content);
            file.close();
            QSignalSpy failed(window, &MainWindow::trace_failed);
            window->open(path);
            QVERIFY(failed.wait(10000));
            QVERIFY(window->message().text().size() > 10);
        }
        QSignalSpy failed(window, &MainWindow::trace_failed);
        window->open(folder_.filePath(QStringLiteral("missing.tide")));
        QVERIFY(failed.wait(10000));
    }

    void language_changes_live() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY(application.set_language(QStringLiteral("zh_CN")));
        QCOMPARE(TracePage::tr("Segments"), QStringLiteral("段"));
        QCOMPARE(TimePlot::tr("allocated"), QStringLiteral("已分配"));
        QCOMPARE(Toolbar::tr("Fit"), QStringLiteral("适应窗口"));
        QVERIFY(application.set_language(QStringLiteral("en")));
        QCOMPARE(TracePage::tr("Segments"), QStringLiteral("Segments"));
        QVERIFY(!application.set_language(QStringLiteral("xx")));
    }

    void every_control_has_a_name() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        for (const QWidget* widget : window->findChildren<QWidget*>()) {
            const bool control = widget->focusPolicy() & Qt::TabFocus && widget->isVisible();
            const bool buddy = widget->inherits("QScrollArea") || widget->inherits("QSplitter");
            if (control && !buddy) {
                const QAccessibleInterface* access =
                    QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
                QVERIFY2(access && !access->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
            }
        }
    }

    void renders_every_view() {
        for (const char* language : {"en", "zh_CN"}) {
            for (const ThemeSetting theme : {ThemeSetting::light, ThemeSetting::dark}) {
                Application application(Settings::Storage::in_memory);
                application.set_theme(theme);
                application.set_language(QString::fromLatin1(language));
                for (const char* view : {"timeline", "allocations", "segments", "overview", "window"}) {
                    RenderRequest request;
                    request.view = QString::fromLatin1(view);
                    request.size = {1200, 800};
                    request.scale = 2;
                    request.trace = trace_;
                    request.output = folder_.filePath(QStringLiteral("picture.png"));
                    const Status drawn = render(application, request);
                    QVERIFY2(drawn, drawn ? "" : drawn.error().sentence.english().c_str());
                    QCOMPARE(QImage(request.output).size(), QSize(2400, 1600));
                }
            }
        }
    }

    void render_reports_errors() {
        Application application(Settings::Storage::in_memory);
        RenderRequest request;
        request.trace = trace_;
        request.output = folder_.filePath(QStringLiteral("x.png"));
        request.at = QStringLiteral("mark:nowhere");
        QVERIFY(!render(application, request));
        request.at = QStringLiteral("peak");
        request.view = QStringLiteral("nonsense");
        QVERIFY(!render(application, request));
        request.view = QStringLiteral("timeline");
        request.output = QStringLiteral("/nonexistent/x.png");
        QVERIFY(!render(application, request));
        request.output = folder_.filePath(QStringLiteral("x.png"));
        request.compared_trace = trace_;
        QVERIFY2(!render(application, request), "only a window compares");
        request.view = QStringLiteral("window");
        QVERIFY(render(application, request));
        request.compared_steps = std::pair(0, 1);
        QVERIFY2(!render(application, request), "two comparisons");
        QVERIFY(!parse_size(QStringLiteral("12")));
        QVERIFY(!parse_size(QStringLiteral("1x1")));
        QCOMPARE(*parse_size(QStringLiteral("640x480")), QSize(640, 480));
    }

private:
    QTemporaryDir folder_;
    QString trace_;
};

QTEST_MAIN(TestWindow)
#include "test_window.moc"
