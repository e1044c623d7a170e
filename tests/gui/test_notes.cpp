// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Bookmarks and notes on findings in the window: added, shown, edited, deleted, and never lost to another window.
#include <QFile>
#include <QHeaderView>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/model/explained.h"
#include "gui/model/text.h"
#include "gui/notes/note_dialog.h"
#include "gui/story/finding_card.h"
#include "gui/widgets/text_block.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

const QString example_trace =
    QStringLiteral(TIDEMARK_TEST_DATA "/../../resources/examples/s01_list_of_cpu_outputs.tide");

/// A window with a copy of an example.
struct Shown {
    Shown(Application& application, const QString& trace) : window(application.open_window()) {
        QSignalSpy shown(window, &MainWindow::trace_shown);
        window->open(trace);
        shown.wait(10000);
    }
    TracePage& page() const { return window->page(); }
    Session& session() const { return *page().session(); }
    QTableWidget& table() const { return page().notes_pane().table(); }
    void press(const char* action) const { window->actions().find(QString::fromLatin1(action))->trigger(); }
    /// Returns the dialog that an action has opened.
    NoteDialog* dialog() const {
        const auto dialogs = window->findChildren<NoteDialog*>();
        return dialogs.isEmpty() ? nullptr : dialogs.back();
    }
    void write(const QString& title, const QString& text) const {
        dialog()->findChild<QLineEdit*>()->setText(title);
        dialog()->findChild<QPlainTextEdit*>()->setPlainText(text);
        for (QPushButton* button : dialog()->findChildren<QPushButton*>()) {
            if (button->text() == QStringLiteral("Save")) {
                button->click();
                break;
            }
        }
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }

    MainWindow* window;
};

QByteArray bytes_of(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestNotes : public QObject {
    Q_OBJECT
private slots:
    void init() {
        folder_ = std::make_unique<QTemporaryDir>();
        trace_ = folder_->filePath(QStringLiteral("run.tide"));
        QVERIFY(QFile::copy(example_trace, trace_));
    }

    void a_bookmark_is_added_at_the_cursor_and_found_again() {
        const QByteArray before = bytes_of(trace_);
        Application application(Settings::Storage::in_memory);
        {
            const Shown open(application, trace_);
            open.session().selection().set_time_point(33);
            open.press("notes.add");
            open.write(QStringLiteral("here it <b>starts"), QStringLiteral("line one\nline two"));
            QCOMPARE(open.table().rowCount(), 1);
            open.window->close_trace();
        }
        QCOMPARE(bytes_of(trace_), before);
        QVERIFY(bytes_of(trace_ + QStringLiteral(".notes.json")).contains("here it <b>starts"));
        const Shown again(application, trace_);
        QCOMPARE(again.table().rowCount(), 1);
        QCOMPARE(again.table().item(0, 1)->text(), QStringLiteral("here it <b>starts"));
        QVERIFY(again.session().selection().state().time_point != TimePoint(33));
        OverviewPlot& overview = again.page().overview();
        const QRectF box = overview.bookmark_box(again.page().notes().notes().front());
        QVERIFY(QRectF(overview.rect()).contains(box));
        QTest::mouseClick(&overview, Qt::LeftButton, Qt::NoModifier, box.center().toPoint());
        QCOMPARE(again.session().selection().state().time_point, TimePoint(33));
        QVERIFY2(again.table().horizontalHeader()->defaultAlignment() & Qt::AlignLeft, "above its texts");
    }

    void a_bookmark_between_events_is_found_again() {
        Application application(Settings::Storage::in_memory);
        TimePoint between;
        {
            const Shown open(application, trace_);
            const DeviceHistory& device = open.session().device();
            const int64_t time = (device.time_of_state(33) + device.time_of_state(34)) / 2;
            between = TimePoint(device.events_until(time), std::optional(time));
            QVERIFY(device.time_of_state(between.event) < time);
            open.session().selection().set_time_point(between);
            open.press("notes.add");
            open.write(QStringLiteral("between"), {});
            const QString place = open.table().item(0, 0)->text();
            QCOMPARE(place, point_text(open.session().trace(), device, between));
            QVERIFY2(place.contains(QStringLiteral(" after event ")), qPrintable(place));
            open.window->close_trace();
        }
        const Shown again(application, trace_);
        again.page().notes().go_to(again.page().notes().notes().front());
        QCOMPARE(again.session().selection().state().time_point, between);
    }

    void a_bookmark_is_edited_and_deleted() {
        Application application(Settings::Storage::in_memory);
        const Shown open(application, trace_);
        open.session().selection().set_time_point(20);
        open.press("notes.add");
        open.write(QStringLiteral("first"), {});
        open.press("notes.edit");
        QCOMPARE(open.dialog()->findChild<QLineEdit*>()->text(), QStringLiteral("first"));
        open.write(QStringLiteral("second"), {});
        QCOMPARE(open.table().rowCount(), 1);
        QCOMPARE(open.table().item(0, 1)->text(), QStringLiteral("second"));
        open.page().show_pane(open.page().notes_pane());
        open.table().setCurrentCell(0, 0);
        for (QToolButton* button : open.page().notes_pane().findChildren<QToolButton*>()) {
            if (button->text() == QStringLiteral("Delete")) {
                button->click();
            }
        }
        QCOMPARE(open.table().rowCount(), 0);
    }

    void a_finding_has_a_note_on_its_card() {
        Application application(Settings::Storage::in_memory);
        const Shown open(application, trace_);
        QTRY_VERIFY_WITH_TIMEOUT(open.page().why().has_explanation(), 30000);
        open.page().why().select_finding(0);
        FindingCard* card = open.page().why().cards().front();
        emit card->note_requested();
        open.write({}, QStringLiteral("fixed on main"));
        const auto shows_note = [](const FindingCard* shown) {
            const auto blocks = shown->findChildren<TextBlock*>();
            return std::any_of(blocks.begin(), blocks.end(), [](const TextBlock* block) {
                return block->toPlainText().contains(QStringLiteral("fixed on main"));
            });
        };
        QVERIFY(shows_note(card));
        const Shown again(application, trace_);
        QTRY_VERIFY_WITH_TIMEOUT(again.page().why().has_explanation(), 30000);
        QVERIFY(shows_note(again.page().why().cards().front()));
        QVERIFY(!shows_note(again.page().why().cards().back()));
        QCOMPARE(again.table().rowCount(), 1);
    }

    void another_windows_notes_stay() {
        Application application(Settings::Storage::in_memory);
        const Shown one(application, trace_), two(application, trace_);
        one.press("notes.add");
        one.write(QStringLiteral("of one"), {});
        QCOMPARE(two.table().rowCount(), 0);
        two.press("notes.add");
        two.write(QStringLiteral("of two"), {});
        QCOMPARE(two.table().rowCount(), 2);
        one.page().notes().reload();
        QCOMPARE(one.table().rowCount(), 2);
    }

    void notes_of_another_trace_are_refused_with_a_sentence() {
        QFile foreign(trace_ + QStringLiteral(".notes.json"));
        QVERIFY(foreign.open(QIODevice::WriteOnly));
        foreign.write("{\"format\": \"Tidemark notes\", \"version\": 1, \"trace\": \"other\", \"notes\": []}");
        foreign.close();
        const QByteArray before = bytes_of(foreign.fileName());
        Application application(Settings::Storage::in_memory);
        const Shown open(application, trace_);
        QVERIFY(open.page().notes().problem().contains(QStringLiteral("notes of another trace")));
        open.press("notes.add");
        open.write(QStringLiteral("mine"), {});
        QVERIFY(open.window->message().isVisible());
        QVERIFY(open.window->message().text().contains(QStringLiteral("notes of another trace")));
        QCOMPARE(bytes_of(foreign.fileName()), before);
    }

private:
    std::unique_ptr<QTemporaryDir> folder_;
    QString trace_;
};

QTEST_MAIN(TestNotes)
#include "test_notes.moc"
