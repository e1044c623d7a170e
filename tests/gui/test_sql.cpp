// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The SQL console: running, canceling, errors, sorting, copying, selecting an allocation, and completion.
#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBlock>
#include <QTextLayout>
#include <set>

#include "gui/sql/sql_pane.h"
#include "storage/query/query_names.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class TestSql : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<SqlPane> pane_;

    void run(const char* sql) {
        pane_->editor().replace_text(QString::fromUtf8(sql));
        pane_->run();
        QTRY_VERIFY(!pane_->busy());
    }
    QString cell(int row, int column) const { return pane_->model().index(row, column).data().toString(); }

private slots:
    void init() {
        const std::string path = folder_.filePath(QStringLiteral("run.tide")).toStdString();
        Progress progress;
        auto trace =
            import_snapshot(TIDEMARK_TEST_DATA "/snapshots/two_gpus.pickle", path, IfExists::replace, progress);
        QVERIFY(trace);
        session_ = session_of(*trace);
        pane_ = std::make_unique<SqlPane>();
        pane_->resize(1000, 320);
        pane_->set_session(session_.get());
        pane_->show();
        pane_->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(pane_.get()));
    }
    void cleanup() {
        pane_.reset();
        session_.reset();
    }

    void it_begins_with_an_example_that_has_rows() {
        QCOMPARE(pane_->editor().toPlainText(), QString::fromUtf8(query_examples().front().sql));
        pane_->run();
        QVERIFY(pane_->busy());
        QTRY_VERIFY(!pane_->busy());
        QVERIFY(pane_->error().isEmpty());
        QVERIFY(pane_->model().rowCount() > 0);
        QVERIFY(pane_->status().startsWith(QStringLiteral("%1 row").arg(pane_->model().rowCount())));
    }

    void ctrl_enter_runs_and_escape_cancels() {
        pane_->editor().replace_text(
            QStringLiteral("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"));
        pane_->editor().setFocus();
        QTest::keyClick(&pane_->editor(), Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(pane_->busy());
        QTest::qWait(50);
        QTest::keyClick(pane_.get(), Qt::Key_Escape);
        QVERIFY(!pane_->busy());
        QCOMPARE(pane_->status(), QStringLiteral("Canceled."));
        run("SELECT 7");
        QCOMPARE(cell(0, 0), QStringLiteral("7"));
    }

    void an_error_is_said_and_marked() {
        run("SELECT id,\n  block_byte FROM allocations");
        QVERIFY2(pane_->error().contains(QStringLiteral("Line 2, column 3")), qPrintable(pane_->error()));
        QCOMPARE(pane_->model().columnCount(), 0);
        const auto marked = pane_->editor().extraSelections();
        QCOMPARE(marked.size(), 1);
        QCOMPARE(marked.front().cursor.selectedText(), QStringLiteral("block_byte"));
        QTest::keyClicks(&pane_->editor(), QStringLiteral(" "));
        QVERIFY(pane_->editor().extraSelections().isEmpty());
        run("ATTACH '/tmp/x' AS x");
        QVERIFY(pane_->error().contains(QStringLiteral("only reads")));
        run("SELECT 1");
        QVERIFY(pane_->error().isEmpty());
    }

    void numbers_sort_as_numbers() {
        QAbstractItemModelTester tester(&pane_->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        run("SELECT 10 AS n, 'b' AS t UNION ALL SELECT 9, 'a' UNION ALL SELECT 2.5, NULL UNION ALL SELECT NULL, 'c'");
        QCOMPARE(cell(0, 0), QStringLiteral("10"));
        pane_->table().sortByColumn(0, Qt::AscendingOrder);
        QCOMPARE(
            (QStringList{cell(0, 0), cell(1, 0), cell(2, 0), cell(3, 0)}),
            (QStringList{QStringLiteral("NULL"), QStringLiteral("2.5"), QStringLiteral("9"), QStringLiteral("10")}));
        pane_->table().sortByColumn(1, Qt::DescendingOrder);
        QCOMPARE(cell(0, 1), QStringLiteral("c"));
        pane_->table().sortByColumn(-1, Qt::AscendingOrder);
        QCOMPARE(cell(0, 0), QStringLiteral("10"));
        const auto alignment = [&](int row, int column) {
            return pane_->model().index(row, column).data(Qt::TextAlignmentRole).toInt();
        };
        QVERIFY((alignment(0, 0) & Qt::AlignRight) != 0);
        QVERIFY((alignment(0, 1) & Qt::AlignLeft) != 0);
    }

    void a_cut_result_says_so() {
        run("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c");
        QCOMPARE(pane_->model().rowCount(), 10'000);
        QVERIFY2(pane_->status().startsWith(QStringLiteral("The first 10,000 row")), qPrintable(pane_->status()));
    }

    void rows_are_copied() {
        run("SELECT 1 AS a, 'x,\"y' AS b UNION ALL SELECT 2, '=cmd'");
        pane_->table().selectAll();
        const auto trigger = [&](const char* text) {
            for (QAction* action : pane_->table().actions()) {
                if (action->text() == QLatin1String(text)) {
                    action->trigger();
                }
            }
            return QGuiApplication::clipboard()->text();
        };
        QCOMPARE(trigger("Copy rows as CSV"), QStringLiteral("a,b\r\n1,\"x,\"\"y\"\r\n2,'=cmd\r\n"));
        QCOMPARE(trigger("Copy rows as Markdown"),
                 QStringLiteral("| a | b |\n| ---: | --- |\n| 1 | x,\"y |\n| 2 | =cmd |\n"));
        QCOMPARE(trigger("Copy rows"), QStringLiteral("a\tb\n1\tx,\"y\n2\t=cmd\n"));
    }

    void enter_selects_the_allocation_on_its_device() {
        run("SELECT block_bytes, id FROM allocations WHERE device = 1 ORDER BY block_bytes DESC LIMIT 3");
        session_->selection().select_device(0);
        const int64_t id = pane_->model().index(1, 1).data().toLongLong();
        pane_->table().setCurrentIndex(pane_->model().index(1, 0));
        pane_->table().setFocus();
        QTest::keyClick(&pane_->table(), Qt::Key_Return);
        const SelectionState& state = session_->selection().state();
        QCOMPARE(state.device, 1);
        QVERIFY(state.allocation != no_allocation);
        QCOMPARE(session_->device().allocation_id(state.allocation), id);
        // Other numbers select nothing.
        session_->clear_selection();
        run("SELECT id FROM segments LIMIT 1");
        QVERIFY(!pane_->model().allocation_of(pane_->model().index(0, 0)));
    }

    void history_has_the_newest_first() {
        run("SELECT 1");
        run("SELECT 2");
        run("SELECT 1");
        QCOMPARE(pane_->history(), (QStringList{QStringLiteral("SELECT 1"), QStringLiteral("SELECT 2")}));
        SqlPane other;
        other.restore(pane_->editor().toPlainText(), pane_->history());
        QCOMPARE(other.history(), pane_->history());
        QCOMPARE(other.editor().toPlainText(), QStringLiteral("SELECT 1"));
    }

    void names_are_completed() {
        SqlEditor& editor = pane_->editor();
        const auto completions = [&](const char* text) {
            editor.replace_text(QLatin1String(text));
            editor.moveCursor(QTextCursor::End);
            return editor.completions();
        };
        QCOMPARE(completions("SELECT * FROM live_"), QStringList(QStringLiteral("live_at_peak")));
        QVERIFY(completions("SELECT BLOCK_B").contains(QStringLiteral("block_bytes")));
        QCOMPARE(completions("SELECT frames.f"), (QStringList{QStringLiteral("function"), QStringLiteral("file")}));
    }

    void words_have_colors() {
        SqlEditor& editor = pane_->editor();
        editor.replace_text(QStringLiteral("SELECT 'a -- b', 12 -- c\nFROM allocations /* d\ne */ WHERE x"));
        const auto color_at = [&](int line, int column) {
            for (const auto& range : editor.document()->findBlockByNumber(line).layout()->formats()) {
                if (column >= range.start && column < range.start + range.length) {
                    return range.format.foreground().color();
                }
            }
            return QColor();
        };
        const QColor keyword = color_at(0, 0), text = color_at(0, 8), number = color_at(0, 17),
                     comment = color_at(0, 22), name = color_at(1, 6);
        const std::set<QRgb> all{keyword.rgb(), text.rgb(), number.rgb(), comment.rgb(), name.rgb()};
        QCOMPARE(all.size(), size_t{5});
        QCOMPARE(color_at(0, 12), text);
        QCOMPARE(color_at(2, 0), comment);
        QCOMPARE(color_at(2, 5), keyword);
        QCOMPARE(color_at(2, 11), QColor());
    }

    void it_survives_without_a_trace() {
        pane_->set_session(nullptr);
        pane_->run();
        QVERIFY(!pane_->busy());
        QCOMPARE(pane_->model().rowCount(), 0);
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::TestSql)
#include "test_sql.moc"
