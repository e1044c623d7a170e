// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The outline of the graph: repeated runs, groups, totals, and drawings without flaws.
#include <QTest>

#include "gui/graph/graph_scene.h"
#include "gui/graph/layered_layout.h"
#include "gui/graph/repeated_runs.h"
#include "tests/gui/outlined_graph.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

namespace {

/// Returns the first flaw of a drawing; empty if it has none.
QString flaw(const GraphScene& scene) {
    for (size_t a = 0; a < scene.boxes.size(); ++a) {
        const GraphBox& box = scene.boxes[a];
        if (box.parent >= 0 && !scene.boxes[static_cast<size_t>(box.parent)].rect.contains(box.rect)) {
            return QStringLiteral("box %1 leaves its frame").arg(a);
        }
        for (size_t b = a + 1; b < scene.boxes.size(); ++b) {
            if (scene.boxes[b].parent == box.parent && box.rect.intersects(scene.boxes[b].rect)) {
                return QStringLiteral("boxes %1 and %2 overlap").arg(a).arg(b);
            }
        }
    }
    for (const GraphLink& link : scene.links) {
        if (link.to >= 0 && link.from >= 0 && !link.upward &&
            scene.boxes[static_cast<size_t>(link.from)].rect.bottom() >
                scene.boxes[static_cast<size_t>(link.to)].rect.top()) {
            return QStringLiteral("a link leads up");
        }
    }
    return {};
}

}  // namespace

class GraphOutlineTest : public QObject {
    Q_OBJECT

private slots:
    void repeated_runs_are_found() {
        const std::vector<uint64_t> keys{9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 8, 7, 7, 7, 7};
        const std::vector<Run> runs = repeated_runs(keys);
        QCOMPARE(runs.size(), size_t{4});
        QCOMPARE(runs[1].first, 1u);
        QCOMPARE(runs[1].length, 3u);
        QCOMPARE(runs[1].times, 3u);
        QCOMPARE(runs[2].length, 2u);
        QCOMPARE(runs[2].times, 1u);
        QCOMPARE(runs[3].times, 4u);
    }

    void similar_layers_become_one_box() {
        const Outlined made(transformer_graph());
        const OutlineGroup* repeat = made.find(GroupKind::repeat);
        QVERIFY(repeat != nullptr);
        QCOMPARE(repeat->repeats, 12u);
        QVERIFY(repeat->name.ends_with("h.11"));
        QCOMPARE(repeat->group_count, 12u);
        const std::vector<uint64_t> opened = made.outline->opened_at_first();
        QVERIFY(count_boxes(*made.outline, opened) <= static_cast<uint32_t>(most_boxes_at_first));
        QVERIFY(count_boxes(*made.outline, opened) >= 5);
        QVERIFY(std::find(opened.begin(), opened.end(), repeat->key) == opened.end());
    }

    void graphs_with_similar_roots_become_one_box() {
        const Outlined made(retained_outputs_graph(100));
        const OutlineGroup* graphs = made.find(GroupKind::graphs);
        QVERIFY(graphs != nullptr);
        QCOMPARE(graphs->repeats, 100u);
        QCOMPARE(graphs->node_count, 500u);
        // The shared parameters are outside the group, and the group has all bytes.
        QCOMPARE(made.outline->order().size(), size_t{504});
        QCOMPARE(made.outline->group(0).totals.shallow_bytes, made.time_point->reachable_bytes());
    }

    void totals_count_shared_memory_once() {
        const Outlined made(retained_outputs_graph(1));
        // mat1 of fc1, the result of relu, which fc2 saves as well, the output of fc2.
        QCOMPARE(made.outline->group(0).totals.shallow_bytes, int64_t{3 * 4096});
        QCOMPARE(made.outline->group(0).totals.never_executed, 9u);
    }

    void every_node_is_in_one_place() {
        for (const SyntheticGraph& graph : {transformer_graph(), retained_outputs_graph(), chain_graph(5000)}) {
            const Outlined made(graph);
            std::vector<NodeIndex> order = made.outline->order();
            std::sort(order.begin(), order.end());
            QVERIFY(std::adjacent_find(order.begin(), order.end()) == order.end());
            QCOMPARE(static_cast<int64_t>(order.size()), made.time_point->alive_nodes());
            for (const OutlineGroup& group : made.outline->groups()) {
                QVERIFY(group.group_count + group.direct_nodes <= most_children);
                QVERIFY(group.node_count > 0);
                QCOMPARE(made.outline->find(group.key),
                         static_cast<GroupIndex>(&group - made.outline->groups().data()));
            }
        }
    }

    void long_chains_are_cut_into_parts() {
        const Outlined made(chain_graph(100000));
        const std::vector<uint64_t> opened = made.outline->opened_at_first();
        QVERIFY(count_boxes(*made.outline, opened) <= static_cast<uint32_t>(most_boxes_at_first));
        const auto scene = made.scene(opened);
        QCOMPARE(flaw(*scene), QString());
    }

    void a_picture_has_at_most_most_boxes() {
        const Outlined made(transformer_graph());
        std::vector<uint64_t> opened = made.outline->opened_at_first();
        for (const OutlineGroup& group : made.outline->groups()) {
            opened = with_opened(*made.outline, opened, group.key);
            QVERIFY(count_boxes(*made.outline, opened) <= static_cast<uint32_t>(most_boxes));
            QVERIFY(std::find(opened.begin(), opened.end(), group.key) != opened.end());
        }
        QCOMPARE(flaw(*made.scene(opened)), QString());
    }

    void drawings_are_valid_and_deterministic() {
        for (const SyntheticGraph& graph : {transformer_graph(), retained_outputs_graph(), chain_graph(3000)}) {
            const Outlined made(graph);
            std::vector<uint64_t> opened = made.outline->opened_at_first();
            for (int more = 0; more < 6; ++more) {
                const auto scene = made.scene(opened), again = made.scene(opened);
                QCOMPARE(flaw(*scene), QString());
                for (size_t b = 0; b < scene->boxes.size(); ++b) {
                    QCOMPARE(scene->boxes[b].rect, again->boxes[b].rect);
                }
                const auto closed = std::find_if(scene->boxes.begin(), scene->boxes.end(),
                                                 [](const GraphBox& box) { return !box.is_node() && !box.open; });
                if (closed == scene->boxes.end()) {
                    break;
                }
                opened = with_opened(*made.outline, opened, closed->key);
            }
        }
    }

    void opening_a_group_leaves_the_order_of_the_others() {
        const Outlined made(transformer_graph());
        const std::vector<uint64_t> opened = made.outline->opened_at_first();
        const auto before = made.scene(opened);
        const auto after = made.scene(with_opened(*made.outline, opened, made.find(GroupKind::repeat)->key));
        for (const GraphBox& a : before->boxes) {
            for (const GraphBox& b : before->boxes) {
                if (a.parent == b.parent && a.rect.bottom() < b.rect.top()) {
                    QVERIFY(after->boxes[static_cast<size_t>(after->find(a.key))].rect.top() <
                            after->boxes[static_cast<size_t>(after->find(b.key))].rect.top());
                }
            }
        }
    }

    void layout_survives_cycles() {
        Progress progress;
        const std::vector<QSizeF> boxes(4, QSizeF(100, 40));
        const auto layout = lay_out(boxes, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 3}}, {}, progress);
        QVERIFY(layout);
        QCOMPARE(std::count(layout->upward.begin(), layout->upward.end(), true), 2);
        for (size_t a = 0; a < boxes.size(); ++a) {
            for (size_t b = a + 1; b < boxes.size(); ++b) {
                QVERIFY(!QRectF(layout->top_left[a], boxes[a]).intersects(QRectF(layout->top_left[b], boxes[b])));
            }
        }
        progress.canceled = true;
        QVERIFY(!lay_out(boxes, {{0, 1}}, {}, progress));
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::GraphOutlineTest)
#include "test_graph_outline.moc"
