// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The allocation table: filters, orders, selection both ways, copy and export.
#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>

#include "gui/table/allocation_table.h"
#include "gui/widgets/delimited.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class AllocationTableViewTest : public QObject {
    Q_OBJECT

private:
    static std::vector<AllocationIndex> found(const Session& session, const AllocationQuery& query) {
        Progress progress;
        return find_allocations(session.analysis(), query, progress)->rows;
    }
    using Rows = std::vector<AllocationIndex>;

    static QAction* action(const QWidget& table, const char* text) {
        for (QAction* action : table.findChildren<QAction*>()) {
            if (action->text() == QLatin1String(text)) {
                return action;
            }
        }
        qFatal("no action %s", text);
    }
    /// Returns the names of groups and the numbers of allocations, from the top.
    static QStringList shown_rows(AllocationModel& model) {
        QStringList rows;
        for (int row = 0; row < model.rowCount(); ++row) {
            const AllocationGroup* group = model.group_at(row);
            rows << (group ? group->name : QString::number(model.allocation_at(row)));
        }
        return rows;
    }

private slots:
    void filters() {
        const auto session = synthetic_session();
        AllocationQuery by_event;
        by_event.sort_by = AllocationColumn::id;
        by_event.descending = false;
        QCOMPARE(found(*session, by_event), (Rows{0, 1, 2, 3}));
        AllocationQuery q = by_event;
        q.text = "TRAIN.PY:20";
        QCOMPARE(found(*session, q), (Rows{1, 3}));
        q = by_event;
        q.text = "next_b";
        QCOMPARE(found(*session, q), (Rows{2}));
        q = by_event;
        q.min_block_size = 2000;
        q.max_block_size = 4000;
        QCOMPARE(found(*session, q), (Rows{2}));
        q = by_event;
        q.address = 0x1001001;
        QCOMPARE(found(*session, q), (Rows{1, 3}));
        q.address = 0x1001400;
        QCOMPARE(found(*session, q), (Rows{2}));
        q = by_event;
        q.alive_at = 3;
        QCOMPARE(found(*session, q), (Rows{0, 1, 2}));
        q = by_event;
        q.never_freed = true;
        QCOMPARE(found(*session, q), (Rows{0, 3}));
        q = by_event;
        q.stack = session->device().allocations.stack[1];
        QCOMPARE(found(*session, q), (Rows{1, 3}));
        q = by_event;
        q.min_lifetime = 3000;  // 1 lives 2 µs, 2 lives 4 µs
        QCOMPARE(found(*session, q), (Rows{0, 2, 3}));
        q.max_lifetime = 4000;
        QCOMPARE(found(*session, q), (Rows{2}));
        q = by_event;
        q.active_within = std::pair<EventNumber, EventNumber>(5, 5);
        QCOMPARE(found(*session, q), (Rows{0, 2}));
        q = by_event;
        q.pool = 1;
        QCOMPARE(found(*session, q), Rows{});
        q = by_event;
        q.category = Category::gradient;
        QCOMPARE(found(*session, q), Rows{});
    }

    void groups_have_sums_and_keep_the_order_of_their_rows() {
        const auto session = synthetic_session();
        Progress progress;
        AllocationQuery q;
        q.group_by = TableGrouping::line;
        const auto rows = find_allocations(session->analysis(), q, progress);
        QCOMPARE(rows->groups.size(), size_t{3});
        QCOMPARE(rows->rows, (Rows{0, 2, 1, 3}));
        QCOMPARE(rows->groups[0].name, QStringLiteral("no Python frame"));  // 4096 bytes
        const AllocationGroup& train = rows->groups[2];
        QVERIFY2(train.name.contains("train.py:20"), qPrintable(train.name));
        QCOMPARE(train.count(), 2U);
        QCOMPARE(train.block_bytes, uint64_t{2048});
        QCOMPARE(train.requested, uint64_t{2001});
        QCOMPARE(train.largest, uint64_t{1024});
        QCOMPARE(train.longest, INT64_MAX);
        q.sort_by = AllocationColumn::count;
        QVERIFY(find_allocations(session->analysis(), q, progress)->groups[0].name.contains("train.py"));
        for (int grouping = 1; grouping < table_grouping_count; ++grouping) {
            q.group_by = static_cast<TableGrouping>(grouping);
            q.iterations = session->shared_iterations();
            uint64_t bytes = 0;
            for (const AllocationGroup& group : find_allocations(session->analysis(), q, progress)->groups) {
                bytes += group.block_bytes;
                QVERIFY(!group.name.isEmpty());
            }
            QCOMPARE(bytes, uint64_t{8192});
        }
    }

    void groups_expand_and_stay_expanded() {
        const auto session = synthetic_session();
        AllocationModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        Progress progress;
        AllocationQuery q;
        q.group_by = TableGrouping::line;
        model.show(session->shared_analysis(), find_allocations(session->analysis(), q, progress));
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.row_of(3), -1);
        model.set_expanded(2, true);
        QCOMPARE(model.rowCount(), 5);
        QCOMPARE(model.allocation_at(4), AllocationIndex{3});
        QCOMPARE(model.row_of(3), 4);
        QCOMPARE(model.allocation_at(2), no_allocation);
        q.sort_by = AllocationColumn::count;
        model.show(session->shared_analysis(), find_allocations(session->analysis(), q, progress));
        QVERIFY2(model.is_expanded(0), "the group is the first one now");
        QCOMPARE(shown_rows(model).mid(1, 2), (QStringList{"1", "3"}));
        model.set_expanded(0, false);
        QCOMPARE(model.rowCount(), 3);
        model.set_all_expanded(true);
        QCOMPARE(model.rowCount(), 7);
    }

    void keys_expand_groups_and_a_group_is_selected_in_every_pane() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        table.set_grouping(TableGrouping::line);
        QTRY_COMPARE(table.model().rowCount(), 3);
        QVERIFY(table.shows_column(AllocationColumn::count));
        auto* view = table.findChild<QTableView*>();
        view->selectRow(2);
        QVERIFY(session->selection().state().memory != nullptr);
        QCOMPARE(*session->selection().state().memory, (Rows{1, 3}));
        QTest::keyClick(view, Qt::Key_Right);
        QCOMPARE(table.model().rowCount(), 5);
        view->selectRow(4);
        QCOMPARE(session->selection().state().allocation, AllocationIndex{3});
        QVERIFY2(session->selection().state().memory != nullptr, "the allocation is a part of the selected memory");
        QTest::keyClick(view, Qt::Key_Left);
        QCOMPARE(table.model().rowCount(), 3);
        table.set_grouping(TableGrouping::none);
        QTRY_COMPARE(table.model().rowCount(), 4);
        QVERIFY(!table.shows_column(AllocationColumn::count));
    }

    void every_filter_is_a_chip_that_removes_it() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        QTRY_COMPARE(table.model().rowCount(), 4);
        QVERIFY(!table.chips().isVisible());
        const auto fields = table.findChildren<QLineEdit*>();
        fields.at(0)->setText("train.py");
        fields.at(1)->setText("1 KiB");
        fields.at(4)->setText("1 s");
        session->selection().select_memory(std::make_shared<const Rows>(Rows{1, 2}), "a finding");
        table.show_selection_only();
        QTRY_COMPARE(table.model().rowCount(), 1);
        QCOMPARE(table.chips().names(), (QStringList{"Contains “train.py”", "Block size from 1 KiB",
                                                     "Lifetime up to 1 s", "Selection: a finding"}));
        const auto buttons = table.chips().findChildren<QPushButton*>();
        QCOMPARE(buttons.size(), 5);
        QCOMPARE(buttons.at(0)->accessibleName(), QStringLiteral("Remove the filter: Contains “train.py”"));
        buttons.at(0)->click();
        QTRY_COMPARE(table.model().rowCount(), 2);
        QVERIFY(fields.at(0)->text().isEmpty());
        table.chips().clear_all();
        QTRY_COMPARE(table.model().rowCount(), 4);
        QVERIFY(!table.chips().isVisible());
    }

    void the_time_range_is_a_filter() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        action(table, "Selected time range")->setChecked(true);
        QTRY_COMPARE(table.model().rowCount(), 4);
        QCOMPARE(table.chips().names(), QStringList{"Time range: none is selected"});
        session->selection().select_range(std::pair(0.0, 500.0));
        QTRY_COMPARE(table.model().rowCount(), 1);
        QVERIFY(table.chips().names().front().startsWith("Active from"));
    }

    void orders_are_right_for_every_column() {
        const auto session = synthetic_session();
        AllocationQuery q;
        QCOMPARE(found(*session, q), (Rows{0, 2, 1, 3}));  // block size, descending; ties by event
        q.sort_by = AllocationColumn::freed_at;
        q.descending = false;
        QCOMPARE(found(*session, q), (Rows{1, 2, 0, 3}));
        q.sort_by = AllocationColumn::line;
        QCOMPARE(found(*session, q).back(), AllocationIndex{3});
        q.sort_by = AllocationColumn::rounding;
        QCOMPARE(found(*session, q), (Rows{0, 3, 1, 2}));
        for (int column = 0; column < allocation_column_count; ++column) {
            q.sort_by = static_cast<AllocationColumn>(column);
            QCOMPARE(found(*session, q).size(), size_t{4});
        }
    }

    void canceled_work_returns_nothing() {
        const auto session = synthetic_session();
        Progress progress;
        progress.canceled = true;
        QVERIFY(!find_allocations(session->analysis(), {}, progress));
    }

    void model_obeys_the_contract() {
        const auto session = synthetic_session();
        AllocationModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        Progress progress;
        model.show(session->shared_analysis(), find_allocations(session->analysis(), {}, progress));
        QCOMPARE(model.rowCount(), 4);
        QCOMPARE(model.row_of(3), 3);
        QCOMPARE(model.allocation_at(1), AllocationIndex{2});
        model.show(nullptr, nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void selection_goes_both_ways() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        QTRY_COMPARE(table.model().rowCount(), 4);
        auto* view = table.findChild<QTableView*>();
        session->selection().select_allocation(3);
        QCOMPARE(view->currentIndex().row(), 3);
        view->selectRow(1);
        QCOMPARE(session->selection().state().allocation, AllocationIndex{2});
        session->selection().clear();
        QVERIFY(view->selectionModel()->selectedRows().isEmpty());
    }

    void fields_filter_the_rows() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        QTRY_COMPARE(table.model().rowCount(), 4);
        table.findChildren<QLineEdit*>().at(0)->setText("data.py");
        QTRY_COMPARE(table.model().rowCount(), 1);
        table.findChildren<QLineEdit*>().at(0)->clear();
        QTRY_COMPARE(table.model().rowCount(), 4);
        table.findChildren<QLineEdit*>().at(1)->setText("1.5KiB");
        QTRY_COMPARE(table.model().rowCount(), 2);
        table.findChildren<QLineEdit*>().at(1)->clear();
        action(table, "Alive at cursor")->setChecked(true);
        session->selection().set_time_point(0);
        QTRY_COMPARE(table.model().rowCount(), 1);
        session->selection().set_time_point(6);
        QTRY_COMPARE(table.model().rowCount(), 3);
    }

    void copies_and_exports_exact_values() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        QTRY_COMPARE(table.model().rowCount(), 4);
        session->selection().select_allocation(2);
        table.copy_selection();
        const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        QVERIFY(lines[1].contains("\t2048\t"));
        QTemporaryDir folder;
        QSignalSpy finished(&table, &AllocationTable::export_finished);
        table.export_rows(folder.filePath("a.csv"));
        QVERIFY(table.is_exporting());
        QVERIFY(finished.wait());
        QCOMPARE(finished.takeFirst().at(1).toString(), QString());
        QVERIFY(!table.is_exporting());
        QFile file(folder.filePath("a.csv"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().count("\r\n"), 5);
        QVERIFY2(table.result().contains("a.csv"), qPrintable(table.result()));
        table.export_rows("/not/a/folder/a.csv");
        QVERIFY(finished.wait());
        const QString error = finished.takeFirst().at(1).toString();
        QVERIFY(!error.isEmpty());
        QCOMPARE(table.result(), error);
        table.export_rows(folder.filePath("a.md"));
        QVERIFY(finished.wait());
        QFile markdown(folder.filePath("a.md"));
        QVERIFY(markdown.open(QIODevice::ReadOnly));
        QVERIFY(markdown.readAll().startsWith("| Allocation | Address |"));
    }

    void all_rows_or_groups_are_copied() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        QTRY_COMPARE(table.model().rowCount(), 4);
        QSignalSpy finished(&table, &AllocationTable::export_finished);
        table.copy_all(TableFormat::csv);
        QVERIFY(finished.wait());
        QCOMPARE(QGuiApplication::clipboard()->text().count("\r\n"), 5);
        QVERIFY2(table.result().contains("4"), qPrintable(table.result()));
        table.set_grouping(TableGrouping::line);
        QTRY_COMPARE(table.model().rowCount(), 3);
        table.copy_all(TableFormat::markdown);
        QVERIFY(finished.wait());
        const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 5);
        QVERIFY2(lines[0].startsWith("| Group | Count |"), qPrintable(lines[0]));
        QVERIFY2(lines[2].contains("no Python frame | 1 | 4096 |"), qPrintable(lines[2]));
    }

    void rows_are_copied_as_markdown_with_the_columns_that_are_shown() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.resize(1200, 300);
        table.set_session(session.get());
        table.show();
        QTRY_COMPARE(table.model().rowCount(), 4);
        for (int column = 0; column < allocation_column_count; ++column) {
            const auto each = static_cast<AllocationColumn>(column);
            table.set_column_wanted(each, each == AllocationColumn::line || each == AllocationColumn::block_size);
        }
        session->selection().select_allocation(2);
        table.copy_selection_as_markdown();
        const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 3);
        QCOMPARE(lines[0], QStringLiteral("| Line | Block size |"));
        QCOMPARE(lines[1], QStringLiteral("| --- | ---: |"));
        QVERIFY2(lines[2].endsWith(QStringLiteral("| 2.00 KiB |")), qPrintable(lines[2]));
    }

    void columns_are_remembered() {
        const auto session = synthetic_session();
        AllocationTable first, second;
        first.set_session(session.get());
        QVERIFY2(!first.shows_column(AllocationColumn::category), "no categories are recorded");
        first.set_column_wanted(AllocationColumn::address, false);
        second.restore_state(first.save_state());
        second.set_session(session.get());
        QVERIFY(!second.shows_column(AllocationColumn::address));
        QVERIFY(second.shows_column(AllocationColumn::requested));
        QVERIFY(!second.shows_column(AllocationColumn::category));
        second.restore_state("not a state");
        QVERIFY(second.shows_column(AllocationColumn::line));
    }

    void a_canceled_export_leaves_no_file() {
        const auto session = synthetic_session();
        AllocationTable table;
        table.show();
        table.set_session(session.get());
        QTRY_VERIFY(table.model().rows() != nullptr);
        QTemporaryDir folder;
        QSignalSpy finished(&table, &AllocationTable::export_finished);
        Progress progress;
        progress.canceled = true;
        const AllocationExport wanted{
            session->shared_analysis(), table.model().shared_rows(), {}, TableFormat::csv, folder.filePath("a.csv")};
        QVERIFY(!write_allocations(wanted, progress));
        QVERIFY(!QFile::exists(wanted.path));
        table.export_rows(wanted.path);
        table.cancel_export();
        QVERIFY(!table.is_exporting());
        QVERIFY(worker_threads()->waitForDone(5000));
        QCoreApplication::processEvents();
        QCOMPARE(finished.size(), 0);
    }

    void csv_cells_are_quoted() {
        QCOMPARE(csv_line({"a", "b,c", "d\"e"}), QString("a,\"b,c\",\"d\"\"e\"\r\n"));
        QCOMPARE(csv_line({"=HYPERLINK(1)", "@x", "-5", "-x"}), QString("'=HYPERLINK(1),'@x,-5,'-x\r\n"));
        QCOMPARE(tsv_line({"a\tb", "c"}), QString("a b\tc\n"));
    }

    void shows_all_of_recorded_traces() {
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            AllocationQuery q;
            q.alive_at = session->selection().state().time_point;
            Progress progress;
            const auto alive = find_allocations(session->analysis(), q, progress);
            QCOMPARE(static_cast<int64_t>(alive->block_bytes),
                     session->analysis().curves().value(Series::active, *q.alive_at));
        }
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::AllocationTableViewTest)
#include "test_allocation_table_view.moc"
