// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The shared axis, the selection, the groups and the colors.
#include <QSemaphore>
#include <QSignalSpy>
#include <QTest>
#include <QUrl>
#include <cmath>

#include "gui/model/cursor_state.h"
#include "gui/model/file_name.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "synthetic_graph.h"
#include "synthetic_trace.h"
#include "tests/unit/run_builder.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

double luminance(const QColor& color) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

constexpr uint64_t MiB = uint64_t{1} << 20;
constexpr int64_t millisecond = tidemark::test::RunBuilder::millisecond;

}  // namespace

class TestModel : public QObject {
    Q_OBJECT
private slots:
    void file_names_keep_their_bytes() {
        for (const std::string name : {"/tmp/a.tide", "/\xff\xfe.tide",
                                       "/\xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80.tide", "\xed\xb2\x80", "\xff"}) {
            QCOMPARE(bytes_of_file_name(file_name_from_bytes(name)), name);
        }
        QCOMPARE(shown_file_name(file_name_from_bytes("/\xff\n.tide")), QStringLiteral("/\\xff\\n.tide"));
        QCOMPARE(bytes_of_file_name(file_name_of_url(QUrl(QStringLiteral("file:///tmp/%FF%20a%3Fb%23.tide")))),
                 std::string("/tmp/\xff a?b#.tide"));
    }

    void texts_are_visible() {
        QCOMPARE(to_qstring("a\x1b[1m\u202eb\nc\xff"), QStringLiteral("a\\x1b[1m\\u202eb\\nc\\xff"));
        QCOMPARE(lines_to_qstring("a\n\u202eb"), QStringLiteral("a\n\\u202eb"));
        QVERIFY(!tip_text(QStringLiteral("<b>bold</b>")).contains(QStringLiteral("<b>")));
    }

    void zoom_does_not_move_the_place_under_the_pointer() {
        const auto session = gui::test::synthetic_session();
        TimeView& view = session->time_view();
        const double at = view.whole_from() + 0.3 * (view.whole_to() - view.whole_from());
        const double part = (at - view.from()) / view.span();
        view.zoom(3, at);
        QVERIFY(std::abs((at - view.from()) / view.span() - part) < 1e-9);
        QVERIFY(std::abs(view.span() * 3 - (view.whole_to() - view.whole_from())) < 1e-6 * view.whole_to());
    }

    void view_stays_inside_the_trace() {
        const auto session = gui::test::synthetic_session();
        TimeView& view = session->time_view();
        view.zoom(10, 0);
        view.pan(-5);
        QCOMPARE(view.from(), view.whole_from());
        view.pan(1000);
        QCOMPARE(view.to(), view.whole_to());
        view.zoom(1e12, view.whole_to() / 2);
        QVERIFY(view.span() >= view.smallest_span() * 0.999);
        view.zoom(1e-12, 0);
        QCOMPARE(view.from(), view.whole_from());
        QCOMPARE(view.to(), view.whole_to());
    }

    void the_axis_begins_with_the_first_use_of_memory() {
        tidemark::test::RunBuilder run;
        run.segment(64 * MiB);
        run.free(run.alloc(MiB));
        constexpr int64_t imports = 6'000 * millisecond;
        for (int64_t& time : run.device().event_time) {
            time += imports;
        }
        const int64_t first = run.device().event_time.front(), end = run.device().event_time.back() + 100 * millisecond;
        TimeView view;
        view.set_history(&run.trace, &run.device(), end);
        QVERIFY(view.from() < static_cast<double>(first));
        QVERIFY(view.from() > static_cast<double>(first) - 0.05 * static_cast<double>(end - first));
        QCOMPARE(view.position_of_time(0), view.whole_from());
        run.trace.driver_allocations.emplace_back().time = imports / 2;
        view.set_history(&run.trace, &run.device(), end);
        QVERIFY(view.from() < static_cast<double>(imports) / 2);
        QVERIFY(view.from() > 0);
    }

    void zooms_are_undone_and_redone() {
        const auto session = gui::test::synthetic_session();
        TimeView& view = session->time_view();
        const double from = view.from(), to = view.to();
        view.zoom(2, to / 2);
        const double zoomed = view.from();
        view.zoom(2, to / 2);
        view.undo();
        QCOMPARE(view.from(), zoomed);
        view.undo();
        QCOMPARE(view.from(), from);
        QCOMPARE(view.to(), to);
        QVERIFY(!view.can_undo());
        view.redo();
        QCOMPARE(view.from(), zoomed);
        view.show_all();
        QVERIFY(!view.can_redo());
    }

    void a_gesture_is_one_step() {
        const auto session = gui::test::synthetic_session();
        TimeView& view = session->time_view();
        const double to = view.to();
        view.begin_gesture();
        for (int i = 0; i < 10; ++i) {
            view.zoom(1.2, to / 2);
        }
        view.end_gesture();
        view.undo();
        QCOMPARE(view.to(), to);
        QVERIFY(!view.can_undo());
    }

    void axis_change_preserves_the_span() {
        const auto session = gui::test::synthetic_session();
        TimeView& view = session->time_view();
        view.show(20000, 60000);
        view.set_axis(TimeAxis::event_index);
        QVERIFY(std::abs(view.from() - 21) <= 1);
        QVERIFY(std::abs(view.to() - 61) <= 1);
        view.set_axis(TimeAxis::wall_clock);
        QVERIFY(std::abs(view.from() - 20000) <= 1000);
    }

    void positions_and_states_agree() {
        const auto session = gui::test::synthetic_session();
        TimeView& view = session->time_view();
        for (const TimeAxis axis : {TimeAxis::wall_clock, TimeAxis::event_index}) {
            view.set_axis(axis);
            for (EventNumber n = 1; n <= session->device().event_count(); n += 7) {
                QCOMPARE(view.point_at(view.position_of(n)).event, n);
            }
        }
    }

    void the_cursor_stands_between_events() {
        const auto session = gui::test::synthetic_session();  // one event per µs
        const TimeView& view = session->time_view();
        QCOMPARE(view.point_near(20'100, 150), TimePoint(21));
        QCOMPARE(view.point_near(20'900, 150), TimePoint(22));
        const TimePoint between = view.point_near(20'500, 150);
        QCOMPARE(between, TimePoint(21, std::optional<int64_t>(20'500)));
        QCOMPARE(view.position_of(between), 20'500.0);
        session->selection().set_time_point(between);
        QCOMPARE(session->cursor_time(), 20'500);
        const QString text = cursor_text(session->trace(), session->device(), between);
        QVERIFY2(text.contains(QStringLiteral("0.000021 s · 500 ns after event 21")), qPrintable(text));
        session->go_to_change(-1);
        QCOMPARE(session->selection().state().time_point, TimePoint(21));
        session->go_to_change(1);
        QCOMPARE(session->selection().state().time_point, TimePoint(22));
    }

    void the_cursor_between_events_survives_back_and_forward() {
        const auto session = gui::test::synthetic_session();
        Selection& selection = session->selection();
        const TimePoint between(21, std::optional<int64_t>(20'500));
        selection.set_time_point(between);
        selection.select_allocation(0);
        selection.back();
        QCOMPARE(selection.state().time_point, between);
        selection.grow(session->trace());
        QCOMPARE(selection.state().time_point, between);
    }

    void a_run_begins_whole_and_shows_its_busy_part_on_request() {
        tidemark::test::RunBuilder run;
        run.segment(64 * MiB);
        run.alloc(MiB);
        for (int i = 0; i < 100; ++i) {
            run.free(run.alloc(2 * MiB));
        }
        for (size_t i = 2; i < run.device().event_time.size(); ++i) {
            run.device().event_time[i] += 60'000 * millisecond;
        }
        run.trace.duration = run.device().event_time.back();
        const auto trace = std::make_shared<const Trace>(run.trace);
        Session session(trace, Session::analyze(trace));
        TimeView& view = session.time_view();
        QCOMPARE(view.whole_from(), 0.0);
        QCOMPARE(view.from(), view.whole_from());
        QCOMPARE(view.to(), view.whole_to());
        QVERIFY(session.busy_part().is_part);
        session.show_busy_part();
        QVERIFY(view.from() > 0.9 * view.to());
        view.undo();
        QCOMPARE(view.from(), view.whole_from());
        view.set_axis(TimeAxis::event_index);
        session.show_busy_part();
        QVERIFY(view.span() > 0.9 * (view.whole_to() - view.whole_from()));
        view.set_axis(TimeAxis::wall_clock);
        session.show_busy_part();
        const double cursor = view.position_of(session.selection().state().time_point);
        QVERIFY(cursor >= view.from() && cursor <= view.to());
    }

    void numbers_stay_with_their_units() {
        QCOMPARE(with_whole_units(QStringLiteral("3.01 MiB in 10 steps, 4 s, 5 %")),
                 QStringLiteral("3.01\u00a0MiB in 10 steps, 4\u00a0s, 5\u00a0%"));
    }

    void the_cursor_stays_within_a_repeated_step() {
        const auto trace = gui::test::run_with_repeated_steps();
        const auto session = std::make_unique<Session>(trace, Session::analyze(trace));
        const TimeView& view = session->time_view();
        Selection& selection = session->selection();
        const auto at = static_cast<double>(session->trace().steps[3].start + 8 * millisecond);
        const TimePoint point = view.point_at(at);
        QVERIFY(point.repeated);
        QCOMPARE(point.repeated->step, int64_t{3});
        QCOMPARE(point.repeated->like, int64_t{1});
        QCOMPARE(view.position_of(point), at);
        selection.set_time_point(point);
        QCOMPARE(session->cursor_time(), static_cast<int64_t>(at));
        QVERIFY(place_text(selection.state().time_point.repeated).startsWith("step 3 repeats step 1"));
        QVERIFY(place_sentence(selection.state().time_point.repeated).startsWith("Step 3 repeats step 1"));
        QCOMPARE(place_sentence(std::nullopt), QString());
        CursorState cursor;
        cursor.set_session(session.get());
        cursor.ensure_current();
        QCOMPARE(cursor.state()->allocated, 7 * MiB);
        // What the repeated step shows can be selected there.
        selection.select_allocation(2);
        QVERIFY(selection.state().time_point == point);
        selection.set_time_point(view.point_at(static_cast<double>(session->trace().steps[3].start + millisecond)));
        cursor.ensure_current();
        QCOMPARE(cursor.state()->allocated, MiB);
        selection.set_time_point(session->device().event_count());
        cursor.ensure_current();
        QVERIFY(place_text(selection.state().time_point.repeated).isEmpty());
    }

    /// A jump from nothing to a large state would stop the window.
    void large_states_come_from_a_worker() {
        const auto session =
            gui::test::synthetic_session({.steps = 8000, .leaked_per_step = 8, .spike_step = -1, .oom = false});
        const EventNumber end = session->device().event_count();
        session->selection().set_time_point(0);
        CursorState cursor;
        cursor.set_session(session.get());
        QTRY_VERIFY(cursor.state());
        const auto may_end = std::make_shared<QSemaphore>();
        const int threads = worker_threads()->maxThreadCount();
        auto release = std::make_unique<QSemaphoreReleaser>(*may_end, threads);
        for (int i = 0; i < threads; ++i) {
            worker_threads()->start([may_end] { may_end->acquire(); });
        }
        session->selection().set_time_point(end);
        QCoreApplication::processEvents();
        QCOMPARE(cursor.state()->point.event, 0);
        release.reset();
        QTRY_COMPARE(cursor.state()->point.event, end);
        QCOMPARE(cursor.state()->allocated,
                 static_cast<uint64_t>(session->analysis().curves().value(Series::allocated, end)));
    }

    void selecting_an_allocation_moves_the_cursor_into_its_lifetime() {
        const auto session = gui::test::synthetic_session();
        Selection& selection = session->selection();
        const Allocations& all = session->device().allocations;
        selection.set_time_point(1);
        const AllocationIndex a = all.size() - 2;
        selection.select_allocation(a);
        QCOMPARE(selection.state().time_point.event, all.alloc_event[a] + 1);
        QCOMPARE(*selection.state().stack, all.stack[a]);
        QCOMPARE(selection.state().segment, 0u);
    }

    void back_and_forward_visit_selections_and_skip_scrubbing() {
        const auto session = gui::test::synthetic_session();
        Selection& selection = session->selection();
        QVERIFY(!selection.can_go_back());
        selection.select_allocation(0);
        selection.set_time_point(40);
        selection.set_time_point(41);
        selection.select_allocation(3);
        selection.back();
        QCOMPARE(selection.state().allocation, 0u);
        QCOMPARE(selection.state().time_point.event, 41);
        selection.back();
        QCOMPARE(selection.state().allocation, no_allocation);
        QVERIFY(!selection.can_go_back());
        selection.forward();
        selection.forward();
        QCOMPARE(selection.state().allocation, 3u);
        QVERIFY(!selection.can_go_forward());
    }

    void a_dragged_range_is_one_step() {
        const auto session = gui::test::synthetic_session();
        Selection& selection = session->selection();
        for (int i = 1; i < 5; ++i) {
            selection.preview_range(std::pair(0.0, i * 1000.0));
        }
        selection.select_range(selection.state().range);
        QCOMPARE(selection.state().range->second, 4000.0);
        selection.back();
        QVERIFY(!selection.state().range);
        QVERIFY(!selection.can_go_back());
    }

    void devices_have_their_own_view() {
        gui::test::SyntheticShape shape;
        shape.devices = 2;
        const auto session = gui::test::synthetic_session(shape);
        session->time_view().zoom(4, 0);
        QSignalSpy spy(&session->selection(), &Selection::device_changed);
        session->selection().select_device(1);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(session->device().device, 1);
        QCOMPARE(session->time_view().to(), session->time_view().whole_to());
        QCOMPARE(session->selection().state().time_point.event,
                 session->analysis().curves().peak(Series::allocated).max_event);
    }

    void a_run_without_pauses_is_shown_whole() {
        const auto session = gui::test::synthetic_session();
        const TimeView& view = session->time_view();
        QCOMPARE(view.from(), view.whole_from());
        QCOMPARE(view.to(), view.whole_to());
    }

    void memory_is_stacked_by_category_until_another_grouping_is_chosen() {
        auto made = gui::test::transformer_graph(2, 2);
        Session first(made.trace, Session::analyze(made.trace));
        QCOMPARE(first.group_by(), GroupBy::stack);
        first.graph_source().set(made.graph);
        QCOMPARE(first.group_by(), GroupBy::category);

        Session chosen(made.trace, Session::analyze(made.trace));
        chosen.set_group_by({GroupBy::line});
        chosen.graph_source().set(made.graph);
        QCOMPARE(chosen.group_by(), GroupBy::line);
    }

    void groups_cover_every_allocation() {
        const auto session = gui::test::synthetic_session();
        for (const GroupBy by : {GroupBy::stack, GroupBy::line, GroupBy::file, GroupBy::size, GroupBy::stream,
                                 GroupBy::pool, GroupBy::annotation}) {
            session->set_group_by({by});
            const auto groups = session->shared_groups();
            QCOMPARE(groups->grouping.group_of.size(), size_t{session->device().allocations.size()});
            QCOMPARE(groups->stack.size(), groups->grouping.names.size());
            for (const uint16_t g : groups->grouping.group_of) {
                QVERIFY(g < groups->grouping.names.size());
            }
            const auto& all = groups->grouping.group_of;
            QCOMPARE(groups->is_rest_empty, std::find(all.begin(), all.end(), groups->rest) == all.end());
        }
        session->set_group_by({GroupBy::stack});
        session->select_group(0);
        QCOMPARE(session->selected_group(), 0);
        QVERIFY(session->selection().state().stack.has_value());
        session->clear_selection();
        QCOMPARE(session->selected_group(), -1);
    }

    void text_and_lines_have_contrast() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            QVERIFY(contrast(theme.text, theme.background) >= 7);
            QVERIFY(contrast(theme.faint_text, theme.background) >= 4.5);
            for (const QColor& line :
                 {theme.allocated_line, theme.active_line, theme.reserved_line, theme.oom, theme.cursor}) {
                QVERIFY(contrast(line, theme.plot_background) >= 4.5);
            }
            QVERIFY(contrast(theme.selection, theme.plot_background) >= 4);
        }
    }

    void group_colors_differ() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            for (int a = 0; a < 10; ++a) {
                for (int b = a + 1; b < 10; ++b) {
                    const QColor x = group_color(theme, a, 10), y = group_color(theme, b, 10);
                    const int distance =
                        std::abs(x.red() - y.red()) + std::abs(x.green() - y.green()) + std::abs(x.blue() - y.blue());
                    QVERIFY2(distance >= 60, qPrintable(QStringLiteral("%1 and %2").arg(a).arg(b)));
                }
                QVERIFY(contrast(group_color(theme, a, 10), theme.plot_background) > 1.15);
            }
        }
    }
};

QTEST_MAIN(TestModel)
#include "test_model.moc"
