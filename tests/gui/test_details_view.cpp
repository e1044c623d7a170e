// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The inspector: its text for an allocation, a segment, a stack and a point in time, and its links.
#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QRegularExpression>
#include <QTemporaryDir>

#include "gui/inspector/inspector_pane.h"
#include "gui/model/text.h"
#include "gui/widgets/report.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class DetailsViewTest : public QObject {
    Q_OBJECT

private:
    static void verify_says(InspectorPane& pane, const QStringList& parts) {
        pane.refresh_now();
        for (const QString& part : parts) {
            QVERIFY2(pane.plain_text().contains(part), qPrintable(part + " is missing in:\n" + pane.plain_text()));
        }
    }

private slots:
    void a_name_breaks_only_between_words() {
        Report report;
        report.field(QStringLiteral("PYTORCH_CUDA_ALLOC_CONF"), QStringLiteral("1"));
        const QFont font;
        const QString html = report.html(Theme::light(), font, QStringLiteral("monospace"));
        const auto width = QRegularExpression(QStringLiteral("width='(\\d+)'")).match(html).captured(1).toInt();
        QVERIFY(width > QFontMetrics(font).horizontalAdvance(QStringLiteral("PYTORCH_CUDA_ALLOC_CONF")));
        report.item(QStringLiteral("train.py:42"), {});
        QVERIFY2(report.html(Theme::light(), font, {}).contains(QStringLiteral("train.py:&#8288;42")),
                 "nor before the number of a line");
    }

    void reports_an_allocation() {
        const auto session = synthetic_session();
        session->selection().set_time_point(3);
        session->selection().select_allocation(1);
        InspectorPane pane;
        pane.set_session(session.get());
        verify_says(pane, {"1,000 bytes", "1.00 KiB (1,024 bytes)", "24 bytes", "allocated", "event 1", "event 3",
                           "stream 0", "default pool", "0x1001000", "4.00 KiB (4,096 bytes)", "train_step",
                           "2 allocations in all, 1 alive now", "Allocations at this address: 2"});
        QVERIFY(pane.plain_stack().startsWith(
            "/home/anna/venv/lib/python3.12/site-packages/torch/nn/linear.py:10 forward"));
    }

    void folds_cpp_frames() {
        Progress progress;
        const auto trace = read_snapshot_trace(TIDEMARK_TEST_DATA "/snapshots/stacks_all.pickle.xz", progress);
        QVERIFY(bool(trace));
        const auto session = session_of(*trace);
        const auto select_largest = [&](const char* site) {
            const Allocations& all = session->device().allocations;
            AllocationIndex largest = no_allocation;
            for (AllocationIndex a = 0; a < all.size(); ++a) {
                if (stack_text(session->trace().stacks, all.stack[a]) == QString::fromUtf8(site) &&
                    (largest == no_allocation || all.block_size[a] > all.block_size[largest])) {
                    largest = a;
                }
            }
            session->selection().select_allocation(largest);
        };
        InspectorPane pane;
        pane.set_session(session.get());
        select_largest("train.py:14 train_step → linear.py:134 forward");
        verify_says(pane, {"▸ 50 C++ frames", "> train_step  /home/user/train.py:14", "library frames, from forward"});
        QVERIFY(!pane.plain_text().contains("CUDACachingAllocator"));
        pane.follow("unfold:stack");
        verify_says(pane, {"CUDACachingAllocator", "_PyEval_EvalFrameDefault"});

        select_largest("AddmmBackward0::apply → at::cuda::setWorkspaceForHandle");
        verify_says(pane, {"▸ 17 C++ frames", "> AddmmBackward0::apply  Functions.cpp", "▸ 9 C++ frames"});
        pane.open_in_editor();
        QVERIFY(!QGuiApplication::clipboard()->text().contains("Functions.cpp"));
    }

    void explains_missing_frames_and_a_pending_block() {
        const auto session = synthetic_session();
        session->selection().select_allocation(0);
        InspectorPane pane;
        pane.set_session(session.get());
        verify_says(pane, {"before the history begins", "never: alive at the end"});
        session->selection().select_allocation(2);
        session->selection().set_time_point(8);
        verify_says(pane, {"pending free", "Free completed: 0.000008 s"});
    }

    void reports_segment_stack_and_time_point() {
        const auto session = synthetic_session();
        session->selection().set_time_point(6);
        InspectorPane pane;
        pane.set_session(session.get());
        verify_says(pane, {"At the cursor", "Largest allocation sites", "Last: allocation of ", "Next: free of "});
        session->selection().select_segment(0);
        verify_says(pane, {"Segment of 2.00 MiB", "Its blocks: 3"});
        session->selection().select_stack(session->device().allocations.stack[1]);
        verify_says(pane, {"Allocations: 2", "Alive at the cursor: 1"});
    }

    void links_move_the_selection() {
        const auto session = synthetic_session();
        InspectorPane pane;
        pane.set_session(session.get());
        pane.follow("allocation:2");
        QCOMPARE(session->selection().state().allocation, AllocationIndex{2});
        pane.follow("time_point:4");
        QCOMPARE(session->selection().state().time_point.event, 4);
        pane.follow("segment:1");
        QCOMPARE(session->selection().state().segment, 1u);
        pane.follow("stack:1");
        QCOMPARE(session->selection().state().stack, std::optional<StackId>(1));
    }

    void copies_text() {
        const auto session = synthetic_session();
        session->selection().select_allocation(3);
        InspectorPane pane;
        pane.set_session(session.get());
        pane.copy_stack();
        QCOMPARE(QGuiApplication::clipboard()->text().count('\n'), 3);
        pane.copy_details();
        QVERIFY(QGuiApplication::clipboard()->text().contains("1,001 bytes"));
        pane.open_in_editor();
        QCOMPARE(QGuiApplication::clipboard()->text(), QString("/home/anna/project/train.py:20"));
    }

    void shows_source_lines_of_existing_files() {
        QTemporaryDir folder;
        QFile file(folder.filePath("model.py"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("import torch\n    x = torch.empty(7)\n");
        file.close();
        SourceLines sources;
        QCOMPARE(sources.line(file.fileName(), 2).value_or(""), QString("x = torch.empty(7)"));
        QVERIFY(!sources.line(file.fileName(), 9));
        QVERIFY(!sources.line("/not/here.py", 1));
        QVERIFY(!sources.line("relative.py", 1));
        QVERIFY(!sources.line(folder.path(), 1));
    }

    void survives_every_allocation_of_recorded_traces() {
        for (const char* name : recorded_names()) {
            const auto session = recorded_session(name);
            if (!session) {
                QSKIP("no recorded snapshots");
            }
            InspectorPane pane;
            pane.set_session(session.get());
            for (AllocationIndex a = 0; a < std::min(session->device().allocations.size(), 200u); ++a) {
                session->selection().select_allocation(a);
                pane.refresh_now();
                QVERIFY(pane.plain_text().contains("Requested"));
            }
        }
    }

    void says_when_nothing_is_open() {
        InspectorPane pane;
        QVERIFY(pane.shown_text().contains("No trace is open"));
        const auto session = synthetic_session();
        pane.set_session(session.get());
        pane.set_session(nullptr);
        QVERIFY(pane.shown_text().contains("No trace is open"));
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::DetailsViewTest)
#include "test_details_view.moc"
