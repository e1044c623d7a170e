// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the drawing of the graph says: text that can be read at any zoom, sizes, module paths, states, the path.
#include <QPaintDevice>
#include <QPaintEngine>
#include <QTest>

#include "gui/graph/graph_box_text.h"
#include "gui/graph/graph_pane.h"
#include "tests/gui/outlined_graph.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

namespace {

/// Records texts instead of painting them.
class TextRecorder : public QPaintDevice {
public:
    struct Text {
        QString text;
        QRectF rect;
        int pixels = 0;
    };

    explicit TextRecorder(QSize size) : size_(size) {}
    QPaintEngine* paintEngine() const override { return &engine_; }
    const std::vector<Text>& texts() const { return engine_.texts; }

protected:
    int metric(PaintDeviceMetric m) const override {
        switch (m) {
            case PdmWidth: return size_.width();
            case PdmHeight: return size_.height();
            case PdmDepth: return 32;
            case PdmDevicePixelRatio: return 1;
            case PdmDevicePixelRatioScaled: return static_cast<int>(devicePixelRatioFScale());
            default: return 96;
        }
    }

private:
    struct Engine : QPaintEngine {
        Engine() : QPaintEngine(AllFeatures) {}
        bool begin(QPaintDevice*) override { return true; }
        bool end() override { return true; }
        void updateState(const QPaintEngineState&) override {}
        void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
        void drawPath(const QPainterPath&) override {}
        void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
        Type type() const override { return User; }
        void drawTextItem(const QPointF& at, const QTextItem& item) override {
            const double height = item.ascent() + item.descent();
            texts.push_back(
                {item.text(), {at.x(), at.y() - item.ascent(), item.width(), height}, item.font().pixelSize()});
        }
        std::vector<Text> texts;
    };
    mutable Engine engine_;
    QSize size_;
};

constexpr QSize view_size(1200, 800);

double luminance(const QColor& color) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

/// A picture with a variable above its first root.
std::shared_ptr<const GraphPicture> picture_of(const Outlined& made, const SceneContent& content) {
    auto picture = std::make_shared<GraphPicture>();
    picture->graph = made.graph;
    picture->time_point = made.time_point;
    picture->referrers = std::make_shared<const ReferrerIndex>(made.graph->index, made.time_point->time());
    picture->outline = made.outline;
    picture->scene = make_scene(made.graph->index, *made.time_point, *made.outline, content, {}, made.progress);
    return picture;
}

std::shared_ptr<const GraphPicture> picture_of(const Outlined& made) {
    return picture_of(made, {made.outline->opened_at_first(), {}, {}});
}

}  // namespace

class GraphDrawingTest : public QObject {
    Q_OBJECT

private slots:
    void text_can_be_read_at_any_zoom_and_overlaps_no_other() {
        for (const SyntheticGraph& graph : {transformer_graph(), retained_outputs_graph(), chain_graph(3000)}) {
            const Outlined made(graph);
            const auto picture = picture_of(made);
            GraphPainter painter(QFont(), Theme::light());
            painter.set_picture(picture);
            const auto& memory = made.graph->tables().saved.allocation;
            const AllocationRef saved = memory.empty() ? AllocationRef() : memory.front();
            const GraphMarks marks = mark_selection(*picture, std::nullopt, saved);
            for (double scale = 0.03; scale < 3; scale *= 1.17) {
                TextRecorder recorder(view_size);
                QPainter paint(&recorder);
                painter.paint(paint, {{scale, {20, 20}}, QRectF(QPointF(), view_size), &marks, -1, -1, nullptr});
                paint.end();
                const auto& texts = recorder.texts();
                QVERIFY2(!texts.empty(), qPrintable(QString::number(scale)));
                for (size_t a = 0; a < texts.size(); ++a) {
                    QVERIFY2(texts[a].pixels >= 9, qPrintable(texts[a].text));
                    for (size_t b = a + 1; b < texts.size(); ++b) {
                        const QRectF both = texts[a].rect.adjusted(1, 1, -1, -1) & texts[b].rect.adjusted(1, 1, -1, -1);
                        QVERIFY2(
                            both.isEmpty(),
                            qPrintable(
                                QStringLiteral("%1: \"%2\" and \"%3\"").arg(scale).arg(texts[a].text, texts[b].text)));
                    }
                }
            }
        }
    }

    void a_frame_without_room_for_its_content_is_one_box() {
        const Outlined made(transformer_graph());
        const auto picture = picture_of(made);
        const GraphScene& scene = *picture->scene;
        const GraphDetail all(scene, 1, 12), little(scene, 0.25, 12);
        bool collapsed = false;
        for (int b = 0; b < static_cast<int>(scene.boxes.size()); ++b) {
            const GraphBox& box = scene.boxes[static_cast<size_t>(b)];
            QVERIFY(all.is_drawn(b) && all.is_frame(b) == box.open);
            collapsed = collapsed || (little.is_drawn(b) && little.is_collapsed(b));
            if (box.parent >= 0 && !little.is_drawn(b)) {
                const int shown = little.shown(b);
                QVERIFY(little.is_collapsed(shown) && little.is_drawn(shown));
                QVERIFY(scene.boxes[static_cast<size_t>(shown)].rect.contains(box.rect));
            }
        }
        QVERIFY(collapsed);
    }

    void every_box_has_its_retained_size_and_modules_have_their_path() {
        const Outlined made(transformer_graph());
        const auto picture = picture_of(made);
        GraphPainter painter(QFont(), Theme::light());
        painter.set_picture(picture);
        bool repeat = false, module = false;
        for (int b = 0; b < static_cast<int>(picture->scene->boxes.size()); ++b) {
            const GraphBox& box = picture->scene->boxes[static_cast<size_t>(b)];
            QCOMPARE(painter.retained(b).isEmpty(), picture->totals(box).retained_bytes == 0);
            repeat = repeat || painter.title(b).endsWith("h.0 to h.11 (12×)");
            module = module || painter.title(b) == "GPT.lm_head";
            QVERIFY2(!painter.title(b).contains('\\'), qPrintable(painter.title(b)));
        }
        QVERIFY(repeat && module);
        const OutlineGroup* layers = made.find(GroupKind::repeat);
        const OutlineGroup& third = made.outline->group(layers->first_group + 3);
        QVERIFY2(module_path(*made.outline, third).ends_with(".h.3"), module_path(*made.outline, third).c_str());
    }

    void the_path_begins_at_the_variable_and_other_graphs_share_a_box() {
        const Outlined made(retained_outputs_graph(100));
        const SavedTensors& saved = made.graph->tables().saved;
        const NodeIndex saver = made.graph->index.saver(0);
        const RootReferrer variable{QStringLiteral("variable outputs"), made.time_point->roots(), 1};
        const auto picture = picture_of(made, {made.outline->opened_at_first(), {saver}, {variable}});
        const GraphScene& scene = *picture->scene;
        QCOMPARE(scene.rests.size(), size_t{1});
        QCOMPARE(scene.rests[0].members, 31u);  // of the first 32 of 100 graphs
        QVERIFY(scene.by_node.contains(saver));
        int64_t retained = 0;  // by the graphs in the box
        for (const NodeIndex node : scene.rests[0].nodes) {
            retained += made.time_point->dominator(node) == no_node ? made.time_point->retained_bytes(node) : 0;
        }
        QCOMPARE(scene.rests[0].totals.retained_bytes, retained);
        const GraphMarks marks = mark_selection(*picture, std::nullopt, saved.allocation[0]);
        int referrers = 0, links = 0;
        for (size_t b = 0; b < scene.boxes.size(); ++b) {
            if (scene.boxes[b].referrer >= 0) {
                ++referrers;
                QVERIFY(marks.boxes[b] & GraphMarks::on_path);
                QCOMPARE(picture->nodes(scene.boxes[b]).size(), size_t{100});
            }
            if (scene.boxes[b].rest >= 0) {
                QCOMPARE(marks.boxes[b], uint8_t{0});
            }
        }
        for (const uint8_t mark : marks.links) {
            links += mark != 0;
        }
        QCOMPARE(referrers, 1);
        QVERIFY(links >= 3);  // into the hundred graphs, into the one, to its root
        QVERIFY(marks.boxes[static_cast<size_t>(scene.by_node.at(saver))] & GraphMarks::retains);
        // A node of the others is in their box.
        for (const NodeIndex node : scene.rests[0].nodes) {
            QVERIFY(scene.boxes[static_cast<size_t>(scene.box_of(*made.outline, node))].rest == 0);
        }
    }

    void an_allocation_selected_in_any_pane_can_be_seen_with_its_path() {
        const auto made = retained_outputs_graph(100);
        const auto session = made.session();
        GraphPane pane;
        pane.resize(view_size);
        pane.set_session(session.get());
        pane.show();
        QTRY_VERIFY(!pane.busy());
        const AllocationRef saved = made.graph->tables().saved.allocation.front();
        session->selection().select_allocation(saved.index);
        QTRY_VERIFY(!pane.busy());
        GraphView& view = pane.view();
        const auto visible = [&](int box) {
            const QRectF rect = view.place().to_screen(view.picture()->scene->boxes[static_cast<size_t>(box)].rect);
            return QRectF(view.rect()).contains(rect.center());
        };
        int retaining = 0;
        for (int b = 0; b < static_cast<int>(view.marks().boxes.size()); ++b) {
            if (view.marks().boxes[static_cast<size_t>(b)] & GraphMarks::retains) {
                ++retaining;
                QVERIFY(view.picture()->scene->boxes[static_cast<size_t>(b)].is_node());
                QVERIFY(visible(b));
            }
        }
        QVERIFY(retaining > 0);
        const size_t boxes = view.picture()->scene->boxes.size();
        // The other graphs appear when their box is opened.
        const auto& all = view.picture()->scene->boxes;
        const auto rest = std::find_if(all.begin(), all.end(), [](const GraphBox& box) { return box.rest >= 0; });
        QVERIFY(rest != all.end());
        pane.open_group(view.picture()->outline->group(rest->group).key);
        QTRY_VERIFY(!pane.busy());
        QVERIFY(view.picture()->scene->boxes.size() > boxes);
        QVERIFY(view.picture()->scene->rests.empty());
    }

    void a_picture_shows_the_whole_width_of_a_wide_drawing() {
        const auto made = retained_outputs_graph(100);
        const auto session = made.session();
        GraphPane pane;
        pane.resize(view_size);
        pane.set_session(session.get());
        pane.show();
        QTRY_VERIFY(!pane.busy());
        GraphView& view = pane.view();
        for (int opened = 0; opened < 3; ++opened) {
            const auto& boxes = view.picture()->scene->boxes;
            const auto closed = std::find_if(boxes.begin(), boxes.end(),
                                             [](const GraphBox& box) { return box.is_group() && !box.open; });
            if (closed != boxes.end()) {
                pane.open_group(view.picture()->outline->group(closed->group).key);
                QTRY_VERIFY(!pane.busy());
            }
        }
        const auto width = [&] { return view.picture()->scene->size.width() * view.place().scale; };
        view.resize(200, 600);
        view.fit();
        QVERIFY2(width() > view.width(), "readable in a window, which scrolls");
        view.show_whole_width(true);
        view.fit();
        QVERIFY(width() <= view.width());
    }

    void texts_of_dimmed_boxes_have_contrast() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            const GraphPainter painter(QFont(), theme);
            for (const NodeState state : {NodeState::never_executed, NodeState::executed, NodeState::released}) {
                for (const bool dim : {false, true}) {
                    const QColor fill = painter.fill_color(node_state_color(theme, state), dim);
                    const double title = contrast(painter.title_color(dim), fill),
                                 text = contrast(painter.text_color(dim), fill);
                    QVERIFY2(title >= 4.5 && text >= 4.5, qPrintable(QStringLiteral("%1 %2").arg(title).arg(text)));
                }
            }
        }
    }

    void states_differ_without_color() {
        std::vector<QImage> marks;
        for (const NodeState state : {NodeState::never_executed, NodeState::executed, NodeState::released}) {
            QImage image(11, 11, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter paint(&image);
            paint_state(paint, QRectF(0, 0, 11, 11), state, Qt::black);
            paint.end();
            for (const QImage& other : marks) {
                int different = 0;
                for (int i = 0; i < 121; ++i) {
                    different += image.pixel(i % 11, i / 11) != other.pixel(i % 11, i / 11);
                }
                QVERIFY2(different > 12, qPrintable(QString::number(different)));
            }
            marks.push_back(image);
        }
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::GraphDrawingTest)
#include "test_graph_drawing.moc"
