// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The segment map: the places of bars, selection by click, key and address, and painting.
#include <QApplication>
#include <QBuffer>
#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QSet>
#include <QSignalSpy>
#include <QSvgGenerator>
#include <QToolTip>
#include <QVBoxLayout>

#include "gui/model/text.h"
#include "gui/segments/block_colors.h"
#include "gui/segments/map_legend.h"
#include "gui/segments/segment_map.h"
#include "gui/widgets/steady_text.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class SegmentMapViewTest : public QObject {
    Q_OBJECT

    struct LayoutCounter : QObject {
        int layouts = 0;
        bool eventFilter(QObject* watched, QEvent* event) override {
            layouts += event->type() == QEvent::LayoutRequest ? 1 : 0;
            return QObject::eventFilter(watched, event);
        }
    };

private:
    static LayoutOptions narrow(double bytes_per_pixel) {
        LayoutOptions options;
        options.line_width = 500;
        options.bytes_per_pixel = bytes_per_pixel;
        return options;
    }
    static MemoryState state_of(const Session& session, const TimePoint& point) {
        return memory_state(session.device(), session.analysis().live(), point);
    }

    /// Returns whether the map is on the screen.
    static bool show(SegmentMap& map, Session& session, int height) {
        map.resize(900, height);
        map.set_session(&session);
        map.show();
        return QTest::qWaitForWindowExposed(&map, 60000);
    }

private slots:
    void bars_wrap_like_text() {
        const auto session = synthetic_session();
        const MemoryState state = state_of(*session, 6);
        SegmentLayout layout;
        layout.arrange(state, session->device(), narrow(1024));
        QCOMPARE(layout.segments().size(), size_t{2});
        const PlacedSegment& first = layout.segments()[0];
        QCOMPARE(first.length, 2048.0);
        QCOMPARE(first.lines, 5);  // 2048 pixels over lines of 500
        QCOMPARE(layout.segments()[1].top, first.top + 5 * layout.options().pitch());
    }

    void a_hit_test_finds_every_byte_where_it_is_drawn() {
        const auto session = synthetic_session();
        const MemoryState state = state_of(*session, 6);
        for (const double bytes_per_pixel : {16.0, 1000.0, 4096.0, 1e5, 1e9}) {
            SegmentLayout layout;
            layout.arrange(state, session->device(), narrow(bytes_per_pixel));
            for (const PlacedSegment& placed : layout.segments()) {
                for (const double part : {0.001, 0.3, 0.77, 0.999}) {
                    const double byte = placed.bytes * part;
                    const auto hit = layout.hit(layout.position(placed, byte) + QPointF(0, 4));
                    QVERIFY(hit);
                    QCOMPARE(layout.segments()[hit->placed].index, placed.index);
                    QVERIFY(std::abs(hit->offset - byte) <= 1 / placed.pixels_per_byte());
                }
            }
        }
    }

    /// A block over several lines would otherwise look like several.
    void a_block_over_several_lines_has_one_label() {
        const auto session = recorded_session("frag_oom");
        SegmentMap map;
        QVERIFY(show(map, *session, 500));
        SegmentCanvas& canvas = map.canvas();
        QTRY_VERIFY(!canvas.placement().segments().empty());
        const MemoryState state = state_of(*session, session->selection().state().time_point);
        const auto longest = std::max_element(
            state.segments.begin(), state.segments.end(),
            [](const SegmentState& a, const SegmentState& b) { return a.blocks[0].size < b.blocks[0].size; });
        const auto segment = static_cast<uint32_t>(longest - state.segments.begin());
        canvas.zoom_to_segment(segment);
        const LayoutOptions& options = canvas.placement().options();
        const PlacedSegment placed = canvas.placement().segments()[*canvas.placement().placed_of(segment)];
        QVERIFY(placed.lines > 1 && longest->blocks[0].size == longest->size);
        const QImage image = canvas.viewport()->grab().toImage();
        const auto colors_in_line = [&](int line) {
            constexpr int margin = 10;
            const int top = placed.top + line * options.pitch() + margin - canvas.visible_top();
            QSet<QRgb> colors;
            for (int x = margin + 6; x < margin + 200; ++x) {
                for (int y = top + 4; y < top + options.bar_height - 4; ++y) {
                    colors.insert(image.pixel(x, y));
                }
            }
            return colors.size();
        };
        QVERIFY2(colors_in_line(0) > 2, "a text has shades");
        QCOMPARE(colors_in_line(1), 1);
    }

    void memory_of_unknown_role_is_known_as_such() {
        const auto session = synthetic_session();  // without categories
        BlockColors colors;
        colors.prepare(*session, Theme::light(), MapColors::category, 100);
        QVERIFY(colors.has_unknown_role(0));
        colors.prepare(*session, Theme::light(), MapColors::size, 100);
        QVERIFY2(!colors.has_unknown_role(0), "its color means something else");
        session->set_group_by({GroupBy::stack});
        colors.prepare(*session, Theme::light(), MapColors::group, 100);
        QVERIFY2(!colors.has_unknown_role(0), "stacks have no roles");
    }

    void the_legend_tells_a_shortened_name_in_full() {
        const auto session = synthetic_session();
        MapLegend legend;
        legend.set_session(session.get());
        legend.set_colors(MapColors::category);
        legend.resize(300, legend.heightForWidth(300));
        QSet<QString> tips;
        for (int y = 2; y < legend.height(); y += 4) {
            for (int x = 2; x < legend.width(); x += 4) {
                QHelpEvent help(QEvent::ToolTip, {x, y}, legend.mapToGlobal(QPoint(x, y)));
                QApplication::sendEvent(&legend, &help);
                tips.insert(QToolTip::text());
            }
        }
        QVERIFY(tips.contains(category_text(Category::saved)));
        QVERIFY(tips.contains(category_text(Category::unknown)));
    }

    void the_legend_has_room_for_all_entries() {
        const auto session = synthetic_session();
        SegmentMap map;
        map.set_session(session.get());
        auto* legend = map.findChild<MapLegend*>();
        QVERIFY(legend != nullptr);
        legend->set_colors(MapColors::category);
        QCOMPARE(legend->heightForWidth(4000), legend->sizeHint().height());
        QVERIFY(legend->heightForWidth(600) > legend->sizeHint().height());
        map.resize(700, 260);
        map.show();
        QTRY_COMPARE(legend->height(), legend->heightForWidth(legend->width()));
        QVERIFY(map.rect().contains(legend->geometry()));
    }

    void figures_need_a_new_layout_only_for_more_lines() {
        QWidget window;
        QVBoxLayout column(&window);
        auto* text = new SteadyText("figures", Qt::RichText);
        auto* rest = new QWidget;
        column.addWidget(text);
        column.addWidget(rest, 1);
        window.resize(400, 300);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window, 60000));
        text->show_text("allocated <b>1 MiB</b>");
        QTRY_VERIFY(text->height() == text->heightForWidth(text->width()) && text->height() < 40);
        QApplication::processEvents();
        LayoutCounter counter;
        window.installEventFilter(&counter);
        text->show_text("allocated <b>2.5 GiB</b>");
        QApplication::processEvents();
        QCOMPARE(counter.layouts, 0);
        QCOMPARE(text->text(), QString("allocated <b>2.5 GiB</b>"));
        const int line = text->height();
        text->show_text(QString("many words ").repeated(30));
        QTRY_VERIFY(text->height() > line);
        QCOMPARE(text->height(), text->heightForWidth(text->width()));
        QVERIFY(counter.layouts > 0);
    }

    void fitted_scale_shows_everything() {
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            const MemoryState state = state_of(*session, session->selection().state().time_point);
            LayoutOptions options;
            options.line_width = 1000;
            options = fitted(state, session->device(), QSizeF(1000, 700), options);
            SegmentLayout layout;
            layout.arrange(state, session->device(), options);
            QVERIFY2(layout.height() <= 700, name);
            for (const PlacedSegment& placed : layout.segments()) {
                QVERIFY(placed.length > 1);
            }
        }
    }

    void a_click_selects_the_block() {
        const auto session = synthetic_session();
        session->selection().set_time_point(6);
        SegmentMap map;
        QVERIFY(show(map, *session, 400));
        QTRY_VERIFY(map.canvas().placement().segments().size() == 2);
        map.find_address("0x1001401");
        QCOMPARE(session->selection().state().allocation, AllocationIndex{2});
        const PlacedSegment& placed = map.canvas().placement().segments()[0];
        const QPointF at = map.canvas().placement().position(placed, 0x1000) + QPointF(11, 14);
        session->selection().clear();
        QTest::mouseClick(map.canvas().viewport(), Qt::LeftButton, {},
                          QPoint(static_cast<int>(at.x()), static_cast<int>(at.y()) - map.canvas().visible_top()));
        QCOMPARE(session->selection().state().allocation, AllocationIndex{3});
    }

    void arrows_walk_blocks_and_enter_selects() {
        const auto session = synthetic_session();
        session->selection().set_time_point(6);
        SegmentMap map;
        QVERIFY(show(map, *session, 400));
        QTRY_VERIFY(map.canvas().placement().segments().size() == 2);
        QTest::keyClick(&map.canvas(), Qt::Key_Right);
        QCOMPARE(map.canvas().focused_block()->block, 0u);
        QTest::keyClick(&map.canvas(), Qt::Key_Right);
        QTest::keyClick(&map.canvas(), Qt::Key_Return);
        QCOMPARE(session->selection().state().allocation, AllocationIndex{3});
        QTest::keyClick(&map.canvas(), Qt::Key_Left);
        QTest::keyClick(&map.canvas(), Qt::Key_Enter);
        QCOMPARE(session->selection().state().allocation, AllocationIndex{0});
    }

    void addresses_are_found_or_explained() {
        const auto session = synthetic_session();
        session->selection().set_time_point(6);
        SegmentMap map;
        map.set_session(session.get());
        const auto said = [&] {
            for (const QLabel* label : map.findChildren<QLabel*>()) {
                if (label->accessibleName() == "Search result") {
                    return label->text();
                }
            }
            return QString();
        };
        map.find_address("0x1100000");
        QCOMPARE(session->selection().state().segment, 0u);
        QVERIFY(said().contains("free"));
        map.find_address("0x9000000");
        QVERIFY(said().contains("No segment"));
        map.find_address("hello");
        QVERIFY(said().contains("Not an address"));
    }

    void slivers_are_never_dropped() {
        // One block of 512 bytes in 16 GiB: a column of it must differ from an empty one.
        Trace trace = tidemark::test::sample_trace();
        DeviceHistory& device = trace.devices[0];
        device.segments.resize(1);
        device.segments[0].size = uint64_t{16} << 30;
        device.allocations = {};
        device.event_ref.clear();
        device.event_time.clear();
        device.others.clear();
        tidemark::test::add_allocation(device, before_history, never, never, 0x1000000 + (uint64_t{5} << 30), 512, 512,
                                       1);
        const auto session = session_of(std::make_shared<const Trace>(std::move(trace)));
        session->selection().set_time_point(0);
        const MemoryState state = state_of(*session, 0);
        SegmentLayout layout;
        LayoutOptions options = narrow(static_cast<double>(uint64_t{16} << 30) / 500);
        layout.arrange(state, session->device(), options);
        QImage image(520, 80, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        MapScene scene;
        scene.session = session.get();
        scene.state = &state;
        scene.layout = &layout;
        scene.theme = Theme::light();
        SegmentPainter().paint(painter, scene, image.rect());
        const int y = layout.segments()[0].top + options.bar_height / 2;
        int colored = 0;
        for (int x = 3; x < 497; ++x) {
            colored += image.pixel(x, y) != image.pixel(2, y);
        }
        QCOMPARE(colored, 1);
    }

    void selected_memory_is_underlined_and_visible() {
        const auto session = synthetic_session();
        SegmentMap map;
        QVERIFY(show(map, *session, 400));
        const auto underlined = [&] {
            const QImage image = map.canvas().viewport()->grab().toImage();
            const QRgb color = Theme::current().selection.rgb();
            int pixels = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) {
                    pixels += image.pixel(x, y) == color ? 1 : 0;
                }
            }
            return pixels;
        };
        SelectionState state = session->selection().state();
        state.time_point = 6;
        session->selection().select(state);
        QTRY_VERIFY(map.canvas().placement().segments().size() == 2);
        QCOMPARE(underlined(), 0);
        state.memory = std::make_shared<const std::vector<AllocationIndex>>(std::vector<AllocationIndex>{3});
        session->selection().select(state);
        QTRY_VERIFY(underlined() > 8);
    }

    void a_stack_without_memory_at_the_cursor_dims_nothing() {
        const auto session = synthetic_session();
        SegmentMap map;
        QVERIFY(show(map, *session, 400));
        SelectionState state = session->selection().state();
        state.time_point = 6;
        session->selection().select(state);
        QTRY_VERIFY(map.canvas().placement().segments().size() == 2);
        const auto shown = [&] { return map.canvas().viewport()->grab().toImage(); };
        const QImage plain = shown();
        state.stack = 77;  // as of a request that was refused
        session->selection().select(state);
        QVERIFY(shown() == plain);
        state.stack = session->device().allocations.stack[3];
        session->selection().select(state);
        QVERIFY(shown() != plain);
    }

    void a_finding_scrolls_to_its_largest_block() {
        const auto session = synthetic_session();
        session->selection().set_time_point(6);
        SegmentMap map;
        QVERIFY(show(map, *session, 200));
        QTRY_VERIFY(map.canvas().placement().segments().size() == 2);
        map.canvas().zoom_by(60);
        map.canvas().verticalScrollBar()->setValue(map.canvas().verticalScrollBar()->maximum());
        const int scrolled = map.canvas().visible_top();
        QVERIFY(scrolled > 0);
        SelectionState state = session->selection().state();
        state.memory = std::make_shared<const std::vector<AllocationIndex>>(std::vector<AllocationIndex>{0});
        session->selection().select(state);
        QTRY_VERIFY(map.canvas().visible_top() < scrolled);
    }

    void paints_recorded_traces_at_any_time_point() {
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            SegmentMap map;
            map.set_session(session.get());
            for (int part = 0; part <= 4; ++part) {
                session->selection().set_time_point(session->device().event_count() / 4 * part);
                QImage image(800, 500, QImage::Format_RGB32);
                QPainter painter(&image);
                map.render_to(painter, image.size());
                painter.end();
                QVERIFY2(has_content(image), name);
            }
        }
    }

    void exports_drawings() {
        const auto session = synthetic_session();
        SegmentMap map;
        map.set_session(session.get());
        QBuffer buffer;
        QSvgGenerator svg;
        svg.setOutputDevice(&buffer);
        svg.setSize({800, 500});
        QPainter painter(&svg);
        map.render_to(painter, {800, 500});
        painter.end();
        QVERIFY(buffer.data().contains("<svg"));
        QVERIFY(!buffer.data().contains("<image"));
    }

    void the_figures_add_up() {
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            const MemoryState state = state_of(*session, session->selection().state().time_point);
            uint64_t free = 0;
            for (const SegmentState& s : state.segments) {
                free += s.free();
            }
            QCOMPARE(free, state.free_in_gaps + state.free_in_cached_segments);
            QVERIFY(!fragmentation_text(*session, state).isEmpty());
        }
    }

    void a_larger_gap_of_small_blocks_does_not_contradict_the_sentence() {
        const QString other = QStringLiteral("The largest free gap serves other requests.");
        int sentences = 0;
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            MemoryState state = state_of(*session, session->selection().state().time_point);
            state.largest_gap = 0;
            if (const QString text = fragmentation_text(*session, state); text.startsWith("A request above")) {
                QVERIFY(!text.contains(other));
                state.largest_gap = uint64_t{1} << 40;
                QCOMPARE(fragmentation_text(*session, state), text + u' ' + other);
                ++sentences;
            }
        }
        QVERIFY(sentences > 0);
    }

    void says_why_it_is_empty() {
        SegmentMap map;
        map.resize(500, 300);
        QVERIFY(has_content(map.canvas().viewport()->grab().toImage()));
        const auto session = synthetic_session();
        map.set_session(session.get());
        map.set_session(nullptr);
        QVERIFY(has_content(map.canvas().viewport()->grab().toImage()));
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::SegmentMapViewTest)
#include "test_segment_map_view.moc"
