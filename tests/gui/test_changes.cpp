// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The changes within the selected range: sums, sorting, following, and the new memory of a group.
#include <QAbstractItemModelTester>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>

#include "gui/changes/changes_pane.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class TestChanges : public QObject {
    Q_OBJECT

    std::unique_ptr<Session> session_;

    int64_t active(EventNumber state) const { return session_->analysis().curves().value(Series::active, state); }
    void select(EventNumber begin, EventNumber end) {
        const TimeView& view = session_->time_view();
        session_->selection().select_range(std::pair(view.position_of(begin), view.position_of(end)));
    }

private slots:
    void init() {
        session_ = recorded_session("gpt_ring");
        if (!session_) {
            QSKIP("no recorded snapshots");
        }
        session_->time_view().set_axis(TimeAxis::event_index);
    }

    void the_model_obeys_the_contract() {
        ChangesModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const EventNumber end = session_->device().event_count();
        const auto changes = std::make_shared<const Changes>(changes_between(
            session_->trace(), session_->device(), session_->analysis().live(), end / 3, end / 2, GroupBy::line));
        model.show(changes);
        QCOMPARE(model.rowCount(), static_cast<int>(changes->groups.size()));
        for (int column = 0; column < ChangesModel::column_count; ++column) {
            model.sort(column, Qt::AscendingOrder);
            model.sort(column, Qt::DescendingOrder);
        }
        model.sort(ChangesModel::end, Qt::DescendingOrder);
        QVERIFY(model.group_at(0).end.bytes >= model.group_at(1).end.bytes);
        int64_t difference = 0;
        for (int row = 0; row < model.rowCount(); ++row) {
            const ChangedGroup& group = model.group_at(row);
            QCOMPARE(group.difference(), group.made.bytes - group.freed.bytes);
            difference += group.difference();
        }
        QCOMPARE(difference, active(end / 2) - active(end / 3));
        model.show(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void categories_have_the_colors_of_the_plots() {
        Changes changes;
        changes.by = GroupBy::category;
        changes.groups.resize(1);
        changes.groups[0].name = category_name(Category::saved);
        ChangesModel model;
        model.show(std::make_shared<const Changes>(changes));
        QCOMPARE(model.index(0, ChangesModel::name).data(Qt::DecorationRole).value<QColor>(),
                 category_color(Theme::current(), Category::saved));
        QVERIFY(!model.index(0, ChangesModel::kind).data(Qt::DecorationRole).isValid());
        changes.by = GroupBy::line;
        model.show(std::make_shared<const Changes>(changes));
        QVERIFY(!model.index(0, ChangesModel::name).data(Qt::DecorationRole).isValid());
    }

    void stacks_have_the_names_of_the_other_tables() {
        const EventNumber end = session_->device().event_count();
        const auto changes = std::make_shared<const Changes>(changes_between(
            session_->trace(), session_->device(), session_->analysis().live(), 0, end / 2, GroupBy::stack));
        ChangesModel model;
        model.show(changes, ComparedPoints::range, &session_->trace().stacks);
        QStringList names;
        for (int row = 0; row < model.rowCount(); ++row) {
            const StackId stack = model.group_at(row).stack;
            const QString name = model.index(row, ChangesModel::name).data().toString();
            QCOMPARE(name, stack_text(session_->trace().stacks, stack));
            names << name;
        }
        QVERIFY(names.filter(QStringLiteral(" → ")).size() > 0);
    }

    void it_follows_the_range() {
        ChangesPane pane;
        pane.resize(900, 300);
        pane.set_session(session_.get());
        pane.show();
        QTRY_VERIFY(!pane.busy());
        QCOMPARE(pane.model().rowCount(), 0);
        QVERIFY(pane.summary().isEmpty());
        const EventNumber end = session_->device().event_count();
        select(end / 3, end / 2);
        QVERIFY(pane.findChild<QLabel*>(QStringLiteral("note"))->isVisible());
        QTRY_VERIFY(pane.model().rowCount() > 0);
        QVERIFY(pane.findChild<QLabel*>(QStringLiteral("note"))->isHidden());
        QVERIFY(pane.summary().contains(bytes_text(active(end / 3))));
        QVERIFY(pane.summary().contains(bytes_text(active(end / 2))));
        select(end / 2, end);
        QTRY_VERIFY(pane.summary().contains(bytes_text(active(end))));
        session_->selection().select_range(std::nullopt);
        QTRY_COMPARE(pane.model().rowCount(), 0);
    }

    void a_group_highlights_its_new_memory() {
        ChangesPane pane;
        pane.resize(900, 300);
        pane.set_session(session_.get());
        pane.show();
        select(session_->device().event_count() / 3, session_->device().event_count() / 2);
        QTRY_VERIFY(pane.model().rowCount() > 0);
        for (int row = 0; row < pane.model().rowCount(); ++row) {
            if (const ChangedGroup& group = pane.model().group_at(row); !group.new_allocations.empty()) {
                pane.findChild<QTableView*>()->setCurrentIndex(pane.model().index(row, 0));
                const SelectionState& state = session_->selection().state();
                QVERIFY(state.memory && *state.memory == group.new_allocations);
                QVERIFY2(state.range, "the range stays");
                return;
            }
        }
        QFAIL("nothing is new in this range");
    }

    void another_trace_is_compared_until_it_is_closed() {
        ChangesPane pane;
        pane.resize(900, 300);
        pane.set_session(session_.get());
        pane.show();
        QSignalSpy requested(&pane, &ChangesPane::trace_requested);
        auto* compare = pane.findChild<QPushButton*>();
        compare->click();
        QCOMPARE(requested.count(), 1);
        std::shared_ptr<Session> other = recorded_session("frag_oom");
        const int64_t peak = other->analysis().curves().value(Series::active, other->selection().state().time_point);
        pane.compare_with(other);
        QTRY_VERIFY(pane.model().rowCount() > 0);
        QVERIFY(pane.findChild<QLabel*>(QStringLiteral("note"))->isHidden());
        QVERIFY(pane.summary().contains(bytes_text(peak)));
        int64_t a = 0, b = 0;
        for (int row = 0; row < pane.model().rowCount(); ++row) {
            a += pane.model().group_at(row).begin.bytes;
            b += pane.model().group_at(row).end.bytes;
        }
        QCOMPARE(a, session_->analysis().curves().value(Series::active, session_->selection().state().time_point));
        QCOMPARE(b, peak);
        // The cursor of A says where to compare.
        session_->selection().set_time_point(session_->device().event_count() / 2);
        QTRY_VERIFY(pane.summary().contains(bytes_text(active(session_->device().event_count() / 2))));
        pane.stop_comparing();
        QVERIFY(!pane.compares_traces());
        QTRY_COMPARE(pane.model().rowCount(), 0);
    }

    void differences_have_a_sign() {
        QCOMPARE(change_text(484 << 10), QStringLiteral("+484 KiB"));
        QCOMPARE(change_text(-(2 << 20)), QStringLiteral("−2.00 MiB"));
        QCOMPARE(change_text(0), QStringLiteral("0"));
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::TestChanges)
#include "test_changes.moc"
