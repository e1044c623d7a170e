// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The summary: groups that add up to the active bytes, counters, selection.
#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>

#include "gui/table/summary_table.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class SummaryViewTest : public QObject {
    Q_OBJECT

private slots:
    void attribution_adds_up_for_every_grouping() {
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            const EventNumber n = session->selection().state().time_point.event;
            for (const GroupBy by : {GroupBy::stack, GroupBy::line, GroupBy::file, GroupBy::size, GroupBy::stream,
                                     GroupBy::pool, GroupBy::annotation}) {
                AttributionModel model;
                model.show(session->shared_trace(),
                           std::make_shared<const Attribution>(
                               attribution_at(session->trace(), session->device(), session->analysis().live(), n, by)),
                           by);
                QCOMPARE(model.total().block_bytes, session->analysis().curves().value(Series::active, n));
            }
        }
    }

    void models_obey_the_contract() {
        const auto session = synthetic_session();
        AttributionModel attribution;
        QAbstractItemModelTester attribution_tester(&attribution,
                                                    QAbstractItemModelTester::FailureReportingMode::QtTest);
        attribution.show(session->shared_trace(),
                         std::make_shared<const Attribution>(attribution_at(
                             session->trace(), session->device(), session->analysis().live(), 6, GroupBy::stack)),
                         GroupBy::stack);
        QCOMPARE(attribution.rowCount(), 4);  // three stacks and the total
        attribution.sort(AttributionModel::block_size, Qt::AscendingOrder);
        QVERIFY(attribution.group_at(0)->block_bytes <= attribution.group_at(1)->block_bytes);
        QVERIFY(!attribution.group_at(3));
        for (int column = 0; column < AttributionModel::column_count; ++column) {
            attribution.sort(column, Qt::DescendingOrder);
        }
        CountersModel counters;
        QAbstractItemModelTester counters_tester(&counters, QAbstractItemModelTester::FailureReportingMode::QtTest);
        counters.show(std::make_shared<const Counters>(session->analysis().statistics().at(6)));
        QCOMPARE(counters.rowCount(), 9 * 3 + 2 + 4);
        QCOMPARE(counters.index(0, CountersModel::current).data(Qt::ToolTipRole).toString(), QString("7,168 bytes"));
        counters.show(nullptr);
        QCOMPARE(counters.rowCount(), 0);
    }

    void follows_the_cursor_and_selects_stacks() {
        const auto session = synthetic_session();
        session->selection().set_time_point(6);
        SummaryTable table;
        table.resize(900, 300);
        table.set_session(session.get());
        table.show();
        QTRY_COMPARE(table.attribution().total().block_bytes, int64_t{4096 + 2048 + 1024});
        session->selection().set_time_point(0);
        QTRY_COMPARE(table.attribution().total().block_bytes, int64_t{4096});
        session->selection().set_time_point(6);
        QTRY_COMPARE(table.attribution().rowCount(), 4);
        const auto views = table.findChildren<QTableView*>();
        auto* view = views[0]->model() == &table.attribution() ? views[0] : views[1];
        const StackId stack = session->device().allocations.stack[1];
        session->selection().select_stack(stack);
        QCOMPARE(view->currentIndex().row(), table.attribution().row_of_stack(stack));
        view->selectRow(1);
        QCOMPARE(session->selection().state().stack, std::optional(table.attribution().group_at(1)->stack));
    }

    void names_have_the_room_that_the_numbers_leave() {
        const auto session = synthetic_session();
        session->selection().set_time_point(6);
        QTabWidget tabs;
        tabs.addTab(new QWidget, QStringLiteral("first"));
        auto* table = new SummaryTable;
        tabs.addTab(table, QStringLiteral("second"));
        tabs.resize(1400, 160);  // with a scroll bar
        table->set_session(session.get());
        tabs.show();
        tabs.setCurrentWidget(table);
        QTRY_COMPARE(table->attribution().rowCount(), 4);
        const auto views = table->findChildren<QTableView*>();
        auto* view = views[0]->model() == &table->attribution() ? views[0] : views[1];
        QTRY_COMPARE(view->horizontalHeader()->length(), view->viewport()->width());
    }

    void counters_are_computed_on_demand() {
        const auto session = synthetic_session();
        SummaryTable table;
        table.resize(900, 300);
        table.set_session(session.get());
        table.show();
        QTRY_VERIFY(!table.busy());
        QCOMPARE(table.counters().rowCount(), 0);
        table.show_counters(true);
        QTRY_VERIFY(table.counters().rowCount() > 0);
        QTemporaryDir folder;
        QSignalSpy finished(&table, &SummaryTable::export_finished);
        table.export_csv(folder.filePath("counters.csv"));
        QCOMPARE(finished.takeFirst().at(1).toString(), QString());
        QVERIFY(QFile::exists(folder.filePath("counters.csv")));
    }

    void says_when_nothing_is_open() {
        SummaryTable table;
        table.resize(600, 200);
        QVERIFY(has_content(table.grab().toImage()));
        const auto session = synthetic_session();
        table.set_session(session.get());
        table.set_session(nullptr);
        QCOMPARE(table.attribution().rowCount(), 0);
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::SummaryViewTest)
#include "test_summary_view.moc"
