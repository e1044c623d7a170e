// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Coordinates and plots, above all that a plot shows the peak.
#include <QApplication>
#include <QBuffer>
#include <QHelpEvent>
#include <QImage>
#include <QRegularExpression>
#include <QSet>
#include <QSvgGenerator>
#include <QTest>
#include <QToolTip>
#include <cmath>

#include "gui/model/grouping.h"
#include "gui/timeline/allocations_plot.h"
#include "gui/timeline/annotation_rows.h"
#include "gui/timeline/band_labels.h"
#include "gui/timeline/overview_plot.h"
#include "gui/timeline/plot_key.h"
#include "gui/timeline/timeline_plot.h"
#include "gui/widgets/column_canvas.h"
#include "gui/widgets/coordinates.h"
#include "gui/widgets/legend.h"
#include "synthetic_trace.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

PictureRequest whole(const Session& session, QSize size) {
    PictureRequest r;
    r.analysis = session.shared_analysis();
    r.groups = session.shared_groups();
    r.to = session.time_view().whole_to();
    r.high = static_cast<double>(session.analysis().curves().peak(Series::active).max) * 1.05;
    r.pixels = size;
    r.theme = Theme::light();
    return r;
}

int painted_rows(const QImage& image, int x, QRgb background) {
    int rows = 0;
    for (int y = 0; y < image.height(); ++y) {
        rows += image.pixel(x, y) != background;
    }
    return rows;
}

int colors_in(const QImage& image) {
    QSet<QRgb> colors;
    for (int y = 0; y < image.height(); y += 2) {
        for (int x = 0; x < image.width(); x += 2) {
            colors.insert(image.pixel(x, y));
        }
    }
    return static_cast<int>(colors.size());
}

/// Returns the sum of the bytes that the tips of all entries say.
qint64 bytes_shown(Legend& legend) {
    static const QRegularExpression exact(QStringLiteral("\\(([\\d,]+) bytes?\\)"));
    QSet<QString> tips;
    for (int y = 2; y < legend.height(); y += 4) {
        for (int x = 2; x < legend.width(); x += 4) {
            QHelpEvent help(QEvent::ToolTip, {x, y}, legend.mapToGlobal(QPoint(x, y)));
            QToolTip::showText({}, QStringLiteral("none"));
            QApplication::sendEvent(&legend, &help);
            tips.insert(QToolTip::text());
        }
    }
    qint64 bytes = 0;
    for (const QString& tip : tips) {
        bytes += exact.match(tip).captured(1).remove(u',').toLongLong();
    }
    return bytes;
}

template <class Plot>
QImage picture(Plot& plot, QSize size, double ratio = 1) {
    QImage image(size * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    plot.render_to(image, size);
    return image;
}

QByteArray svg_of(TimelinePlot& plot, QSize size) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    plot.render_to(generator, size);
    return bytes;
}

/// Returns a run whose process has so much memory outside the allocator, most of it in the context.
std::shared_ptr<Session> with_memory_outside(int64_t outside, int64_t unknown) {
    auto trace = std::make_shared<Trace>(*test::synthetic_trace({.spike_step = -1, .oom = false}));
    trace->processes = {{100, {}, "python train.py", 0, std::nullopt, std::nullopt, {}}};
    trace->driver_allocations = {
        {DriverMemoryKind::context, 0, 0, static_cast<uint64_t>(outside - unknown), 0, std::nullopt, "", 0, false}};
    const auto reserved = static_cast<int64_t>(trace->devices[0].segments[0].size);
    trace->samples = {{0, 0, std::nullopt, reserved + outside + (1LL << 30), 80LL << 30, SampleSource::nvml},
                      {0, 0, 100, reserved + outside, 0, SampleSource::nvml}};
    return std::make_shared<Session>(trace, Session::analyze(trace));
}

/// Returns how many pixels of the color the middle column has.
int rows_of_color(const QImage& image, QRgb color) {
    int rows = 0;
    for (int y = 0; y < image.height(); ++y) {
        rows += image.pixel(image.width() / 2, y) == color;
    }
    return rows;
}

}  // namespace

class TestPlots : public QObject {
    Q_OBJECT
private slots:
    void axis_map_is_its_own_inverse() {
        const AxisMap map{100, 900, 50, 1650};
        QCOMPARE(map.pixel(100), 50.0);
        QCOMPARE(map.pixel(900), 1650.0);
        QCOMPARE(map.value(map.pixel(321)), 321.0);
        const AxisMap up{0, 10, 400, 0};
        QCOMPARE(up.pixel(10), 0.0);
        QCOMPARE(up.value(400), 0.0);
    }

    void positions_far_outside_are_clipped() {
        const AxisMap map{0, 1, 100, 500};
        QCOMPARE(map.pixel(1e18), 500 + AxisMap::beyond);
        QCOMPARE(map.pixel(-1e300), 100 - AxisMap::beyond);
        QCOMPARE(map.pixel(std::nan("")), 100.0);
        const AxisMap point{7, 7, 400, 0};
        QCOMPARE(point.pixel(7), 400.0);
        QCOMPARE(point.pixel(8), -AxisMap::beyond);
    }

    void an_image_is_cut_to_what_is_visible() {
        const Part half = visible_part({0, 100}, 1000, {50, 200});
        QCOMPARE(half.first, 500.0);
        QCOMPARE(half.length, 500.0);
        QCOMPARE(half.shown.from, 50.0);
        QCOMPARE(half.shown.to, 100.0);
        QCOMPARE(visible_part({0, 100}, 1000, {100, 200}).length, 0.0);
        // A span of a nanosecond in the picture of a century
        const Part point = visible_part({0, 3e18}, 1000, {1.5e18, 1.5e18 + 512});
        QCOMPARE(point.first, 500.0);
        QCOMPARE(point.length, 1.0);
        QVERIFY(visible_part({0, 3e18}, 1000, {3e18 - 512, 4e18}).first <= 999);
    }

    void rows_are_those_whose_center_is_inside() {
        const auto is = [](RowRun run, int begin, int end) { return run.begin == begin && run.end == end; };
        QVERIFY(is(rows_between(0, 10, 0, 10, 5), 0, 1));
        QVERIFY(is(rows_between(0, 4, 0, 10, 5), 0, 0));
        QVERIFY(is(rows_between(6, 14, 0, 10, 5), 1, 1));
        QVERIFY(is(rows_between(4, 16, 0, 10, 5), 0, 2));
        QVERIFY(is(rows_between(-100, 1e9, 0, 10, 5), 0, 5));
        QVERIFY(is(rows_between(100, 120, 100, 10, 5), 0, 2));
        QVERIFY(is(rows_between(-1e300, 1e300, 0, 1e-300, 5), 0, 5));
        QVERIFY(is(rows_between(1, 1, 1, 0, 5), 0, 0));
    }

    void the_timeline_reaches_the_line_of_nvidia_smi() {
        const auto reserved = static_cast<int64_t>(with_memory_outside(1 << 20, 0)->device().segments[0].size);
        const int64_t outside = reserved / 2, unknown = reserved / 4;
        const auto session = with_memory_outside(outside, unknown);
        TimelinePlot plot;
        plot.set_session(session.get());
        const QImage image = picture(plot, {900, 400});
        const ProcessBands& bands = plot.process_bands();
        QCOMPARE(bands.of, FigureOf::process);
        QCOMPARE(bands.highest(), std::optional(reserved + outside));
        QCOMPARE(bands.components.size(), size_t{2});
        QCOMPARE(bands.components[1].kind, ComponentKind::unknown);
        const double pixels = 400.0 / static_cast<double>(reserved + outside);
        const Theme theme = bands.request.theme;
        const QRgb context = component_color(theme, ComponentKind::context, 0).rgb();
        QVERIFY(rows_of_color(image, context) > 0.4 * static_cast<double>(outside - unknown) * pixels);
        const QRgb between = mixed(theme.unknown, theme.plot_background, light_of_unknown).rgb();
        QVERIFY2(rows_of_color(image, between) > 0.2 * static_cast<double>(unknown) * pixels, "unknown is hatched");
        QVERIFY(rows_of_color(image, theme.unknown.rgb()) < 0.8 * static_cast<double>(unknown) * pixels);
    }

    void the_timeline_is_painted_before_the_memory_outside_is_known() {
        const auto session = with_memory_outside(1 << 30, 0);
        TimelinePlot plot;
        plot.resize(900, 300);
        plot.set_session(session.get());
        QVERIFY(!plot.grab().isNull());
        QTRY_VERIFY(!plot.process_bands().columns.empty());
        QVERIFY(!plot.grab().isNull());
    }

    void the_key_names_the_bands_from_the_outside_in() {
        ProcessBands bands;
        bands.components = {{ComponentKind::library, "libcublas.so.13", 0},
                            {ComponentKind::context, "", 0},
                            {ComponentKind::kernels, "", 0},
                            {ComponentKind::unknown, "", 0}};
        bands.most = {100 << 20, 500 << 20, 1 << 20, 50 << 20};
        const QFontMetrics metrics{QFont()};
        const auto names = [&](double least, int room) {
            QStringList all;
            for (const KeyEntry& entry : key_of_bands(bands, least, metrics, room)) {
                all << entry.name;
            }
            return all.join(QStringLiteral(", "));
        };
        QCOMPARE(names(0, 2000), QStringLiteral("unexplained, loaded kernels, CUDA context, libcublas.so.13"));
        QCOMPARE(names(2 << 20, 2000), QStringLiteral("unexplained, CUDA context, libcublas.so.13"));
        const int room = key_width(key_of_bands(bands, 60 << 20, metrics, 2000), metrics);
        QCOMPARE(names(0, room), QStringLiteral("CUDA context, libcublas.so.13"));
        QCOMPARE(key_of_bands(bands, 0, metrics, 2000)[0].sample, KeySample::unknown);
    }

    /// The header says the peak, too; the line is nowhere else.
    void the_label_of_the_peak_does_not_hide_the_line_of_nvidia_smi() {
        const auto reserved = static_cast<int64_t>(with_memory_outside(1 << 20, 0)->device().segments[0].size);
        const auto session = with_memory_outside(reserved / 2, 0);
        for (const int height : {95, 152, 250, 400}) {
            TimelinePlot plot;
            plot.set_session(session.get());
            const QImage image = picture(plot, {900, height});
            const QRgb line = plot.picture().request.theme.allocated_line.rgb();
            const double top = static_cast<double>(plot.process_bands().columns[300].figure.value_or(0));
            int seen = 0;
            const QRect area = plot.axisRect()->rect();
            for (int x = area.left() + 2; x < area.right() - 2; ++x) {
                const double y = area.bottom() - top / plot.picture().request.high * area.height();
                for (int row = static_cast<int>(y) - 3; row <= static_cast<int>(y) + 3; ++row) {
                    if (image.pixel(x, row) == line) {
                        ++seen;
                        break;
                    }
                }
            }
            QVERIFY2(seen > 0.97 * (area.width() - 4),
                     qPrintable(QStringLiteral("%1 of %2 at %3").arg(seen).arg(area.width()).arg(height)));
        }
    }

    void lines_of_failures_do_not_cross_the_names_in_the_key() {
        const auto session = test::synthetic_session();
        TimelinePlot plot;
        plot.set_session(session.get());
        const QImage image = picture(plot, {900, 400});
        const QRect area = plot.axisRect()->rect();
        const QRgb failure = plot.picture().request.theme.oom.rgb();
        int in_key = 0, below = 0;
        for (int y = area.top(); y < area.bottom(); ++y) {
            for (int x = area.left(); x < area.right() + 2; ++x) {
                const bool is_failure = image.pixel(x, y) == failure;
                in_key += is_failure && y < area.top() + key_row_height(QFontMetrics(plot.font())) / 2 ? 1 : 0;
                below += is_failure ? 1 : 0;
            }
        }
        QCOMPARE(in_key, 0);
        QVERIFY(below > 100);
    }

    /// Only peaks are recorded of repeated steps, so the peak may have no event of its own.
    void the_peak_is_marked_where_the_cursor_goes() {
        const auto trace = test::run_with_repeated_steps(1 << 20);
        const auto session = std::make_unique<Session>(trace, Session::analyze(trace));
        const TimePoint& cursor = session->selection().state().time_point;
        QVERIFY(cursor.repeated);
        TimelinePlot plot;
        plot.set_session(session.get());
        picture(plot, {900, 400});
        const auto mark = plot.peak_place();
        QVERIFY(mark);
        const double position = session->time_view().position_of(cursor);
        QCOMPARE(mark->x(), time_map(session->time_view(), plot.axisRect()->rect()).pixel(position));
    }

    void a_large_context_does_not_hide_the_allocators_memory() {
        const auto plain = test::synthetic_session({.spike_step = -1, .oom = false});
        const auto reserved = static_cast<int64_t>(plain->device().segments[0].size);
        const auto session = with_memory_outside(20 * reserved, 0);
        TimelinePlot of_plain, plot;
        of_plain.set_session(plain.get());
        plot.set_session(session.get());
        picture(of_plain, {900, 400});
        const QImage image = picture(plot, {900, 400});
        const QRgb context = component_color(plot.picture().request.theme, ComponentKind::context, 0).rgb();
        QCOMPARE(rows_of_color(image, context), 0);
        QCOMPARE(plot.picture().request.high, of_plain.picture().request.high);
        QCOMPARE(plot.process_bands().highest(), std::optional(21 * reserved));
    }

    /// Samples of nvidia-smi miss what the program allocates between them.
    void memory_above_every_sample_does_not_reach_into_the_key() {
        Trace trace = with_memory_outside(1 << 20, 0)->trace();
        const auto reserved = static_cast<int64_t>(trace.devices[0].segments[0].size);
        trace.driver_allocations.push_back({DriverMemoryKind::device, 0, 0, static_cast<uint64_t>(reserved) / 2,
                                            trace.duration / 2, std::nullopt, "libcublas.so.13", 0, false});
        const auto shared = std::make_shared<const Trace>(std::move(trace));
        const Session session(shared, Session::analyze(shared));
        TimelinePlot plot;
        plot.set_session(const_cast<Session*>(&session));
        picture(plot, {900, 400});
        const auto highest = static_cast<double>(plot.process_bands().highest().value_or(0));
        QVERIFY(highest >= 1.5 * static_cast<double>(reserved));
        QVERIFY(plot.picture().request.high > 1.1 * highest);
    }

    /// The largest library has one color in the plots, the breakdown and the list of shares.
    void the_largest_component_of_a_kind_comes_first() {
        const ComponentKey small{ComponentKind::library, "liba.so", 0}, large{ComponentKind::library, "libb.so", 0};
        const std::vector<ComponentKey> all{{ComponentKind::context, "", 0}, small, large};
        const std::vector<int64_t> most{500, 1, 100};
        QCOMPARE(nth_of_kind(all, most, large), 0);
        QCOMPARE(nth_of_kind(all, most, small), 1);
        QCOMPARE(nth_of_kind(all, most, all[0]), 0);
        const ComponentKey first{ComponentKind::other_processes, "", 7}, second{ComponentKind::other_processes, "", 8};
        QCOMPARE(nth_of_kind({first, second}, {1, 100}, first), 0);
        QVERIFY2(nth_of_kind({first, second}, {1, 100}, second) == 1, "neighbors in the stack differ");
    }

    void annotations_of_the_recorder_are_in_the_readers_language() {
        const auto named = [](const char* name, AnnotationKind kind) {
            return annotation_name({name, kind, -1, 0, 1, true});
        };
        QCOMPARE(named("garbage collection (12 objects)", AnnotationKind::garbage_collection),
                 QStringLiteral("garbage collection (12 objects)"));
        QCOMPARE(named("garbage collection", AnnotationKind::garbage_collection), QStringLiteral("garbage collection"));
        QCOMPARE(named("epoch (3 objects)", AnnotationKind::user), QStringLiteral("epoch (3 objects)"));
    }

    void memory_of_unknown_role_is_hatched() {
        PictureRequest r;
        r.theme = Theme::light();
        ColumnCanvas canvas(QSize(1, 30), r.theme.plot_background.rgb());
        canvas.hatch(0, {0, 12}, qRgb(0, 0, 0), light_of_unknown, r);
        QCOMPARE(std::count(canvas.column(0), canvas.column(0) + 12, qRgb(0, 0, 0)), 4);
        Groups groups;
        groups.categories = {Category::output, Category::unknown};
        QVERIFY(!is_unknown(groups, 0) && is_unknown(groups, 1) && !is_unknown(groups, 2) && !is_unknown(groups, -1));
    }

    void a_line_separates_bands_that_are_high_enough() {
        PictureRequest r;
        r.theme = Theme::light();
        const QRgb background = r.theme.plot_background.rgb(), lower = qRgb(200, 0, 0), upper = qRgb(0, 200, 0);
        ColumnCanvas canvas(QSize(1, 30), background);
        canvas.fill_band(0, {0, 10}, lower, r);
        canvas.fill_band(0, {10, 20}, upper, r);
        canvas.fill_band(0, {20, 22}, lower, r);
        const QRgb* rows = canvas.column(0);
        QCOMPARE(rows[0], lower);
        QCOMPARE(rows[9], lower);
        QCOMPARE(rows[10], background);
        QCOMPARE(rows[11], upper);
        QCOMPARE(rows[20], lower);
    }

    void a_click_between_events_puts_the_cursor_at_the_time() {
        const auto session = test::synthetic_session();  // one event per µs
        TimelinePlot plot;
        plot.set_synchronous(true);
        plot.resize(1106, 300);  // 1000 pixels for the span
        plot.set_session(session.get());
        session->time_view().show(20'000, 30'000);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.refresh_now();
        const auto click = [&](int x) {
            QTest::mouseClick(&plot, Qt::LeftButton, Qt::NoModifier, QPoint(TimePlot::left_margin + x, 150));
            return session->selection().state().time_point;
        };
        QCOMPARE(click(501), TimePoint(26));
        QCOMPARE(click(599), TimePoint(27));
        const TimePoint between = click(550);
        QCOMPARE(between.event, 26);
        QVERIFY(between.between);
        QVERIFY(std::abs(*between.between - 25'500) <= 20);
        QVERIFY(std::abs(session->time_view().position_of(between) - 25'500) <= 20);
        QTest::keyClick(&plot, Qt::Key_Right);
        QCOMPARE(session->selection().state().time_point, TimePoint(27));
        QTest::keyClick(&plot, Qt::Key_Left);
        QCOMPARE(session->selection().state().time_point, TimePoint(26));
    }

    void no_peak_is_lost_at_any_zoom() {
        test::SyntheticShape shape;
        shape.steps = 2000;
        shape.spike_step = 1234;
        const auto session = test::synthetic_session(shape);
        const Extremes peak = session->analysis().curves().peak(Series::active);
        for (const int width : {37, 200, 1111}) {
            PictureRequest r = whole(*session, {width, 300});
            const TimelinePicture timeline = paint_timeline(r);
            const AllocationsPicture allocations = paint_allocations(r);
            const auto column = static_cast<int>(session->time_view().position_of(peak.max_event) / r.to * width);
            const int expected = static_cast<int>(300 / 1.05) - 1;
            QVERIFY(painted_rows(timeline.image, column, r.theme.plot_background.rgb()) >= expected);
            QVERIFY(painted_rows(allocations.image, column, r.theme.plot_background.rgb()) >= expected);
        }
    }

    void zooming_reaches_every_allocation() {
        const auto session = test::synthetic_session();
        const Allocations& all = session->device().allocations;
        AllocationsPlot plot;
        plot.resize(900, 400);
        plot.set_session(session.get());
        plot.set_synchronous(true);
        plot.show();
        for (AllocationIndex a = 0; a < all.size(); a += 5) {
            session->selection().select_allocation(a);
            QVERIFY(plot.focus_selected());
            bool found = false;
            const auto x = static_cast<int>(
                plot.xAxis->coordToPixel(session->time_view().position_of(all.alloc_event[a] + 1)) + 2);
            for (int y = 0; y < plot.height() && !found; ++y) {
                found = plot.allocation_at({x, y}) == a;
            }
            QVERIFY2(found, qPrintable(QString::number(a)));
        }
    }

    void selected_allocation_is_marked() {
        const auto session = test::synthetic_session();
        AllocationsPlot plot;
        plot.set_session(session.get());
        const QImage before = picture(plot, {800, 300});
        session->selection().select_allocation(0);
        const QImage after = picture(plot, {800, 300});
        QVERIFY(before != after);
        const QRgb mark = Theme::current().selection.rgb();
        int marked = 0;
        for (int y = 0; y < after.height(); ++y) {
            for (int x = 0; x < after.width(); ++x) {
                marked += after.pixel(x, y) == mark;
            }
        }
        QVERIFY(marked > 50);
    }

    void pictures_are_not_empty() {
        const auto session = test::synthetic_session();
        TimelinePlot timeline;
        timeline.set_session(session.get());
        QVERIFY(colors_in(picture(timeline, {900, 300})) > 8);
        QVERIFY(colors_in(picture(timeline, {900, 300}, 2)) > 8);
        AllocationsPlot allocations;
        allocations.set_session(session.get());
        for (const ColorBy by : {ColorBy::group, ColorBy::stack, ColorBy::size, ColorBy::age, ColorBy::stream}) {
            allocations.set_color_by(by);
            QVERIFY(colors_in(picture(allocations, {900, 300})) > 4);
        }
    }

    void the_legend_shows_the_bytes_at_the_cursor() {
        const auto session = gui::test::synthetic_session();
        Legend legend;
        legend.resize(1200, 60);
        legend.set_session(session.get());
        const EventNumber end = session->device().event_count();
        for (const EventNumber event : {end, end / 2, end / 3, 7, 0}) {
            session->selection().set_time_point(event);
            QCOMPARE(bytes_shown(legend), session->analysis().curves().value(Series::active, event));
        }
    }

    /// The memory breakdown beside it has the numbers of another point in time.
    void the_legend_says_which_point_its_bytes_are_of() {
        const auto session = gui::test::synthetic_session();
        Legend legend;
        legend.resize(1200, 60);
        legend.set_session(session.get());
        const QImage image = legend.grab().toImage();
        const auto dark_before = [&](int end) {
            int pixels = 0;
            for (int x = 0; x < end; ++x) {
                for (int y = 0; y < 20; ++y) {
                    pixels += qGray(image.pixel(x, y)) < 150 ? 1 : 0;
                }
            }
            return pixels;
        };
        const int caption = legend.fontMetrics().horizontalAdvance(Legend::tr("At the cursor"));
        QVERIFY(dark_before(caption) > 50);
        QHelpEvent help(QEvent::ToolTip, {caption / 2, 8}, legend.mapToGlobal(QPoint(caption / 2, 8)));
        QToolTip::showText({}, QStringLiteral("none"));
        QApplication::sendEvent(&legend, &help);
        QVERIFY2(!QToolTip::text().contains(QStringLiteral("cursor")), "no entry lies under it");
    }

    void steps_have_a_row_with_their_numbers() {
        Trace trace;
        trace.steps.push_back({7, StepSource::user, 100, 200});
        trace.steps.push_back({1234, StepSource::user, 200, 300});
        const AnnotationRows rows = lay_out_annotations(trace, 0);
        QCOMPARE(rows.rows.size(), size_t{1});
        QCOMPARE(rows.rows[0][0]->name, std::string("step 7"));
        QCOMPARE(rows.rows[0][1]->name, std::string("step 1234"));
    }

    void stretches_of_repeated_steps_have_a_row() {
        Trace trace;
        DeviceHistory& device = trace.devices.emplace_back();
        for (const auto& [start, end, count] :
             {std::tuple(100, 200, 3), std::tuple(200, 300, 4), std::tuple(500, 600, 1)}) {
            RepeatedSteps& steps = device.repeats.emplace_back();
            steps.start = start;
            steps.end = end;
            steps.count = count;
            steps.like = 100;
        }
        device.repeats.emplace_back(device.repeats.back()).like = std::nullopt;  // it follows at once
        const AnnotationRows rows = lay_out_annotations(trace, 0);
        QCOMPARE(rows.rows.size(), size_t{1});
        QCOMPARE(rows.rows[0].size(), size_t{3});
        QCOMPARE(rows.rows[0][0]->start, int64_t{100});
        QCOMPARE(rows.rows[0][0]->end, int64_t{300});
        QVERIFY(QString::fromStdString(rows.rows[0][0]->name).startsWith("7 repeated step"));
        QVERIFY(QString::fromStdString(rows.rows[0][1]->name).startsWith("1 repeated step"));
        QVERIFY(QString::fromStdString(rows.rows[0][2]->name).startsWith("1 step"));
        QVERIFY(lay_out_annotations(trace, 1).rows.empty());
    }

    void bands_have_their_names_where_there_is_room() {
        const auto session = gui::test::synthetic_session();
        const QRect area(90, 10, 780, 600);
        const double high = static_cast<double>(session->analysis().curves().peak(Series::active).max);
        const TimelinePicture picture = paint_timeline(picture_request(*session, Theme::light(), area, 1, 0, high));
        const PictureRequest& r = picture.request;
        const AxisMap x{r.from, r.to, static_cast<double>(area.left()), static_cast<double>(area.right())};
        const AxisMap y{r.low, r.high, static_cast<double>(area.bottom()), static_cast<double>(area.top())};
        const QFontMetrics metrics{QFont()};
        const auto labels = band_labels(picture, metrics, area, x, y);
        QVERIFY(!labels.empty());
        const auto groups = static_cast<size_t>(r.groups->count());
        for (const BandLabel& label : labels) {
            QVERIFY(QRectF(area).adjusted(-1, -1, 1, 1).contains(label.place));
            QVERIFY(label.place.height() >= metrics.height());
            const size_t column = static_cast<size_t>((x.value(label.place.center().x()) - r.from) / (r.to - r.from) *
                                                      static_cast<double>(picture.columns->size()));
            QVERIFY2(picture.stacked[column * groups + static_cast<size_t>(label.group)] > 0, "it is on its band");
        }
        const AxisMap flat{r.low, r.high * 100, y.first, y.last};
        QVERIFY2(band_labels(picture, metrics, area, x, flat).empty(), "no band is as high as a line of text");
    }

    void the_label_of_a_range_covers_no_band() {
        const QRect area(100, 0, 500, 100);
        const QRectF label(300, 80, 60, 16), box(270, 78, 100, 20);
        const QRectF moved = moved_beside(box, {label}, area);
        QVERIFY(!moved.intersects(label));
        QCOMPARE(moved.right(), label.left() - 4);
        QVERIFY(moved_beside(box.translated(40, 0), {label}, area).left() > label.right());
        QCOMPARE(moved_beside(box, {}, area), box);
        QCOMPARE(moved_beside(box.translated(-300, 0), {}, area).left(), 100.0);
    }

    void an_error_below_the_free_memory_of_the_gpu_names_the_limit() {
        const auto texts = [](uint64_t free) {
            Trace trace = *test::synthetic_session()->shared_trace();
            for (OtherEvent& other : trace.devices[0].others) {
                other.address = other.action == Action::oom ? free : other.address;
            }
            const auto shared = std::make_shared<const Trace>(std::move(trace));
            const auto session = std::make_shared<Session>(shared, Session::analyze(shared));
            TimelinePlot timeline;
            timeline.set_session(session.get());
            return svg_of(timeline, {900, 300});
        };
        QVERIFY(texts(uint64_t{1} << 40).contains("own limit"));
        const QByteArray full = texts(1);
        QVERIFY(full.contains("out of memory") && !full.contains("own limit"));
    }

    void an_empty_window_says_so() {
        TimelinePlot timeline;
        const QImage empty = picture(timeline, {400, 200});
        QVERIFY(colors_in(empty) > 2);
        timeline.set_session(test::synthetic_session().get());
    }

    void svg_contains_shapes() {
        const auto session = test::synthetic_session();
        TimelinePlot timeline;
        timeline.set_session(session.get());
        const QByteArray bytes = svg_of(timeline, {600, 300});
        QVERIFY(bytes.contains("<path") || bytes.contains("<polygon"));
        QVERIFY(bytes.contains("GiB") || bytes.contains("MiB"));
        // The lines between bands have the color of the background, as on the screen.
        QVERIFY(bytes.contains(QStringLiteral("stroke=\"%1\"").arg(Theme::light().plot_background.name()).toUtf8()));
    }

    void the_cursor_does_not_cross_the_key() {
        const auto session = test::synthetic_session();
        TimelinePlot timeline;
        timeline.set_session(session.get());
        const auto rows_of_cursor = [&](EventNumber event) {
            session->selection().set_time_point(event);
            const QImage image = picture(timeline, {600, 300});
            int rows = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) {
                    if (image.pixelColor(x, y) == Theme::light().cursor) {
                        ++rows;
                        break;
                    }
                }
            }
            return rows;
        };
        // The key is at the right, above the end of the run.
        const int left = rows_of_cursor(1), right = rows_of_cursor(session->device().event_count() - 1);
        const int key = QFontMetrics(timeline.font()).height() + 2;
        QVERIFY2(left - right >= key - 3, qPrintable(QStringLiteral("%1 %2").arg(left).arg(right)));
    }
};

QTEST_MAIN(TestPlots)
#include "test_plots.moc"
