// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The source with memory: colors, rows, following, selecting, and what opens on this machine.
#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>

#include "gui/model/palette.h"
#include "gui/source/source_pane.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class TestSource : public QObject {
    Q_OBJECT

    static std::shared_ptr<Trace> trace_with_text() {
        auto trace = std::make_shared<Trace>(tidemark::test::sample_trace());
        trace->source_text.add("/home/anna/project/train.py", 19, "def train_step(model, batch):");
        trace->source_text.add("/home/anna/project/train.py", 20, "    return model(batch)  # the forward pass");
        return trace;
    }
    static void write(const QString& path, const char* text) {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    static void show(SourcePane& pane, Session& session) {
        pane.resize(1000, 400);
        pane.set_session(&session);
        pane.show();
        QTRY_VERIFY(!pane.busy() && pane.model().rowCount() > 0);
    }

private slots:
    void python_has_colors() {
        PythonReader reader;
        using Spans = std::vector<CodeSpan>;
        QCOMPARE(reader.read(QStringLiteral("for x in y:  # all")),
                 (Spans{{CodePart::keyword, 0, 3}, {CodePart::keyword, 6, 2}, {CodePart::comment, 13, 5}}));
        QCOMPARE(reader.read(QStringLiteral("a = 'it\\'s # no' + 12")),
                 (Spans{{CodePart::text, 4, 12}, {CodePart::number, 19, 2}}));
        QCOMPARE(reader.read(QStringLiteral("\"\"\"begins")), (Spans{{CodePart::text, 0, 9}}));
        QCOMPARE(reader.read(QStringLiteral("for text")), (Spans{{CodePart::text, 0, 8}}));
        QCOMPARE(reader.read(QStringLiteral("ends\"\"\" if")),
                 (Spans{{CodePart::text, 0, 7}, {CodePart::keyword, 8, 2}}));
        QCOMPARE(reader.read(QStringLiteral("'not closed")), (Spans{{CodePart::text, 0, 11}}));
        QCOMPARE(reader.read(QStringLiteral("if")), (Spans{{CodePart::keyword, 0, 2}}));
    }

    void rows_have_gaps_and_notes() {
        const Trace trace;
        FileMemory memory;
        memory.lines = {{3, 0, {100, 100, 100, 1, 100, 0}}};
        SourceFile file;
        file.lines = {{2, "\tx = 1"}, {3, "total += loss"}, {9, "end"}};
        LineNote note;
        note.line = 3;
        note.text = QStringLiteral("title");
        note.removed = QStringList{QStringLiteral("total += loss")};
        note.added = QStringList{QStringLiteral("total += loss.item()")};
        const auto rows = source_rows_of(trace, &memory, file, {note});
        using Kind = SourceRow::Kind;
        std::vector<Kind> kinds;
        for (const SourceRow& row : rows) {
            kinds.push_back(row.kind);
        }
        QCOMPARE(kinds, (std::vector<Kind>{Kind::line, Kind::line, Kind::note, Kind::removed, Kind::added, Kind::gap,
                                           Kind::line}));
        QCOMPARE(rows[0].text, QStringLiteral("    x = 1"));
        QVERIFY(rows[1].has_memory && !rows[0].has_memory);
        SourceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.show(rows);
        QCOMPARE(model.next_hot_row(-1, 1), 1);
        QCOMPARE(model.next_hot_row(1, -1), 1);
        QCOMPARE(model.hottest_row(), 1);
        QCOMPARE(model.next_found_row(1, QStringLiteral("END")), 6);
        QCOMPARE(model.next_found_row(6, QStringLiteral("nothing")), -1);
        QCOMPARE(model.row_of(9), 6);
    }

    void suggested_code_does_not_look_like_lines_of_the_file() {
        SourceRow line, code;
        line.text = code.text = QStringLiteral("x = 1");
        code.kind = SourceRow::Kind::code;
        SourceModel model;
        model.show({line, code});
        QTableView table;
        table.setModel(&model);
        table.setItemDelegate(new SourceDelegate(model, &table));
        table.resize(1200, 200);
        table.horizontalHeader()->setStretchLastSection(true);
        table.show();
        QImage image(table.viewport()->size(), QImage::Format_RGB32);
        table.viewport()->render(&image);
        const auto back = [&](int row) {
            const QRect cell = table.visualRect(model.index(row, SourceModel::code));
            return image.pixelColor(cell.right() - 4, cell.center().y());
        };
        QCOMPARE(back(1), Theme::current().grid);
        QVERIFY(back(0) != back(1));
    }

    void the_hottest_row_leaks_most_or_has_most_of_its_own() {
        const auto row = [](uint64_t self, uint64_t leaked) {
            SourceRow made;
            made.bytes.self = self;
            made.bytes.leaked = leaked;
            return made;
        };
        SourceModel model;
        model.show({row(0, 0), row(8, 0), row(64, 0), row(16, 0)});
        QCOMPARE(model.hottest_row(), 2);
        model.show({row(0, 0), row(8, 0), row(64, 0), row(16, 4)});
        QCOMPARE(model.hottest_row(), 3);
        model.show({row(0, 0)});
        QCOMPARE(model.hottest_row(), -1);
    }

    void it_begins_with_the_line_of_the_first_finding() {
        auto session = recorded_session("s0_graph_leak");
        QVERIFY(session != nullptr);
        SourcePane pane;
        pane.resize(700, 400);
        session->explanation_source().request();
        pane.set_session(session.get());
        QTRY_VERIFY(session->explanation_source().explained() != nullptr);
        pane.show();
        QTRY_VERIFY(!pane.busy() && pane.model().rowCount() > 0);
        const Finding& first = session->explanation_source().explained()->explanation.findings.front();
        const Frame& frame = session->trace().stacks.frame(own_line(session->trace().stacks, first.stack));
        auto* table = pane.findChild<QTableView*>();
        QCOMPARE(pane.model().row_at(table->currentIndex().row()).line, frame.line);
        int note = 0;
        while (pane.model().row_at(note).kind != SourceRow::Kind::note) {
            ++note;
        }
        QVERIFY2(table->rowHeight(note) > table->rowHeight(0), "the text of a fix has all lines that it needs");
    }

    void the_text_of_the_trace_is_shown_with_its_bytes() {
        auto session = session_of(trace_with_text());
        SourcePane pane;
        show(pane, *session);
        auto* files = pane.findChild<QComboBox*>();
        files->setCurrentIndex(files->findText(QStringLiteral("train.py"), Qt::MatchStartsWith));
        emit files->activated(files->currentIndex());
        QTRY_COMPARE(pane.file(), QStringLiteral("/home/anna/project/train.py"));
        QCOMPARE(pane.model().rowCount(), 2);
        QVERIFY(pane.model().row_at(1).bytes.allocated > 0);
        QVERIFY2(pane.origin_text().contains(QStringLiteral("trace")), qPrintable(pane.origin_text()));
        QVERIFY(pane.findChild<QPushButton*>()->isVisible());
        QVERIFY(!pane.findChildren<QToolButton*>().isEmpty());
    }

    void selecting_a_line_selects_its_memory_and_moves_nothing() {
        auto session = session_of(trace_with_text());
        SourcePane pane;
        show(pane, *session);
        const int row = pane.model().next_hot_row(-1, 1);
        auto* table = pane.findChild<QTableView*>();
        const TimePoint before = session->selection().state().time_point;
        QVERIFY2(!session->selection().state().memory, "the pane selects nothing by itself");
        emit table->clicked(pane.model().index(row, SourceModel::code));
        const SelectionState& state = session->selection().state();
        QVERIFY(state.memory && !state.memory->empty());
        QCOMPARE(state.time_point, before);
        const StackTable& stacks = session->trace().stacks;
        for (const AllocationIndex a : *state.memory) {
            bool has_line = false;
            for (const FrameId frame : stacks.frames_of(session->device().allocations.stack[a])) {
                has_line |= stacks.frame(frame).line == pane.model().row_at(row).line;
            }
            QVERIFY(has_line);
        }
    }

    void it_follows_the_selection() {
        auto session = session_of(trace_with_text());
        SourcePane pane;
        show(pane, *session);
        for (const AllocationIndex a : {1U, 2U}) {  // A: train.py 20, B: data.py 10
            session->selection().select_allocation(a);
            const FrameId line = own_line(session->trace().stacks, session->device().allocations.stack[a]);
            QVERIFY(line != 0);
            const Frame& frame = session->trace().stacks.frame(line);
            QTRY_COMPARE(pane.file(), QString::fromStdString(session->trace().stacks.string(frame.file)));
            auto* table = pane.findChild<QTableView*>();
            QTRY_COMPARE(pane.model().row_at(table->currentIndex().row()).line, frame.line);
        }
    }

    void what_was_selected_while_it_was_hidden_is_shown() {
        auto session = session_of(trace_with_text());
        session->selection().select_allocation(1U);
        const FrameId line = own_line(session->trace().stacks, session->device().allocations.stack[1]);
        const Frame& frame = session->trace().stacks.frame(line);
        SourcePane pane;
        show(pane, *session);
        QCOMPARE(pane.file(), QString::fromStdString(session->trace().stacks.string(frame.file)));
        QCOMPARE(pane.model().row_at(pane.findChild<QTableView*>()->currentIndex().row()).line, frame.line);
    }

    void a_folder_is_found_and_remembered() {
        QTemporaryDir folder;
        write(folder.filePath(QStringLiteral("train.py")), "a = 1\nb = 2\n");
        SourcePlaces places;
        const std::string file = "/home/anna/project/train.py";
        QVERIFY(!places.find_in("/home/anna/project/other.py", folder.path().toStdString()));
        QVERIFY(places.find_in(file, folder.path().toStdString()));
        QCOMPARE(places.path_of(file), folder.filePath(QStringLiteral("train.py")).toStdString());
        QCOMPARE(places.path_of("/elsewhere/train.py"), std::string("/elsewhere/train.py"));
        SourcePlaces restored;
        restored.set_moved_folders(places.moved_folders());
        QCOMPARE(restored.path_of(file), places.path_of(file));
        restored.set_moved_folders({QStringLiteral("odd")});
        QCOMPARE(restored.path_of(file), file);
    }

    void the_editor_gets_arguments_and_no_shell() {
        const QString evil = QStringLiteral("/tmp/a b; rm -rf {line} $(x)'.py");
        QCOMPARE(editor_arguments(QStringLiteral("code -g {file}:{line}"), evil, 7),
                 (QStringList{QStringLiteral("code"), QStringLiteral("-g"), evil + QStringLiteral(":7")}));
        QVERIFY(editor_arguments(QStringLiteral("code"), evil, 7).isEmpty());
        QTemporaryDir folder;
        QVERIFY(!open_in_editor(QStringLiteral("true {file}"), folder.path(), 1));
        QVERIFY(!open_in_editor(QStringLiteral("true {file}"), folder.filePath(QStringLiteral("none.py")), 1));
        write(folder.filePath(QStringLiteral("script.sh")), "echo\n");
        QVERIFY(!open_in_editor(QStringLiteral("true {file}"), folder.filePath(QStringLiteral("script.sh")), 1));
        write(folder.filePath(QStringLiteral("train.py")), "x\n");
        QVERIFY(open_in_editor(QStringLiteral("true {file}"), folder.filePath(QStringLiteral("train.py")), 1));
    }

    void find_in_the_code_has_the_keys() {
        auto session = session_of(trace_with_text());
        SourcePane pane;
        show(pane, *session);
        pane.findChild<QTableView*>()->setFocus();
        QTest::keyClick(pane.findChild<QTableView*>(), Qt::Key_F, Qt::ControlModifier);
        QCOMPARE(pane.focusWidget(), pane.findChild<QLineEdit*>());
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::TestSource)
#include "test_source.moc"
