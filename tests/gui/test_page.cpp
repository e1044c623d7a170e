// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the page of a trace offers beside its panes: menus, the selected range, the dialog for files, room for plots.
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QMenu>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>

#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/model/text.h"
#include "gui/timeline/plot_column.h"
#include "gui/widgets/hover_tip.h"
#include "gui/widgets/report.h"
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

QStringList texts_of(const QMenu& menu) {
    QStringList texts;
    for (const QAction* action : menu.actions()) {
        texts << action->text().remove('&');
    }
    return texts;
}

/// Opens the menu of a plot in its middle.
QMenu* menu_of(TimePlot& plot) {
    const QPoint middle = plot.rect().center();
    QContextMenuEvent event(QContextMenuEvent::Mouse, middle, plot.mapToGlobal(middle));
    QApplication::sendEvent(&plot, &event);
    return qobject_cast<QMenu*>(QApplication::activePopupWidget());
}

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

    void the_menu_of_a_range_zooms_compares_and_copies() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        const auto session = gui::test::synthetic_session();
        window->show_session(session, QStringLiteral("synthetic.tide"));
        TracePage& page = window->page();
        QMenu* menu = menu_of(page.timeline());
        QVERIFY(menu != nullptr);
        QVERIFY(!texts_of(*menu).contains(QStringLiteral("Zoom to the range")));
        menu->close();
        TimeView& view = session->time_view();
        const double third = view.span() / 3;
        session->selection().select_range(std::pair(view.from() + third, view.to() - third));
        menu = menu_of(page.timeline());
        QCOMPARE(texts_of(*menu).first(3), QStringList({QStringLiteral("Zoom to the range"),
                                                        QStringLiteral("Compare the start and the end of the range"),
                                                        QStringLiteral("Copy the range")}));
        menu->actions().at(2)->trigger();
        QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("allocated")));
        menu->actions().at(1)->trigger();
        QVERIFY(page.changes().isVisible());
        QCOMPARE(page.changes().mode(), ComparedPoints::range);
        const double before = view.span();
        menu->actions().at(0)->trigger();
        QVERIFY(view.span() < before);
        menu->close();
    }

    void a_menu_hides_the_tip_of_its_plot() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        window->show_session(gui::test::synthetic_session(), QStringLiteral("synthetic.tide"));
        TimelinePlot& plot = window->page().timeline();
        QTest::mouseMove(&plot, plot.rect().center());
        const auto shown_tips = [&] {
            const auto tips = window->findChildren<HoverTip*>();
            return std::count_if(tips.begin(), tips.end(), [](const HoverTip* tip) { return tip->isVisible(); });
        };
        QTRY_VERIFY(shown_tips() > 0);
        QMenu* menu = menu_of(plot);
        QCOMPARE(shown_tips(), 0);
        menu->close();
    }

    void menus_name_an_action_once() {
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        const auto session = gui::test::synthetic_session();
        window->show_session(session, QStringLiteral("synthetic.tide"));
        for (const Actions::Entry& entry : window->actions().entries()) {
            QVERIFY2(!entry.action->text().contains(QStringLiteral("(plots)")), qPrintable(entry.action->text()));
        }
        const QAction* whole = window->actions().find(QStringLiteral("plots.whole"));
        QCOMPARE(keys_text(*whole), QStringLiteral("H / Home"));
        TimeView& view = session->time_view();
        view.zoom(4, (view.from() + view.to()) / 2);
        QTRY_VERIFY((window->activateWindow(), window->isActiveWindow()));
        window->page().timeline().setFocus();
        QTest::keyClick(&window->page().timeline(), Qt::Key_Home);
        QCOMPARE(view.span(), view.whole_to() - view.whole_from());
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

    void names_of_settings_break_between_words_only() {
        Report report;
        report.code_field(QStringLiteral("PYTORCH_CUDA_ALLOC_CONF"), QStringLiteral("x"));
        QVERIFY(report.html(Theme::current(), qApp->font(), QString())
                    .contains(QStringLiteral("PYTORCH_&#8203;CUDA_&#8203;ALLOC_&#8203;CONF")));
    }
};

QTEST_MAIN(TestPage)
#include "test_page.moc"
