// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The start page: recent files with their summaries, missing files, examples, lines to copy, and its sizes.
#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "gui/app/application.h"
#include "gui/app/examples.h"
#include "gui/app/file_card.h"
#include "gui/app/main_window.h"
#include "gui/app/missing_display.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

const QString example_trace =
    QStringLiteral(TIDEMARK_TEST_DATA "/../../resources/examples/s01_list_of_cpu_outputs.tide");

FileCard* card_named(const QWidget& page, const QString& name) {
    for (FileCard* card : page.findChildren<FileCard*>()) {
        if (card->text() == name) {
            return card;
        }
    }
    return nullptr;
}

}  // namespace

class TestStartPage : public QObject {
    Q_OBJECT
private slots:
    void messages_without_a_category_are_printed() {
        // As Qt's part for Wayland sends them, when there is no display.
        report_missing_display(QtWarningMsg, QMessageLogContext(nullptr, 0, nullptr, nullptr),
                               QStringLiteral("no display"));
    }

    void an_opened_file_is_listed_with_what_its_explanation_says() {
        const QString copy = folder_.filePath(QStringLiteral("mine.tide"));
        QVERIFY(QFile::copy(example_trace, copy));
        Application application(Settings::Storage::in_memory);
        MainWindow* window = application.open_window();
        QSignalSpy shown(window, &MainWindow::trace_shown);
        window->open(copy);
        QVERIFY(shown.wait(10000));
        QTRY_VERIFY_WITH_TIMEOUT(!application.settings().summary_of(copy).headline.isEmpty(), 20000);
        window->close_trace();
        const FileCard* card = card_named(*window, QStringLiteral("mine.tide"));
        QVERIFY(card != nullptr);
        const QString facts = card->accessibleDescription();
        // How fast it grows and the cause are in the part for which the card has room.
        const QString line = facts.section(u'\n', 1, 1).left(80);
        QVERIFY2(
            line.contains(QStringLiteral("+8.00 KiB per iteration")) && line.contains(QStringLiteral("retained by")),
            qPrintable(facts));
        QVERIFY2(facts.contains(QStringLiteral("NVIDIA H200")) && facts.contains(QStringLiteral("peak ")),
                 qPrintable(facts));
        QCOMPARE(application.settings().summary_of(copy).severity, QStringLiteral("leak"));
    }

    void a_missing_file_says_so_and_can_be_removed() {
        Application application(Settings::Storage::in_memory);
        const QString gone = folder_.filePath(QStringLiteral("gone.tide"));
        application.settings().remember_file(gone);
        application.settings().remember_summary(gone, {QStringLiteral("Memory grows."), {}, {}, 1, 1});
        MainWindow* window = application.open_window();
        FileCard* card = card_named(*window, QStringLiteral("gone.tide"));
        QVERIFY(card != nullptr);
        QVERIFY(!card->isEnabled());
        QVERIFY(card->accessibleDescription().contains(QStringLiteral("The file is missing")));
        for (QToolButton* button : window->findChildren<QToolButton*>()) {
            if (button->accessibleName() == QStringLiteral("Remove gone.tide from the list")) {
                button->click();
                break;
            }
        }
        QTRY_VERIFY(card_named(*window, QStringLiteral("gone.tide")) == nullptr);
        QVERIFY(application.settings().recent_files().isEmpty());
        QVERIFY(application.settings().summary_of(gone).headline.isEmpty());
    }

    void a_headline_in_another_language_is_not_shown() {
        Application application(Settings::Storage::in_memory);
        const QString file = folder_.filePath(QStringLiteral("other.tide"));
        application.settings().remember_file(file);
        for (const char* language : {"zh_CN", "en"}) {
            application.settings().remember_summary(
                file, {QStringLiteral("Headline."), QStringLiteral("leak"), {}, 1, 1, QLatin1String(language)});
            const MainWindow* window = application.open_window();
            const QString shown = card_named(*window, QStringLiteral("other.tide"))->accessibleDescription();
            const bool is_own = language == std::string_view("en");
            QCOMPARE(shown.contains(QStringLiteral("Headline.")), is_own);
            QCOMPARE(shown.contains(QStringLiteral("Leak")), !is_own);
        }
    }

    void summaries_of_forgotten_files_are_dropped() {
        Settings settings(Settings::Storage::in_memory);
        for (int i = 0; i < 12; ++i) {
            const QString file = QStringLiteral("/traces/%1.tide").arg(i);
            settings.remember_file(file);
            settings.remember_summary(file, {QStringLiteral("x"), {}, {}, 0, 0});
        }
        QCOMPARE(settings.value(QStringLiteral("recent_summaries")).toMap().size(), settings.recent_files().size());
        settings.remember_summary(QStringLiteral("/never/opened.tide"), {QStringLiteral("x"), {}, {}, 0, 0});
        QVERIFY(settings.summary_of(QStringLiteral("/never/opened.tide")).headline.isEmpty());
    }

    void lines_are_copied() {
        const StartPage page;
        page.findChild<QToolButton*>(QStringLiteral("copy_record"))->click();
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("tidemark record -o run.tide -- python train.py"));
        page.findChild<QToolButton*>(QStringLiteral("copy_snapshot"))->click();
        const QString lines = QApplication::clipboard()->text();
        QVERIFY(lines.contains(QStringLiteral("torch.cuda.memory._record_memory_history(")));
        QVERIFY(lines.endsWith(QStringLiteral("torch.cuda.memory._dump_snapshot(\"run.pickle\")")));
    }

    void examples_are_of_the_files_that_the_build_installs() {
        QFile list(QStringLiteral(TIDEMARK_TEST_DATA "/../../gui/CMakeLists.txt"));
        QVERIFY(list.open(QIODevice::ReadOnly));
        const QString build = QString::fromUtf8(list.readAll());
        const QString installed = build.mid(build.indexOf(QStringLiteral("set(examples "))).section(u')', 0, 0);
        QCOMPARE(installed.split(QRegularExpression(QStringLiteral("\\s+"))).size() - 1, examples().size());
        for (const Example& example : examples()) {
            QVERIFY2(installed.contains(QFileInfo(example.file).completeBaseName()), qPrintable(example.file));
            QVERIFY(is_example(example.file));
        }
        QVERIFY(!is_example(folder_.filePath(QStringLiteral("mine.tide"))));
    }

    void the_page_fits_into_small_windows_and_the_keyboard_reaches_all_of_it() {
        Application application(Settings::Storage::in_memory);
        application.settings().remember_file(folder_.filePath(QStringLiteral("gone.tide")));
        MainWindow* window = application.open_window();
        window->resize(1000, 700);
        auto* page = window->findChild<StartPage*>();
        auto* area = page->findChild<QScrollArea*>();
        QTRY_VERIFY(area->widget()->width() <= area->viewport()->width());
        QList<QWidget*> expected;
        for (auto* button : page->findChildren<QAbstractButton*>()) {
            if (button->isVisible() && button->isEnabled()) {
                expected << button;
            }
        }
        QList<QWidget*> reached;
        QWidget* start = page->findChild<QPushButton*>();
        for (QWidget* next = start; !reached.contains(next); next = next->nextInFocusChain()) {
            reached << next;
        }
        for (QWidget* widget : expected) {
            QVERIFY2(reached.contains(widget) && (widget->focusPolicy() & Qt::TabFocus) != 0,
                     qPrintable(widget->accessibleName()));
        }
    }

private:
    QTemporaryDir folder_;
};

QTEST_MAIN(TestStartPage)
#include "test_start_page.moc"
