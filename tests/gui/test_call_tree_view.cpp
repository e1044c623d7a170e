// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The call tree: follows the cursor, a finding and a range; zooms, is walked with keys, finds frames.
#include <QCheckBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QShortcut>
#include <QSignalSpy>

#include "gui/tree/tree_pane.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

// Of sample_trace(), at event 6: 4096 bytes without a stack; 2048 bytes of next_batch (data.py); 1024 bytes of
// forward (torch's linear.py), called by train_step (train.py), called by <module> (main.py).
constexpr EventNumber three_alive = 6;

class CallTreeViewTest : public QObject {
    Q_OBJECT

private:
    static std::unique_ptr<TreePane> shown_pane(Session* session) {
        auto pane = std::make_unique<TreePane>();
        pane->resize(900, 400);
        pane->set_session(session);
        pane->show();
        wait(*pane);
        return pane;
    }

    static void wait(TreePane& pane) { QTRY_VERIFY(!pane.busy() && pane.view().shown()); }

    static uint32_t node_named(TreePane& pane, const QString& text) {
        const ShownTree& shown = *pane.view().shown();
        for (uint32_t n = 1; n < shown.tree.nodes().size(); ++n) {
            if (node_text(shown, n) == text) {
                return n;
            }
        }
        return CallTree::root;
    }

    static QString focused_text(TreePane& pane) { return node_text(*pane.view().shown(), pane.view().focused()); }
    static uint64_t total(TreePane& pane) { return pane.view().shown()->tree.node(CallTree::root).total; }
    static QPoint middle(TreePane& pane, uint32_t node) { return pane.view().box_rect(node).center().toPoint(); }
    static void press(TreePane& pane, Qt::Key key) { QTest::keyClick(&pane.view(), key); }

private slots:
    void follows_the_cursor() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        QCOMPARE(total(*pane), uint64_t{4096 + 2048 + 1024});
        QVERIFY(node_named(*pane, QStringLiteral("train_step (train.py:20)")) != CallTree::root);
        session->selection().set_time_point(0);
        wait(*pane);
        QCOMPARE(total(*pane), uint64_t{4096});
        QCOMPARE(node_text(*pane->view().shown(), 1), QStringLiteral("no stack recorded"));
    }

    void computes_nothing_while_hidden() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        TreePane pane;
        pane.set_session(session.get());
        session->selection().set_time_point(0);
        QTest::qWait(100);
        QVERIFY(!pane.busy() && !pane.view().shown());
        pane.show();
        wait(pane);
        QCOMPARE(total(pane), uint64_t{4096});
    }

    void widths_are_bytes() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        const QRectF whole = pane->view().box_rect(CallTree::root);
        QCOMPARE(whole.width(), static_cast<double>(pane->view().viewport()->width()));
        const QRectF data = pane->view().box_rect(node_named(*pane, QStringLiteral("next_batch (data.py:10)")));
        QVERIFY(qAbs(data.width() - whole.width() * 2048 / 7168) < 1);
        QCOMPARE(data.top(), whole.bottom());
        QCOMPARE(data.left(), pane->view().box_rect(node_named(*pane, QStringLiteral("no stack recorded"))).right());
    }

    void a_click_zooms_and_keys_zoom_out_step_by_step() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        TreeView& view = pane->view();
        const uint32_t main = node_named(*pane, QStringLiteral("<module> (main.py:30)"));
        const uint32_t step = node_named(*pane, QStringLiteral("train_step (train.py:20)"));
        const double width = view.box_rect(CallTree::root).width();
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, middle(*pane, main));
        QCOMPARE(view.zoomed(), main);
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, middle(*pane, step));
        QCOMPARE(view.zoomed(), step);
        // Ancestors stay above, as wide as the picture.
        QCOMPARE(view.box_rect(step).width(), width);
        QCOMPARE(view.box_rect(main).width(), width);
        QVERIFY(view.box_rect(node_named(*pane, QStringLiteral("next_batch (data.py:10)"))).isEmpty());
        press(*pane, Qt::Key_Backspace);
        QCOMPARE(view.zoomed(), main);
        press(*pane, Qt::Key_Escape);
        QCOMPARE(view.zoomed(), uint32_t{CallTree::root});
        view.zoom_to(step);
        press(*pane, Qt::Key_Home);
        QCOMPARE(view.zoomed(), uint32_t{CallTree::root});
        QVERIFY(!session->selection().state().stack && session->selection().state().allocation == no_allocation);
    }

    void escape_belongs_to_the_window_unless_zoomed() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        pane->activateWindow();
        pane->view().setFocus();
        QShortcut clear(QKeySequence(Qt::Key_Escape), pane.get());
        QSignalSpy cleared(&clear, &QShortcut::activated);
        pane->view().zoom_to(node_named(*pane, QStringLiteral("<module> (main.py:30)")));
        press(*pane, Qt::Key_Escape);
        QCOMPARE(cleared.size(), 0);
        QCOMPARE(pane->view().zoomed(), uint32_t{CallTree::root});
        press(*pane, Qt::Key_Escape);
        QCOMPARE(cleared.size(), 1);
    }

    void arrows_move_the_focus_and_enter_zooms() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        press(*pane, Qt::Key_Down);
        QCOMPARE(focused_text(*pane), QStringLiteral("no stack recorded"));
        press(*pane, Qt::Key_Right);
        QCOMPARE(focused_text(*pane), QStringLiteral("next_batch (data.py:10)"));
        press(*pane, Qt::Key_Right);
        press(*pane, Qt::Key_Right);  // there is none
        QCOMPARE(focused_text(*pane), QStringLiteral("<module> (main.py:30)"));
        press(*pane, Qt::Key_Down);
        press(*pane, Qt::Key_Return);
        QCOMPARE(focused_text(*pane), QStringLiteral("train_step (train.py:20)"));
        QCOMPARE(pane->view().zoomed(), pane->view().focused());
        QVERIFY(pane->view().accessibleDescription().startsWith(
            QStringLiteral("train_step (train.py:20): 1.00 KiB in 1 allocation")));
        QVERIFY(pane->view().accessibleDescription().contains(QStringLiteral("14 %")));
        press(*pane, Qt::Key_Up);
        QCOMPARE(focused_text(*pane), QStringLiteral("<module> (main.py:30)"));
    }

    void zoom_and_focus_stay_while_the_cursor_moves() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        pane->view().zoom_to(node_named(*pane, QStringLiteral("<module> (main.py:30)")));
        session->selection().set_time_point(3);  // another allocation of the same stack
        wait(*pane);
        QCOMPARE(focused_text(*pane), QStringLiteral("<module> (main.py:30)"));
        QCOMPARE(pane->view().zoomed(), pane->view().focused());
        session->selection().set_time_point(0);  // none
        wait(*pane);
        QCOMPARE(pane->view().zoomed(), uint32_t{CallTree::root});
    }

    void a_double_click_zooms_once() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        const uint32_t step = node_named(*pane, QStringLiteral("train_step (train.py:20)"));
        QWidget* viewport = pane->view().viewport();
        QTest::mouseClick(viewport, Qt::LeftButton, {}, middle(*pane, step));
        // After a zoom that scrolls, the second click is on another frame.
        const QPointF point = middle(*pane, step + 1);
        QMouseEvent second(QEvent::MouseButtonDblClick, point, viewport->mapToGlobal(point), Qt::LeftButton,
                           Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(viewport, &second);
        QTest::mouseRelease(viewport, Qt::LeftButton, {}, point.toPoint());
        QCOMPARE(pane->view().zoomed(), step);
    }

    void return_in_the_search_moves_to_the_next_frame() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        auto* field = pane->findChild<QLineEdit*>();
        QTest::keyClicks(field, QStringLiteral("tra"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(focused_text(*pane), QStringLiteral("train_step (train.py:20)"));
        QTest::keyClick(field, Qt::Key_Return);  // there is only one
        QCOMPARE(focused_text(*pane), QStringLiteral("train_step (train.py:20)"));
    }

    void shows_the_selected_device() {
        Trace trace = tidemark::test::sample_trace();
        trace.devices.push_back(trace.devices.front());
        trace.devices.back().device = 1;
        trace.devices.back().allocations.block_size[0] = 512;
        const auto session = session_of(std::make_shared<const Trace>(std::move(trace)));
        session->selection().set_time_point(0);
        const auto pane = shown_pane(session.get());
        QCOMPARE(total(*pane), uint64_t{4096});
        session->selection().select_device(1);
        wait(*pane);
        QCOMPARE(static_cast<int64_t>(total(*pane)),
                 session->analysis().curves().value(Series::active, session->selection().state().time_point));
        QVERIFY(pane->view().shown()->request.analysis == session->shared_analysis());
    }

    void the_rows_in_view_stay_while_the_cursor_moves() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        pane->view().setFixedHeight(50);
        QTest::qWait(1);
        QScrollBar* bar = pane->view().verticalScrollBar();
        QVERIFY(bar->maximum() > 0);
        bar->setValue(bar->maximum());
        session->selection().set_time_point(3);
        wait(*pane);
        QCOMPARE(bar->value(), bar->maximum());
    }

    void search_highlights_and_sums() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        pane->search(QStringLiteral("PROJECT"));  // the folder of main.py, train.py, data.py
        QCOMPARE(pane->view().found().count, 3U);
        QVERIFY(pane->search_result().startsWith(QStringLiteral("3.00 KiB (43 %) in 3 place")));
        pane->search(QStringLiteral("forward"));
        QVERIFY(pane->search_result().startsWith(QStringLiteral("1.00 KiB (14 %) in 1 place")));
        pane->search(QStringLiteral("nowhere"));
        QCOMPARE(pane->search_result(), QStringLiteral("Nothing contains this."));
        pane->search({});
        QVERIFY(pane->search_result().isEmpty());
    }

    void a_narrow_box_keeps_the_line_number() {
        const QFontMetrics metrics{QFont()};
        const QString text = QStringLiteral("train_step (a_long_name_of_a_file.py:20)");
        const int width = metrics.horizontalAdvance(text);
        QCOMPARE(elided_frame(metrics, text, width), text);
        const QString narrow = elided_frame(metrics, text, width * 2 / 3);
        QVERIFY2(narrow.startsWith(QStringLiteral("train_step (")) && narrow.endsWith(QStringLiteral(".py:20)")),
                 qPrintable(narrow));
        QVERIFY(metrics.horizontalAdvance(narrow) <= width * 2 / 3);
        QVERIFY(!elided_frame(metrics, text, width / 4).contains(u'('));
    }

    void own_code_and_bottom_up() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        QVERIFY(node_named(*pane, QStringLiteral("forward (linear.py:10)")) != CallTree::root);
        pane->set_options({TreePath::top_down, true});
        wait(*pane);
        QCOMPARE(node_named(*pane, QStringLiteral("forward (linear.py:10)")), uint32_t{CallTree::root});
        pane->set_options({TreePath::bottom_up, true});
        wait(*pane);
        const uint32_t step = node_named(*pane, QStringLiteral("train_step (train.py:20)"));
        QCOMPARE(pane->view().shown()->tree.node(step).depth, 1U);
        QCOMPARE(node_text(*pane->view().shown(), step + 1), QStringLiteral("<module> (main.py:30)"));
    }

    void boxes_of_a_treemap_are_inside_of_their_parents_and_as_large_as_their_bytes() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        const CallTree& tree = pane->view().shown()->tree;
        const TreeLayout layout = TreeLayout::treemap(tree, CallTree::root, {600, 400}, 16);
        QVERIFY(layout.boxes().size() > 3);
        for (const TreeBox& box : layout.boxes()) {
            const uint32_t parent = tree.node(box.node).parent;
            QVERIFY(layout.box_of(parent)->rect.contains(box.rect) || box.node == CallTree::root);
            tree.for_each_child(parent, [&](uint32_t sibling) {
                if (const auto other = layout.box_of(sibling); other && !box.is_rest && box.node != CallTree::root) {
                    const double area = box.rect.width() * box.rect.height(),
                                 other_area = other->rect.width() * other->rect.height();
                    QVERIFY(qFuzzyCompare(area / other_area, static_cast<double>(tree.node(box.node).total) /
                                                                 static_cast<double>(tree.node(sibling).total)));
                }
            });
        }
        pane->set_shape(TreeShape::treemap);
        QCOMPARE(pane->view().box_rect(CallTree::root).size(), QSizeF(pane->view().viewport()->size()));
    }

    void calls_that_fill_each_other_share_a_box_of_a_treemap() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        pane->set_shape(TreeShape::treemap);
        TreeView& view = pane->view();
        const ShownTree& shown = *view.shown();
        const uint32_t outer = node_named(*pane, QStringLiteral("<module> (main.py:30)"));
        const uint32_t inner = node_named(*pane, QStringLiteral("forward (linear.py:10)"));
        QVERIFY(outer != CallTree::root && inner != CallTree::root);
        QCOMPARE(view.box_rect(outer), view.box_rect(inner));
        QVERIFY(view.box_rect(outer) != view.box_rect(CallTree::root));
        const QFontMetrics metrics(view.font());
        const QString whole = path_text(shown, outer, inner, metrics, 10000);
        QCOMPARE(whole, QStringLiteral("<module> (main.py:30) › train_step (train.py:20) › forward (linear.py:10)"));
        QCOMPARE(path_text(shown, outer, inner, metrics, metrics.horizontalAdvance(whole) - 1),
                 QStringLiteral("… › train_step (train.py:20) › forward (linear.py:10)"));
        QTest::mouseMove(view.viewport(), middle(*pane, outer));
        QTRY_VERIFY(!session->selection().hovered().empty());
        QVERIFY(
            node_tip(shown, outer, inner).contains(QStringLiteral("train_step (train.py:20) › <br><b>forward</b>")));
        // The keys go from box to box.
        press(*pane, Qt::Key_Down);
        press(*pane, Qt::Key_Right);
        press(*pane, Qt::Key_Right);
        QCOMPARE(view.focused(), inner);
        press(*pane, Qt::Key_Up);
        QCOMPARE(view.focused(), uint32_t{CallTree::root});
        // A search finds each of them.
        view.set_search(QStringLiteral("train_step"));
        view.focus_next_found();
        QCOMPARE(view.box_rect(view.focused()), view.box_rect(inner));
    }

    void modules_instead_of_calls() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        pane->set_options({TreePath::modules});
        wait(*pane);
        const ShownTree& shown = *pane->view().shown();
        QCOMPARE(shown.tree.nodes().size(), size_t{2});
        QCOMPARE(node_text(shown, 1), QStringLiteral("no module"));
        QCOMPARE(total(*pane), uint64_t{4096 + 2048 + 1024});
        QVERIFY(!pane->findChild<QCheckBox*>()->isEnabled());
    }

    void shows_the_finding_or_the_range_while_one_is_selected() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        QVERIFY(!pane->has_memory(TreeMemory::of_finding) && !pane->has_memory(TreeMemory::grown_in_range));
        SelectionState state = session->selection().state();
        state.memory = std::make_shared<const std::vector<AllocationIndex>>(std::vector<AllocationIndex>{1, 2});
        session->selection().select(state);
        QVERIFY(pane->has_memory(TreeMemory::of_finding));
        pane->set_memory(TreeMemory::of_finding);
        wait(*pane);
        QCOMPARE(total(*pane), uint64_t{2048});  // allocation 1 is freed
        const TimeView& view = session->time_view();
        session->selection().select_range(std::pair(view.position_of(4), view.position_of(6)));
        pane->set_memory(TreeMemory::grown_in_range);
        wait(*pane);
        QCOMPARE(total(*pane), uint64_t{1024});
        session->selection().select_range(std::nullopt);
        wait(*pane);
        QCOMPARE(total(*pane), uint64_t{4096 + 2048 + 1024});
        QVERIFY(!pane->has_memory(TreeMemory::grown_in_range));
    }

    void hovering_highlights_the_allocations_and_explains_the_frame() {
        const auto session = synthetic_session();
        session->selection().set_time_point(three_alive);
        const auto pane = shown_pane(session.get());
        const uint32_t main = node_named(*pane, QStringLiteral("<module> (main.py:30)"));
        QTest::mouseMove(pane->view().viewport(), middle(*pane, main));
        QTRY_COMPARE(session->selection().hovered(), (std::vector<AllocationIndex>{3}));
        const QString tip = pane->findChild<HoverTip*>()->text();
        QVERIFY(tip.contains(QStringLiteral("&lt;module&gt;")));
        QVERIFY(tip.contains(QStringLiteral("/home/anna/project/main.py:30")));
        QVERIFY(tip.contains(QStringLiteral("14 %")));
        pane->hide();
        QVERIFY(session->selection().hovered().empty());
    }

    void says_why_it_is_empty() {
        TreePane pane;
        QVERIFY(pane.view().note().startsWith(QStringLiteral("No trace is open.")));
        const auto session = synthetic_session();
        SelectionState state = session->selection().state();
        state.time_point = 0;
        state.memory = std::make_shared<const std::vector<AllocationIndex>>(std::vector<AllocationIndex>{1});
        session->selection().select(state);
        pane.set_session(session.get());
        pane.set_memory(TreeMemory::of_finding);
        pane.show();
        wait(pane);
        QVERIFY(pane.view().shown()->tree.is_empty());
        QVERIFY(pane.view().note().startsWith(QStringLiteral("None of the finding's memory")));
        QVERIFY(has_content(pane.view().grab().toImage()));
        pane.set_session(nullptr);
        QVERIFY(!pane.view().shown());
    }

    void draws_recorded_traces() {
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            const auto pane = shown_pane(session.get());
            QCOMPARE(static_cast<int64_t>(total(*pane)),
                     session->analysis().curves().value(Series::active, session->selection().state().time_point));
            QVERIFY(has_content(pane->view().grab().toImage()));
        }
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::CallTreeViewTest)
#include "test_call_tree_view.moc"
