// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the page of a trace offers beside its panes: menus, the selected range, the dialog for files, room for plots.
#include <QFileDialog>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>

#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/model/text.h"
#include "gui/timeline/plot_column.h"
#include "synthetic_trace.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

class PaintCounter : public QObject {
public:
    int count = 0;

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        count += event->type() == QEvent::Paint;
        return false;
    }
};

void select_whole_run(Session& session) {
    session.selection().select_range(std::pair(session.time_view().whole_from(), session.time_view().whole_to()));
}

/// The plots of a window, without the window: nothing keeps them from being low.
struct ShownColumn {
    explicit ShownColumn(int height) {
        finding->hide();
        column->resize(800, height);
        host.resize(800, 900);
        host.show();
    }
    bool shows_allocations_at(int height) {
        column->resize(800, height);
        return !allocations->isHidden();
    }
    QWidget host;
    TimelinePlot* timeline = new TimelinePlot;
    FindingPlot* finding = new FindingPlot;
    AllocationsPlot* allocations = new AllocationsPlot;
    PlotColumn* column = new PlotColumn({timeline, finding, allocations}, &host);
};

}  // namespace

class TestPage : public QObject {
    Q_OBJECT
private slots:
    void the_overview_forgets_a_range_that_is_cleared() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        const auto session = gui::test::synthetic_session();
        window->show_session(session, QStringLiteral("synthetic.tide"));
        select_whole_run(*session);
        QTest::qWait(50);
        PaintCounter counter;
        window->page().overview().installEventFilter(&counter);
        session->selection().clear();
        QTRY_VERIFY(counter.count > 0);
    }

    void open_begins_in_the_folder_of_the_trace() {
        const QTemporaryDir folder;
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), folder.filePath(QStringLiteral("run.tide")));
        window->actions().find(QStringLiteral("file.open"))->trigger();
        auto* dialog = window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        QCOMPARE(QDir(dialog->directory()).canonicalPath(), QDir(folder.path()).canonicalPath());
        dialog->reject();
    }

    void allocations_that_are_shown_stay_when_the_key_needs_a_line() {
        int least = 100;
        while (least < 900 && !ShownColumn(least).shows_allocations_at(least)) {
            least += 10;
        }
        ShownColumn column(least);
        QVERIFY(column.shows_allocations_at(least));
        QVERIFY2(column.shows_allocations_at(least - 40), "two lines of the key");
        QVERIFY(!column.shows_allocations_at(least - 100));
        QVERIFY2(!column.shows_allocations_at(least - 40), "while hidden, they need more room");
    }

    void a_shared_copy_has_no_data_gap_for_what_was_removed() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        auto trace = std::make_shared<Trace>(*gui::test::synthetic_trace());
        DataGap removed{DataGapKind::redacted, -1, 0, 0, 0, DataGapReason::redacted, {}, {}};
        removed.arguments = {{"what", "paths,names,source,times"}};
        trace->data_gaps = {removed};
        window->show_session(std::make_shared<Session>(trace, Session::analyze(trace)), QStringLiteral("copy.tide"));
        QVERIFY(!window->statusBar()->findChildren<QLabel*>().isEmpty());
        for (const QLabel* label : window->statusBar()->findChildren<QLabel*>()) {
            QVERIFY2(!label->text().contains(QStringLiteral("1 data gap")), qPrintable(label->text()));
        }
        QCOMPARE(data_gap_text(removed).count(QStringLiteral("shar")), 1);
    }

};

QTEST_MAIN(TestPage)
#include "test_page.moc"
