// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The graph pane: opening groups, walking with keys, selection, retention path, roots, search.
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "gui/graph/graph_pane.h"
#include "gui/graph/graph_peak.h"
#include "gui/graph/root_list.h"
#include "gui/inspector/inspector_pane.h"
#include "gui/model/graph_text.h"
#include "gui/model/grouping.h"
#include "storage/base/units.h"
#include "tests/gui/outlined_graph.h"
#include "tests/unit/graph_builder.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class GraphPaneTest : public QObject {
    Q_OBJECT

private:
    static void wait(GraphPane& pane) { QTRY_VERIFY(!pane.busy()); }

    /// Returns a visible pane that has finished its drawing.
    static std::unique_ptr<GraphPane> shown_pane(Session* session) {
        auto pane = std::make_unique<GraphPane>();
        pane->resize(1200, 700);
        pane->set_session(session);
        pane->show();
        wait(*pane);
        return pane;
    }

    static int box_named(const GraphPane& pane, const QString& text) {
        const auto& picture = const_cast<GraphPane&>(pane).view().picture();
        GraphPainter painter(QFont(), Theme::light());
        painter.set_picture(picture);
        for (int b = 0; b < static_cast<int>(picture->scene->boxes.size()); ++b) {
            if (painter.title(b).contains(text)) {
                return b;
            }
        }
        return -1;
    }

    static QPoint middle(GraphView& view, int box) {
        const QRectF rect = view.picture()->scene->boxes[static_cast<size_t>(box)].rect;
        return view.place().to_screen(rect.center()).toPoint();
    }

private slots:
    void a_double_click_opens_and_backspace_closes() {
        const auto session = transformer_graph().session();
        const auto pane = shown_pane(session.get());
        GraphView& view = pane->view();
        const int box = box_named(*pane, "h.0");
        QVERIFY(box >= 0);
        view.reveal(box);
        const uint64_t key = view.picture()->scene->boxes[static_cast<size_t>(box)].key;
        const size_t boxes = view.picture()->scene->boxes.size();
        const QPointF corner =
            view.place().to_screen(view.picture()->scene->boxes[static_cast<size_t>(box)].rect.topLeft());
        QTest::mouseDClick(&view, Qt::LeftButton, {}, middle(view, box));
        wait(*pane);
        QCOMPARE(view.picture()->scene->boxes.size(), boxes + 12);
        const int opened = view.picture()->scene->find(key);
        QVERIFY(view.picture()->scene->boxes[static_cast<size_t>(opened)].open);
        // The opened group stays under the pointer.
        const QPointF now =
            view.place().to_screen(view.picture()->scene->boxes[static_cast<size_t>(opened)].rect.topLeft());
        QVERIFY((now - corner).manhattanLength() < 1);
        view.setFocus();
        pane->close_group(key);
        wait(*pane);
        QCOMPARE(view.picture()->scene->boxes.size(), boxes);
    }

    void keys_walk_open_and_close() {
        const auto session = transformer_graph().session();
        const auto pane = shown_pane(session.get());
        GraphView& view = pane->view();
        QTest::keyClick(&view, Qt::Key_Down);
        QVERIFY(view.focused() >= 0);
        QVERIFY(session->selection().state().node.has_value());
        const double top = view.picture()->scene->boxes[static_cast<size_t>(view.focused())].rect.top();
        QTest::keyClick(&view, Qt::Key_Down);
        QVERIFY(view.picture()->scene->boxes[static_cast<size_t>(view.focused())].rect.top() > top);
        const int group = box_named(*pane, "h.0");
        view.reveal(group);
        QTest::mouseClick(&view, Qt::LeftButton, {}, middle(view, group));
        const size_t before = view.picture()->scene->boxes.size();
        QTest::keyClick(&view, Qt::Key_Return);
        wait(*pane);
        QVERIFY(view.picture()->scene->boxes.size() > before);
        QTest::keyClick(&view, Qt::Key_Backspace);
        wait(*pane);
        QCOMPARE(view.picture()->scene->boxes.size(), before);
    }

    void a_click_selects_the_node_and_says_why() {
        const auto session = retained_outputs_graph().session();
        const auto pane = shown_pane(session.get());
        const int box = box_named(*pane, "100 graphs");
        QVERIFY(box >= 0);
        QTest::mouseClick(&pane->view(), Qt::LeftButton, {}, middle(pane->view(), box));
        QVERIFY(session->selection().state().node.has_value());
        const QString why = pane->reason_text();
        QVERIFY2(why.contains("variable outputs of main") && why.contains("element"), qPrintable(why));
        QVERIFY2(why.contains("SumBackward0") && why.contains("s01.py:33"), qPrintable(why));
        QVERIFY2(why.contains("never backpropagated"), qPrintable(why));
    }

    void a_node_in_a_forward_pass_is_not_backpropagated_yet() {
        tidemark::test::GraphBuilder builder;
        const NodeIndex executed = builder.node("AddBackward0", {}, {}, {10, 50, 50, 60});
        const NodeIndex never = builder.node("MulBackward0", {}, {}, {10});
        const GraphIndex index(std::make_shared<const Trace>(), std::make_shared<const GraphTables>(builder.tables));
        QCOMPARE(state_text(index, executed, 20), QStringLiteral("not backpropagated yet"));
        QCOMPARE(state_text(index, executed, 55), QStringLiteral("released"));
        QCOMPARE(state_text(index, never, 20), QStringLiteral("never backpropagated"));
        QVERIFY(state_sentence(index, executed, 20).contains(QStringLiteral("not backpropagated yet")));
    }

    void the_retention_path_leads_from_referrer_to_block() {
        const auto made = retained_outputs_graph();
        const auto session = made.session();
        const auto pane = shown_pane(session.get());
        const AllocationRef input = made.graph->tables().saved.allocation[0];
        session->selection().select_allocation(input.index);
        const QString why = pane->reason_text();
        QVERIFY2(why.contains("AddmmBackward0") && why.contains("mat1") && why.contains("saved for backward"),
                 qPrintable(why));
        QVERIFY2(why.contains("element 0"), qPrintable(why));
        // The closed box of all hundred graphs contains it.
        const GraphMarks& marks = pane->view().marks();
        QVERIFY(marks.any);
        QVERIFY(marks.boxes[static_cast<size_t>(box_named(*pane, "100 graphs"))] & GraphMarks::retains);
    }

    void hovering_highlights_the_memory_a_box_retains() {
        const auto session = retained_outputs_graph().session();
        const auto pane = shown_pane(session.get());
        QSignalSpy lit(&session->selection(), &Selection::hovered_changed);
        const int box = box_named(*pane, "100 graphs");
        QTest::mouseMove(&pane->view(), middle(pane->view(), box));
        QTRY_COMPARE(session->selection().hovered().size(), size_t{300});
        QVERIFY(!session->selection().can_go_back());
        QTest::mouseMove(&pane->view(), QPoint(2, 2));
        QTRY_VERIFY(session->selection().hovered().empty());
        QCOMPARE(lit.count(), 2);
    }

    void roots_are_grouped_sorted_and_searched() {
        const auto session = retained_outputs_graph().session();
        const auto pane = shown_pane(session.get());
        RootListModel& roots = pane->roots().roots();
        QCOMPARE(roots.rowCount(), 1);
        QCOMPARE(roots.group(0).title(), QString("100 × SumBackward0"));
        QVERIFY(roots.group(0).referrer.contains("outputs"));
        QCOMPARE(roots.group(0).reachable_bytes, int64_t{100 * 3 * 4096});
        auto* field = pane->findChild<QLineEdit*>();
        field->setText("relu");
        QCOMPARE(roots.rowCount(), 0);
        field->setText("sum > 1 MiB");
        QCOMPARE(roots.rowCount(), 1);
        field->setText("sum > 2 MiB");
        QCOMPARE(roots.rowCount(), 0);
        wait(*pane);
    }

    void search_finds_nodes_by_type_module_line_and_parameter() {
        const Outlined made(transformer_graph(12, 1));
        const auto found = [&](const char* text) {
            return find_nodes(made.graph->index, *made.time_point, parse_graph_query(text), made.progress)->size();
        };
        QCOMPARE(found("gelu"), size_t{12});
        QCOMPARE(found("h.3.mlp.c_fc.weight"), size_t{1});
        QCOMPARE(found("s01.py:217"), size_t{25});
        QVERIFY(found("> 100 MiB") >= 2);
        QCOMPARE(found("nothing like this"), size_t{0});
        QCOMPARE(parse_graph_query("addmm > 1.5 MiB").above, int64_t{3} << 19);
    }

    void found_nodes_are_marked_in_closed_groups_too() {
        const auto session = transformer_graph(12, 1).session();
        const auto pane = shown_pane(session.get());
        const GraphPicture& picture = *pane->view().picture();
        const auto gelus = find_nodes(picture.index(), *picture.time_point, parse_graph_query("gelu"), Progress());
        QCOMPARE(boxes_with(picture, *gelus), std::vector<int>{box_named(*pane, "h.0")});
        QVERIFY(boxes_with(picture, {}).empty());
    }

    void regions_restrict_the_drawing() {
        const auto made = retained_outputs_graph();
        const Outlined all(made);
        const NodeIndex root = all.time_point->roots().front();
        QCOMPARE(Outlined(made, {GraphRegion::Kind::reachable_from, root}).outline->order().size(), size_t{9});
        QCOMPARE(Outlined(made, {GraphRegion::Kind::created_in, no_node, 3}).outline->order().size(), size_t{5});
        GraphRegion around{GraphRegion::Kind::around, root};
        around.reach = 1;
        QCOMPARE(Outlined(made, around).outline->order().size(), size_t{2});
    }

    void notes_explain_an_empty_drawing() {
        const auto graph = finished_graph();
        const auto session = graph.session();
        const auto pane = shown_pane(session.get());
        QVERIFY(pane->note_text().contains("No node of the graph is alive"));
        auto* button = pane->findChild<QPushButton*>();
        QVERIFY(button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY(pane->note_text().isEmpty());
        QVERIFY(session->device().time_of_state(session->selection().state().time_point.event) >=
                *graph_peak(graph.graph->index));

        const auto bare = std::make_shared<Session>(graph.trace, Session::analyze(graph.trace));
        bare->graph_source().set(std::make_shared<const Graph>(graph.trace, std::make_shared<const GraphTables>()));
        pane->set_session(bare.get());
        QVERIFY(pane->note_text().contains("tidemark record"));
        QVERIFY(!button->isVisible());
        pane->set_session(nullptr);
        QVERIFY(pane->note_text().contains("No trace"));
    }

    void a_node_is_part_of_the_selection() {
        const auto session = retained_outputs_graph().session();
        session->selection().select_node(7);
        session->selection().select_allocation(20);
        QVERIFY(!session->selection().state().node);
        session->selection().back();
        QCOMPARE(session->selection().state().node, std::optional<NodeIndex>(7));
        QCOMPARE(session->selection().state().allocation, no_allocation);
    }

    void the_selected_node_stays_when_the_graph_is_read_again() {
        const auto longer = retained_outputs_graph(3);
        const auto session = longer.session();
        session->selection().select_node(5);
        auto tables = longer.graph->tables();
        for (int64_t& id : tables.nodes.id) {
            id += id > 2 ? 0 : -10;  // the first two nodes get other ids
        }
        session->graph_source().set(
            std::make_shared<const Graph>(longer.trace, std::make_shared<const GraphTables>(tables)));
        QCOMPARE(session->selection().state().node, std::optional<NodeIndex>(5));
        session->selection().select_node(0);
        session->graph_source().set(longer.graph);
        QVERIFY(!session->selection().state().node);
    }

    void pictures_are_divided_by_category() {
        const auto made = transformer_graph(2, 2);
        const auto session = made.session();
        session->set_group_by({GroupBy::category});
        const auto groups = session->shared_groups();
        QCOMPARE(groups->categories.size(), static_cast<size_t>(groups->count()));
        QCOMPARE(groups->categories.back(), Category::unknown);
        const AllocationRef saved = made.graph->tables().saved.allocation[0];
        const auto now = groups->grouping.group_at(saved.index, session->device().event_count());
        QCOMPARE(groups->categories[now], made.graph->categories.at(saved, made.trace->duration));
        const QColor color = color_of_group(Theme::light(), *groups, now);
        QCOMPARE(color, category_color(Theme::light(), groups->categories[now]));
        session->set_group_by({GroupBy::module, 2});
        const std::vector<std::string>& names = session->grouping().names;
        QVERIFY(std::find(names.begin(), names.end(), "GPT.transformer") != names.end());
        session->set_group_by({GroupBy::graph_step});
        QVERIFY(session->grouping().names.size() >= 2);
    }

    void category_colors_differ_with_color_blindness() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            for (int a = 0; a < category_count; ++a) {
                for (int b = a + 1; b < category_count; ++b) {
                    const QColor x = category_color(theme, static_cast<Category>(a)),
                                 y = category_color(theme, static_cast<Category>(b));
                    const int apart =
                        std::abs(x.red() - y.red()) + std::abs(x.green() - y.green()) + std::abs(x.blue() - y.blue());
                    QVERIFY2(apart > 45, qPrintable(QString("%1 %2").arg(a).arg(b)));
                }
            }
        }
    }

    void details_report_the_categories_of_an_allocation() {
        const auto made = transformer_graph(2, 2);
        const auto session = made.session();
        InspectorPane pane;
        pane.set_session(session.get());
        const auto& saved = made.graph->tables().saved;
        session->selection().select_allocation(saved.allocation.back().index);
        pane.refresh_now();
        QVERIFY2(pane.plain_text().contains("saved for backward"), qPrintable(pane.plain_text()));
        QVERIFY2(pane.plain_text().contains("NllLossBackward0"), qPrintable(pane.plain_text()));
        pane.follow(
            QStringLiteral("node:%1").arg(made.graph->index.saver(static_cast<uint32_t>(saved.name.size() - 1))));
        pane.refresh_now();
        QVERIFY2(pane.plain_text().contains("NllLossBackward0"), qPrintable(pane.plain_text()));
        QVERIFY(session->selection().state().node.has_value());
    }

    void the_first_picture_appears_quickly() {
        QElapsedTimer clock;
        const auto session = transformer_graph(12, 1).session();
        clock.start();
        const auto pane = shown_pane(session.get());
        pane->view().grab();
        QVERIFY2(clock.elapsed() < 3000, qPrintable(QString::number(clock.elapsed())));  // 500 ms on an idle machine
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::GraphPaneTest)
#include "test_graph_pane.moc"
