// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The allocation table: filters, orders, selection both ways, copy and export.
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
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
        table.findChildren<QCheckBox*>().at(0)->setChecked(true);
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
        table.export_csv(folder.filePath("a.csv"));
        QVERIFY(table.is_exporting());
        QVERIFY(finished.wait());
        QCOMPARE(finished.takeFirst().at(1).toString(), QString());
        QVERIFY(!table.is_exporting());
        QFile file(folder.filePath("a.csv"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().count("\r\n"), 5);
        table.export_csv("/not/a/folder/a.csv");
        QVERIFY(finished.wait());
        QVERIFY(!finished.takeFirst().at(1).toString().isEmpty());
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
            session->shared_analysis(), *table.model().rows(), {}, {"a"}, folder.filePath("a.csv")};
        QVERIFY(!write_allocations(wanted, progress));
        QVERIFY(!QFile::exists(wanted.path));
        table.export_csv(wanted.path);
        table.cancel_export();
        QVERIFY(!table.is_exporting());
        QVERIFY(QThreadPool::globalInstance()->waitForDone(5000));
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
