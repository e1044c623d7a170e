// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Two traces, and two steps of one, on one axis: alignment, devices, points in time, keys and menus.
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QSpinBox>
#include <QTest>

#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/changes/changes_pane.h"
#include "gui/changes/comparison_plot.h"
#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/story/summary_bar.h"
#include "storage/replay/repeated_step.h"
#include "synthetic_trace.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

/// Returns a run whose annotations "step N" are also training steps.
std::shared_ptr<Session> with_steps(const test::SyntheticShape& shape, const std::vector<int>& devices = {}) {
    auto trace = std::make_shared<Trace>(*test::synthetic_trace(shape));
    for (size_t i = 0; i < static_cast<size_t>(shape.steps); ++i) {
        const Annotation& span = trace->annotations[i];
        trace->steps.push_back({static_cast<int64_t>(i), StepSource::user, span.start, span.end});
    }
    for (size_t i = 0; i < devices.size(); ++i) {
        trace->devices[i].device = devices[i];
    }
    return std::make_shared<Session>(trace, Session::analyze(trace));
}

/// Returns a run like with_steps() that began so many seconds after the epoch.
std::shared_ptr<Session> recorded_at(int64_t seconds, const test::SyntheticShape& shape) {
    auto trace = std::make_shared<Trace>(with_steps(shape)->trace());
    trace->start_utc_ns = (1'700'000'000 + seconds) * 1'000'000'000;
    return std::make_shared<Session>(trace, Session::analyze(trace));
}

const QLabel* label(const QWidget& parent, const char* accessible_name) {
    for (const auto* each : parent.findChildren<QLabel*>()) {
        if (each->accessibleName() == QLatin1String(accessible_name)) {
            return each;
        }
    }
    return nullptr;
}

int64_t active(const Session& session, const TimePoint& point) {
    return session.analysis().curves().value(Series::active, point);
}

/// Returns the point in the middle of a step.
TimePoint within_step(const Session& session, size_t step) {
    const Step& found = session.trace().steps[step];
    return time_point_at(session.trace(), session.device(), (found.start + *found.end) / 2);
}

struct ShownPane {
    explicit ShownPane(const std::shared_ptr<Session>& of) : session(of) {
        pane.resize(1000, 300);
        pane.set_session(of.get());
        pane.show();
    }
    const ComparedRuns& runs() { return *pane.plot().runs(); }
    template <class Control>
    Control* control(const char* name) {
        for (auto* each : pane.findChildren<Control*>()) {
            if (each->accessibleName() == QLatin1String(name)) {
                return each;
            }
        }
        return nullptr;
    }
    int64_t sum(Amounts ChangedGroup::*side) {
        int64_t bytes = 0;
        for (int row = 0; row < pane.model().rowCount(); ++row) {
            bytes += (pane.model().group_at(row).*side).bytes;
        }
        return bytes;
    }
    void select_points(PointsToCompare points) {
        auto* box = control<QComboBox>("Points in time to compare");
        box->setCurrentIndex(static_cast<int>(points));
        emit box->activated(box->currentIndex());
    }

    std::shared_ptr<Session> session;
    ChangesPane pane;
};

}  // namespace

class TestComparison : public QObject {
    Q_OBJECT
private slots:
    void a_step_of_b_is_compared_with_the_same_step_of_a() {
        // Spikes make step 7 of A and step 2 of B longer than the others.
        const auto a = with_steps({}), b = with_steps({.leaked_per_step = 3, .spike_step = 2});
        ShownPane shown(a);
        const TimePoint cursor = within_step(*a, 12);
        a->selection().set_time_point(cursor);
        shown.pane.compare_with(b);
        QTRY_VERIFY(shown.pane.model().rowCount() > 0);
        QCOMPARE(shown.runs().unit, AxisUnit::steps);
        QCOMPARE(shown.sum(&ChangedGroup::begin), shown.runs().a.peak_bytes());
        QCOMPARE(shown.sum(&ChangedGroup::end), shown.runs().b.peak_bytes());
        shown.select_points(PointsToCompare::cursor);
        QTRY_COMPARE(shown.sum(&ChangedGroup::begin), active(*a, cursor));
        QCOMPARE(shown.pane.mode(), ComparedPoints::traces);
        const TimePoint same = within_step(*b, 12);
        QVERIFY(shown.session->time_view().position_of(cursor) != shown.session->time_view().position_of(same));
        QCOMPARE(shown.sum(&ChangedGroup::end), active(*b, same));
        QCOMPARE(shown.pane.summary().count(change_text(active(*b, same) - active(*a, cursor))), 1);
        QVERIFY(shown.runs().a.name().contains(QStringLiteral("synthetic.tide, device 0")));
        a->selection().set_time_point(within_step(*a, 3));
        QTRY_COMPARE(shown.sum(&ChangedGroup::end), active(*b, within_step(*b, 3)));
        shown.select_points(PointsToCompare::ends);
        QTRY_COMPARE(shown.sum(&ChangedGroup::end), active(*b, b->device().event_count()));
        QCOMPARE(shown.sum(&ChangedGroup::begin), active(*a, a->device().event_count()));
        shown.pane.stop_comparing();
        QTRY_COMPARE(shown.pane.model().rowCount(), 0);
        QVERIFY(shown.pane.plot().isHidden());
    }

    void the_plot_has_room_for_a_longer_run_and_follows_the_zoom() {
        const auto a = with_steps({.steps = 10}), b = with_steps({.steps = 30});
        ShownPane shown(a);
        shown.pane.compare_with(b);
        QTRY_VERIFY(shown.pane.plot().runs() != nullptr);
        ComparisonPlot& plot = shown.pane.plot();
        QVERIFY(plot.isVisible());
        QVERIFY(plot.span().second >= 30);
        const Step& step = a->trace().steps[4];
        a->time_view().show(static_cast<double>(step.start), static_cast<double>(*step.end));
        QVERIFY(std::abs(plot.span().first - 4) < 1e-6 && std::abs(plot.span().second - 5) < 1e-6);
        a->time_view().show_all();
        plot.go_to(4.5);
        QCOMPARE(a->selection().state().time_point, within_step(*a, 4));
        QTest::mouseClick(&plot, Qt::LeftButton, {}, QPoint(static_cast<int>(plot.pixel_of(7.5)), 60));
        const auto place = shown.runs().a.place_of(a->selection().state().time_point);
        QVERIFY(place && std::abs(*place - 7.5) < 0.1);
        QTest::keyClick(&plot, Qt::Key_Home);
        QVERIFY(a->selection().state().time_point.event <= 1);
        QVERIFY(plot.accessibleDescription().contains(QStringLiteral("At the cursor")));
    }

    void the_picture_shows_where_b_has_more() {
        const auto a = with_steps({.spike_step = -1}), b = with_steps({.leaked_per_step = 4, .spike_step = -1});
        ShownPane same(a), more(a);
        same.pane.compare_with(with_steps({.spike_step = -1}));
        more.pane.compare_with(b);
        QTRY_VERIFY(same.pane.plot().runs() != nullptr && more.pane.plot().runs() != nullptr);
        const auto reddish = [](ComparisonPlot& plot) {
            const QImage image = plot.grab().toImage();
            int pixels = 0;
            for (int y = image.height() / 6; y < image.height() - 40; ++y) {
                for (int x = image.width() / 2; x < image.width(); ++x) {
                    const QColor color = image.pixelColor(x, y);
                    pixels += color.red() > color.green() + 30 && color.red() > color.blue() + 60;
                }
            }
            return pixels;
        };
        QVERIFY(reddish(more.pane.plot()) > 2000);
        QVERIFY(reddish(same.pane.plot()) < reddish(more.pane.plot()) / 3);
    }

    void without_steps_the_time_since_the_first_event_counts() {
        const auto a = with_steps({}), b = test::synthetic_session();
        ShownPane shown(a);
        shown.pane.compare_with(b);
        QTRY_VERIFY(shown.pane.plot().runs() != nullptr);
        QCOMPARE(shown.runs().unit, AxisUnit::time);
        QCOMPARE(shown.runs().shared_steps, SharedSteps::none_in_b);
        a->selection().set_time_point(100);
        QTRY_COMPARE(shown.sum(&ChangedGroup::end), active(*b, 100));
    }

    void what_cannot_be_compared_is_said() {
        const auto a = with_steps({.steps = 20}), b = with_steps({.steps = 5, .oom = false});
        ShownPane shown(a);
        shown.pane.compare_with(b);
        a->selection().set_time_point(within_step(*a, 12));
        QTRY_VERIFY(shown.pane.note().contains(QStringLiteral("B has nothing at the place of the cursor")));
        QVERIFY(shown.pane.plot().isVisible());
        shown.select_points(PointsToCompare::peaks);
        QTRY_VERIFY(shown.pane.model().rowCount() > 0);
        QVERIFY(shown.pane.note().isEmpty());
        auto timeless = std::make_shared<Trace>(*test::synthetic_trace());
        timeless->data_gaps.push_back({DataGapKind::unclean_end, 0, 0, 0, 0, DataGapReason::no_times, {}, {}});
        shown.pane.compare_with(std::make_shared<Session>(timeless, Session::analyze(timeless)));
        shown.select_points(PointsToCompare::cursor);
        QTRY_VERIFY(shown.pane.note().contains(QStringLiteral("no common axis")));
        QVERIFY(shown.pane.plot().isHidden());
    }

    void the_device_of_the_same_number_is_compared() {
        const auto a = with_steps({.devices = 2}, {0, 1});
        const auto b = with_steps({.leaked_per_step = 2, .devices = 2}, {1, 4});
        ShownPane shown(a);
        a->selection().select_device(1);
        shown.pane.compare_with(b);
        QTRY_VERIFY(shown.pane.plot().runs() != nullptr);
        QCOMPARE(b->device().device, 1);
        QVERIFY(shown.runs().b.name().endsWith(QStringLiteral("device 1")));
        a->selection().select_device(0);
        QTRY_VERIFY(shown.pane.note().contains(QStringLiteral("B has no device 0")));
        QCOMPARE(shown.pane.model().rowCount(), 0);
        auto* box = shown.control<QComboBox>("Device of the other trace");
        QVERIFY(box->isVisible());
        QCOMPARE(box->currentIndex(), -1);
        box->setCurrentIndex(1);
        emit box->activated(1);
        QTRY_VERIFY(shown.pane.model().rowCount() > 0);
        QVERIFY(shown.runs().b.name().endsWith(QStringLiteral("device 4")));
        shown.pane.compare_with(with_steps({}, {6}));
        QTRY_VERIFY(shown.pane.plot().runs() != nullptr && shown.runs().b.name().endsWith(QStringLiteral("device 6")));
        QVERIFY2(!box->isVisible(), "it has only one");
    }

    void two_steps_are_compared_since_each_begins() {
        const auto session = with_steps({});
        ShownPane shown(session);
        shown.pane.compare_step(within_step(*session, 5), OtherStep::previous);
        QTRY_VERIFY(shown.pane.model().rowCount() > 0);
        QCOMPARE(shown.pane.mode(), ComparedPoints::steps);
        QCOMPARE(shown.runs().a.name(), QStringLiteral("step 4"));
        QCOMPARE(shown.runs().b.name(), QStringLiteral("step 5"));
        QCOMPARE(shown.runs().first(), 0.0);
        const int64_t leaked = (8 << 20) / 8;
        QCOMPARE(shown.runs().b.peak_bytes() - shown.runs().a.peak_bytes(), leaked);
        shown.select_points(PointsToCompare::ends);
        QTRY_COMPARE(shown.sum(&ChangedGroup::made), leaked);
        QCOMPARE(shown.sum(&ChangedGroup::freed), 0);
        QCOMPARE(shown.sum(&ChangedGroup::end) - shown.sum(&ChangedGroup::begin), leaked);
        shown.pane.compare_step(within_step(*session, 5), OtherStep::largest);
        QTRY_COMPARE(shown.runs().b.name(), QStringLiteral("step 7"));
        auto* box = shown.control<QSpinBox>("Step B");
        QCOMPARE(box->value(), 7);
        box->setValue(15);
        QTRY_COMPARE(shown.runs().b.name(), QStringLiteral("step 15"));
        QCOMPARE(shown.runs().a.name(), QStringLiteral("step 5"));
    }

    void the_cursor_of_two_steps_is_in_either() {
        const auto session = with_steps({});
        ShownPane shown(session);
        const TimePoint cursor = within_step(*session, 5);
        shown.pane.compare_step(cursor, OtherStep::previous);
        session->selection().set_time_point(cursor);
        QTRY_COMPARE(shown.sum(&ChangedGroup::end), active(*session, cursor));
        QCOMPARE(shown.sum(&ChangedGroup::begin), active(*session, within_step(*session, 4)));
        session->selection().set_time_point(within_step(*session, 9));
        QTRY_VERIFY(shown.pane.note().contains(QStringLiteral("in neither step")));
        shown.pane.plot().go_to(3000);
        QTRY_VERIFY(shown.pane.model().rowCount() > 0);
        QCOMPARE(time_of(session->device(), session->selection().state().time_point),
                 session->trace().steps[4].start + 3000);
    }

    void a_missing_step_is_said() {
        const auto session = with_steps({});
        ShownPane shown(session);
        shown.pane.compare_step(within_step(*session, 0), OtherStep::previous);
        QTRY_VERIFY(shown.pane.note().contains(QStringLiteral("no such step")));
        const auto none = test::synthetic_session({.steps = 1});
        ShownPane of_one(none);
        of_one.pane.compare_step(5, OtherStep::next);
        QTRY_VERIFY(of_one.pane.note().contains(QStringLiteral("nothing else repeats")));
    }

    void menus_keys_and_the_palette_compare() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        const auto session = with_steps({});
        window->show_session(session, QStringLiteral("synthetic.tide"));
        ChangesPane& pane = window->page().changes();
        const auto run = [&](const char* id) { window->actions().find(QString::fromLatin1(id))->trigger(); };
        session->selection().set_time_point(within_step(*session, 5));
        QVERIFY(!window->actions().find(QStringLiteral("compare.stop"))->isEnabled());
        run("compare.next_step");
        QTRY_VERIFY(pane.isVisible() && pane.plot().runs() != nullptr);
        QCOMPARE(pane.plot().runs()->b.name(), QStringLiteral("step 6"));
        QVERIFY(window->actions().find(QStringLiteral("compare.stop"))->isEnabled());
        run("compare.stop");
        QCOMPARE(pane.mode(), ComparedPoints::range);
        const int x = window->page().timeline().width() / 2;
        QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(x, 12), window->pos());
        QApplication::sendEvent(&window->page().timeline(), &event);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu != nullptr);
        menu->actions().at(0)->trigger();
        menu->close();
        QTRY_VERIFY(pane.plot().runs() != nullptr);
        QVERIFY(pane.plot().runs()->of_steps);
        window->page().compare_with(QStringLiteral("/nonexistent/run.tide"));
        QTRY_VERIFY(window->findChild<QMessageBox*>() != nullptr);
        QCOMPARE(pane.mode(), ComparedPoints::steps);
        window->findChild<QMessageBox*>()->close();
    }

    void a_change_of_language_keeps_the_comparison() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        const auto session = with_steps({});
        window->show_session(session, QStringLiteral("synthetic.tide"));
        const auto shown = [&]() -> ChangesPane& {
            for (QWidget* widget : QApplication::topLevelWidgets()) {
                auto* candidate = qobject_cast<MainWindow*>(widget);
                if (candidate != nullptr && candidate->page().session() != nullptr) {
                    window = candidate;
                }
            }
            return window->page().changes();
        };
        shown().compare_with(with_steps({.leaked_per_step = 3}));
        application.set_language(QStringLiteral("zh_CN"));
        QCOMPARE(shown().mode(), ComparedPoints::traces);
        shown().compare_steps({3, 5});
        application.set_language(QStringLiteral("en"));
        QCOMPARE(shown().mode(), ComparedPoints::steps);
        window->page().show_pane(shown());
        QTRY_VERIFY(shown().plot().runs() != nullptr);
        QCOMPARE(shown().plot().runs()->b.name(), QStringLiteral("step 5"));
    }

    void the_summary_and_the_header_say_how_two_traces_differ() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        const auto a = recorded_at(1, {}), b = recorded_at(2, {.leaked_per_step = 3});
        window->show_session(a, QStringLiteral("synthetic.tide"));
        TracePage& page = window->page();
        const auto* header = label(page, "Summary of the trace");
        QTRY_VERIFY(page.summary_bar().plain_text().contains(QStringLiteral("Memory grows")));
        page.changes().compare_with(b);
        QVERIFY(header->text().contains(QStringLiteral("synthetic.tide (20")));
        QVERIFY(header->text().contains(QStringLiteral("the older recording")));
        const auto says = [&](const char* words) {
            return page.summary_bar().plain_text().contains(QString::fromLatin1(words));
        };
        QTRY_VERIFY(says("more than A, each at its peak"));
        QVERIFY(says("The largest difference, +"));
        QTRY_VERIFY2(says("Only B has: Memory from train.py:20"), qPrintable(page.summary_bar().plain_text()));
        QVERIFY(!says("Memory grows"));
        page.changes().stop_comparing();
        QTRY_VERIFY(says("Memory grows"));
        QVERIFY(!header->text().contains(QStringLiteral("the older recording")));
    }

    void a_finding_of_one_trace_only_is_named() {
        const auto a = with_steps({}), b = with_steps({.leaked_per_step = 0, .oom = false});
        SummaryBar bar;
        bar.set_session(a.get());
        a->explanation_source().request();
        bar.compare_with(b);
        QTRY_VERIFY(bar.plain_text().contains(QStringLiteral("Only A has: ")));
        QVERIFY(bar.plain_text().contains(QStringLiteral("less than A")));
        bar.compare_with(with_steps({}));
        QTRY_VERIFY(bar.plain_text().contains(QStringLiteral("Both have: ")));
    }

    void a_row_of_two_traces_selects_its_memory_and_shows_its_source() {
        const auto a = with_steps({}), b = with_steps({.leaked_per_step = 3});
        ShownPane shown(a);
        auto* by = shown.control<QComboBox>("Group by");
        by->setCurrentIndex(place_of({GroupBy::line, 0}));
        emit by->activated(by->currentIndex());
        shown.pane.compare_with(b);
        QTRY_VERIFY(shown.pane.model().rowCount() > 0);
        const ChangedGroup group = shown.pane.model().group_at(0);
        shown.pane.select_table_row(0);
        for (const auto& [session, amounts] : {std::pair(a, group.begin), std::pair(b, group.end)}) {
            QVERIFY(session->selection().state().memory != nullptr);
            QCOMPARE(static_cast<int64_t>(session->selection().state().memory->size()), amounts.count);
        }
        QVERIFY(shown.pane.row_source().contains(to_qstring(group.name)));
        const QString tip = shown.pane.model().index(0, ChangesModel::begin).data(Qt::ToolTipRole).toString();
        QVERIFY(tip.contains(exact_bytes_text(static_cast<uint64_t>(group.begin.bytes))));
        QTest::qWait(100);
        QVERIFY2(!shown.pane.row_source().isEmpty(), "the selection does not fill the table again");
    }

    void a_swap_keeps_the_grouping() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(with_steps({}), QStringLiteral("synthetic.tide"));
        ChangesPane& pane = window->page().changes();
        pane.compare_with(with_steps({.leaked_per_step = 3}));
        window->page().show_pane(pane);
        auto* by = pane.findChild<QComboBox*>();
        QCOMPARE(by->accessibleName(), QStringLiteral("Group by"));
        const int line = place_of({GroupBy::line, 0});
        by->setCurrentIndex(line);
        emit by->activated(line);
        window->actions().find(QStringLiteral("compare.swap"))->trigger();
        QTest::qWait(100);
        QCOMPARE(pane.mode(), ComparedPoints::traces);
        QCOMPARE(by->currentIndex(), line);
        window->page().session()->set_group_by({GroupBy::file, 0});
        QCOMPARE(by->currentIndex(), line);
    }

    void the_wheel_does_what_the_menu_says() {
        const auto session = with_steps({});
        ShownPane shown(session);
        shown.pane.compare_with(with_steps({}));
        QTRY_VERIFY(shown.pane.plot().runs() != nullptr);
        ComparisonPlot& plot = shown.pane.plot();
        TimeView& view = session->time_view();
        const auto turn = [&](Qt::KeyboardModifiers modifiers) {
            const QPoint middle = plot.rect().center();
            QWheelEvent event(middle, plot.mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, modifiers,
                              Qt::NoScrollPhase, false);
            QApplication::sendEvent(&plot, &event);
            return view.span();
        };
        const double whole = view.span();
        QCOMPARE(turn(Qt::NoModifier), whole);
        QVERIFY(turn(Qt::ControlModifier) < whole);
        plot.set_wheel_mode(WheelMode::zooms);
        const double zoomed = view.span();
        QVERIFY(turn(Qt::NoModifier) < zoomed);
    }

    void a_closed_trace_ends_the_comparison() {
        const auto session = with_steps({});
        ShownPane shown(session);
        shown.pane.compare_with(with_steps({}));
        QTRY_VERIFY(shown.pane.plot().runs() != nullptr);
        shown.pane.set_session(nullptr);
        QTRY_VERIFY(shown.pane.plot().runs() == nullptr);
    }
};

QTEST_MAIN(TestComparison)
#include "test_comparison.moc"
