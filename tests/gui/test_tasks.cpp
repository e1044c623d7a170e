// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What users come for, done with mouse and keyboard only: the answer must be on the screen, after so many clicks.
//
// TIDEMARK_FILM=FOLDER draws each step; docs/make_pictures.py does so with traces that TIDEMARK_FILM_TRACES names,
// a folder with why.tide, peak.tide, line.tide, before.tide, after.tide, settings.tide and share.tide.
#include <QCheckBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTemporaryDir>
#include <QToolButton>

#include "film.h"
#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/app/trace_page.h"
#include "gui/share/share_dialog.h"
#include "gui/story/finding_card.h"
#include "storage/import/import.h"

using namespace tidemark;
using namespace tidemark::gui;
using tidemark::gui::test::Film;

namespace {

constexpr int longest_wait = 30000;  // milliseconds

bool is_filmed() { return qEnvironmentVariableIsSet("TIDEMARK_FILM_TRACES"); }

}  // namespace

class TestTasks : public QObject {
    Q_OBJECT
private:
    QTemporaryDir folder_;
    QString settings_;  ///< a trace of which other settings of the allocator would change much

    /// Returns the path of a task's trace: its own for a film, else an example.
    QString trace(const char* task, const char* example) const {
        return is_filmed()
                   ? QStringLiteral("%1/%2.tide").arg(qEnvironmentVariable("TIDEMARK_FILM_TRACES"), QLatin1String(task))
                   : QStringLiteral(TIDEMARK_TEST_DATA "/../../resources/examples/%1.tide").arg(QLatin1String(example));
    }

    /// Opens a window of the size of a laptop's screen; on a trace, also its explanation.
    struct Opened {
        explicit Opened(const QString& file)
            : application(Settings::Storage::in_memory), window(application.open_window(file)) {
            window->resize(1280, 800);
            is_explained = QTest::qWaitForWindowExposed(window) &&
                           QTest::qWaitFor([this] { return window->page().why().has_explanation(); }, longest_wait);
        }
        TracePage& page() { return window->page(); }
        QTabBar& tabs() { return *window->findChild<QTabWidget*>(QStringLiteral("drawer"))->tabBar(); }
        void click_tab(Film& film, const QWidget& pane) {
            auto* drawer = window->findChild<QTabWidget*>(QStringLiteral("drawer"));
            film.click(&tabs(), tabs().tabRect(drawer->indexOf(&pane)).center());
        }
        QToolButton* button(const QString& text) {
            for (auto* button : window->findChildren<QToolButton*>()) {
                if (button->text() == text && button->isVisible()) {
                    return button;
                }
            }
            return nullptr;
        }

        Application application;
        MainWindow* window;
        bool is_explained = false;
    };

private slots:
    void initTestCase() {
        settings_ = folder_.filePath(QStringLiteral("settings.tide"));
        Progress progress;
        QVERIFY(import_snapshot(TIDEMARK_TEST_DATA "/snapshots/s3_varlen.pickle", settings_.toStdString(),
                                IfExists::fail, progress));
    }

    void why_does_it_grow() {
        Opened open(trace("why", "s01_list_of_cpu_outputs"));
        QVERIFY(open.is_explained);
        Film film(*open.window, QStringLiteral("why-does-it-grow"));
        const QString answer = open.page().summary_bar().plain_text();
        QVERIFY2(answer.contains(QStringLiteral("Memory grows by")), qPrintable(answer));
        QVERIFY(open.page().finding_plot().isVisible());
        film.click_link(*open.page().summary_bar().findChild<TextBlock*>(), QStringLiteral("evidence"));
        const FindingCard* card = open.page().why().cards().front();
        QVERIFY(card->isVisible() && card->is_open());
        QVERIFY2(open.page().session()->selection().state().memory, "the finding's allocations are highlighted");
        QCOMPARE(film.clicks(), 1);
    }

    void what_is_at_the_peak() {
        Opened open(trace("peak", "gpt2"));
        QVERIFY(open.is_explained);
        Film film(*open.window, QStringLiteral("what-is-at-the-peak"));
        const Session& session = *open.page().session();
        const auto peak = session.analysis().curves().peak(Series::allocated).max_event;
        QCOMPARE(session.selection().state().time_point.event, peak);
        open.click_tab(film, open.page().summary());
        QVERIFY(open.page().summary().isVisible() && open.page().summary().attribution().rowCount() > 0);
        open.click_tab(film, open.page().call_tree());
        film.press(Qt::Key_M);
        QVERIFY(open.page().call_tree().height() > open.window->height() / 2);
        QCOMPARE(film.clicks() + film.keys(), 3);
    }

    void which_line() {
        Opened open(trace("line", "s01_list_of_cpu_outputs"));
        QVERIFY(open.is_explained);
        Film film(*open.window, QStringLiteral("which-line"));
        open.click_tab(film, open.page().source());
        QVERIFY(open.page().source().isVisible());
        const auto explained = open.page().session()->explanation_source().explained();
        const std::string& line = explained->explanation.findings.front().line;  // "train.py:12 main"
        const QString file = QString::fromStdString(line.substr(0, line.find(':')));
        QVERIFY2(open.page().source().file().endsWith(file), qPrintable(open.page().source().file()));
        film.press(Qt::Key_M);
        QCOMPARE(film.clicks() + film.keys(), 2);
    }

    void what_changed() {
        Opened open(trace("before", "s10_validation_without_no_grad"));
        QVERIFY(open.is_explained);
        Film film(*open.window, QStringLiteral("what-changed"));
        film.click(open.button(tr("Compare…")));
        auto* dialog = open.window->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        film.type(*name, trace("after", "s10_no_grad"));
        QTest::keyClick(name, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(open.page().changes().mode() == ComparedPoints::traces, longest_wait);
        QTRY_VERIFY_WITH_TIMEOUT(open.page().summary_bar().plain_text().contains(QStringLiteral("less than")) ||
                                     open.page().summary_bar().plain_text().contains(QStringLiteral("more than")),
                                 longest_wait);
        film.shoot();
        QCOMPARE(film.clicks() + film.keys(), 2);  // and Enter
    }

    void what_would_expandable_segments_have_done() {
        Opened open(is_filmed() ? trace("settings", "") : settings_);
        QVERIFY(open.is_explained);
        Film film(*open.window, QStringLiteral("expandable-segments"));
        WhatIfPane& pane = open.page().what_if();
        open.click_tab(film, pane);
        auto* check = pane.findChild<QCheckBox*>();
        film.click(check, QPoint(8, check->height() / 2));
        QTRY_VERIFY_WITH_TIMEOUT(!pane.busy() && pane.result().contains(QStringLiteral("instead of")), longest_wait);
        QVERIFY(pane.variable().endsWith(QStringLiteral("expandable_segments:True")));
        QCOMPARE(film.clicks(), 2);
        if (auto* busy = open.page().overview().findChild<QLabel*>(QStringLiteral("busy_link")); busy->isVisible()) {
            film.click(busy);
        }
        film.shoot();
    }

    void share_without_names() {
        const QString run = folder_.filePath(QStringLiteral("run.tide"));
        QVERIFY(QFile::copy(trace("share", "s01_list_of_cpu_outputs"), run));
        Opened open(run);
        QVERIFY(open.is_explained);
        Film film(*open.window, QStringLiteral("share-without-names"));
        film.click(open.button(tr("Share…")));
        auto* dialog = open.window->findChild<ShareDialog*>();
        QVERIFY(dialog != nullptr);
        film.click(dialog->findChild<QPushButton*>(QStringLiteral("share")));
        QTRY_VERIFY_WITH_TIMEOUT(dialog->status_text().contains(QStringLiteral("contains none of them")), longest_wait);
        film.shoot();
        QCOMPARE(film.clicks(), 2);
        const QStringList copies = QDir(folder_.path()).entryList({QStringLiteral("shared*.tide")});
        QVERIFY(!copies.isEmpty());
    }
};

QTEST_MAIN(TestTasks)
#include "test_tasks.moc"
