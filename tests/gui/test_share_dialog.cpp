// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The Share dialog: its file, its result, cancel and errors.
#include <QCheckBox>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include "gui/share/share_dialog.h"
#include "storage/import/import.h"
#include "storage/read/open_trace.h"

using namespace tidemark;
using namespace tidemark::gui;

class TestShareDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        trace_ = folder_.filePath(QStringLiteral("run.tide"));
        Progress progress;
        const auto imported = import_snapshot(TIDEMARK_TEST_DATA "/snapshots/adam_steps.pickle", trace_.toStdString(),
                                              IfExists::fail, progress);
        QVERIFY(imported);
        const std::vector<int64_t>& times = (*imported)->main_device().event_time;
        part_ = {times[times.size() / 3], times[times.size() * 2 / 3]};
    }

    void each_key_belongs_to_one_control() {
        const ShareDialog dialog({trace_, part_}, folder_.filePath(QStringLiteral("keys.tide")));
        QSet<QKeySequence> keys;
        for (const QAbstractButton* button : dialog.findChildren<QAbstractButton*>()) {
            const QKeySequence key = QKeySequence::mnemonic(button->text());
            QVERIFY2(key.isEmpty() || !keys.contains(key), qPrintable(button->text()));
            keys.insert(key);
        }
        QVERIFY(keys.size() > 6);
    }

    void removes_everything_private_unless_asked_otherwise() {
        const QString output = folder_.filePath(QStringLiteral("all.tide"));
        ShareDialog dialog({trace_, {}}, output);
        share(dialog);
        QVERIFY2(dialog.status_text().contains(QStringLiteral("Removed: paths, names, command line and texts, date")),
                 qPrintable(dialog.status_text()));
        QVERIFY(!bytes_of(output).contains("fixtures.py"));
        QVERIFY(!bytes_of(output).contains("/home/"));
    }

    void removes_only_what_is_checked() {
        const QString output = folder_.filePath(QStringLiteral("times.tide"));
        ShareDialog dialog({trace_, {}}, output);
        for (const char* name : {"paths", "names", "source"}) {
            dialog.findChild<QCheckBox*>(QString::fromLatin1(name))->setChecked(false);
        }
        share(dialog);
        QVERIFY(bytes_of(output).contains("fixtures.py"));
        QVERIFY2(dialog.status_text().contains(QStringLiteral("Removed: date and time.")),
                 qPrintable(dialog.status_text()));
    }

    void says_what_the_search_for_removed_texts_found() {
        ShareDialog dialog({trace_, {}}, folder_.filePath(QStringLiteral("searched.tide")));
        share(dialog);
        QVERIFY2(dialog.status_text().contains(QStringLiteral("it contains none of them")),
                 qPrintable(dialog.status_text()));
    }

    void further_removed_texts_can_be_opened() {
        ShareDialog dialog({trace_, {}}, folder_.filePath(QStringLiteral("unwritten.tide")));
        QTRY_VERIFY(!dialog.previewing() && !dialog.preview_rows().isEmpty());
        int opened = 0;
        for (const QTreeWidgetItem* rest : dialog.findChild<QTreeWidget*>()->findItems(
                 QStringLiteral("and "), Qt::MatchStartsWith | Qt::MatchRecursive)) {
            const int further = rest->text(0).section(' ', 1, 1).toInt();
            QVERIFY2(rest->childCount() == further || rest->parent()->text(0).startsWith(QStringLiteral("lines")),
                     qPrintable(rest->text(0)));
            opened += rest->childCount() > 0;
            QVERIFY(!rest->isExpanded());
        }
        QVERIFY(opened > 0);
    }

    void warns_if_nothing_is_removed() {
        ShareDialog dialog({trace_, {}}, folder_.filePath(QStringLiteral("warning.tide")));
        QCOMPARE(dialog.status_text(), QString());
        for (auto* check : dialog.findChildren<QCheckBox*>()) {
            check->setChecked(false);
        }
        QVERIFY2(!dialog.findChild<QCheckBox*>(QStringLiteral("notes"))->isChecked(), "notes stay at home");
        QVERIFY(dialog.status_text().contains(QStringLiteral("contain everything")));
    }

    void shows_what_is_removed_before_it_is() {
        ShareDialog dialog({trace_, {}}, folder_.filePath(QStringLiteral("unwritten.tide")));
        QTRY_VERIFY(!dialog.previewing() && !dialog.preview_rows().isEmpty());
        const QStringList rows = dialog.preview_rows();
        QVERIFY2(rows.filter(QStringLiteral("fixtures.py → file")).size() > 0, qPrintable(rows.join('\n')));
        QVERIFY(!QFile::exists(folder_.filePath(QStringLiteral("unwritten.tide"))));
        for (const char* name : {"paths", "names", "source"}) {
            dialog.findChild<QCheckBox*>(QString::fromLatin1(name))->setChecked(false);
        }
        QTRY_VERIFY(!dialog.previewing() && dialog.preview_rows().size() < 2);
    }

    void shares_the_selected_part() {
        QVERIFY(!ShareDialog({trace_, {}}, QString()).findChild<QRadioButton*>(QStringLiteral("range")));
        const QString output = folder_.filePath(QStringLiteral("part.tide"));
        ShareDialog dialog({trace_, part_}, output);
        dialog.findChild<QRadioButton*>(QStringLiteral("range"))->setChecked(true);
        share(dialog);
        Progress progress;
        const auto whole = open_trace(trace_.toStdString(), progress),
                   part = open_trace(output.toStdString(), progress);
        QVERIFY(whole && part);
        QVERIFY((*part)->main_device().event_count() > 0);
        QVERIFY((*part)->main_device().event_count() < (*whole)->main_device().event_count());
    }

    void keeps_existing_files() {
        const QString output = folder_.filePath(QStringLiteral("mine.txt"));
        QFile file(output);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("mine");
        file.close();
        ShareDialog dialog({trace_, {}}, output);
        dialog.findChild<QPushButton*>(QStringLiteral("share"))->click();
        QVERIFY(!dialog.busy());
        QVERIFY(dialog.status_text().contains(QStringLiteral("exists already")));
        QCOMPARE(bytes_of(output), QByteArray("mine"));
    }

    void shows_errors() {
        ShareDialog dialog({trace_, {}}, folder_.filePath(QStringLiteral("missing/x.tide")));
        dialog.findChild<QPushButton*>(QStringLiteral("share"))->click();
        QTRY_VERIFY(!dialog.busy());
        QVERIFY2(dialog.status_text().contains(QStringLiteral("cannot be written")), qPrintable(dialog.status_text()));
        QVERIFY(dialog.findChild<QPushButton*>(QStringLiteral("share"))->isEnabled());
    }

    void cancel_ends_the_work_without_a_result() {
        const QString output = folder_.filePath(QStringLiteral("canceled.tide"));
        ShareDialog dialog({trace_, {}}, output);
        QSignalSpy shared(&dialog, &ShareDialog::shared);
        dialog.findChild<QPushButton*>(QStringLiteral("share"))->click();
        QVERIFY(dialog.busy());
        dialog.findChild<QPushButton*>(QStringLiteral("cancel"))->click();
        QVERIFY(!dialog.busy());
        QVERIFY(dialog.status_text().startsWith(QStringLiteral("Canceled")));
        QVERIFY(dialog.findChild<QPushButton*>(QStringLiteral("share"))->isEnabled());
        worker_threads()->waitForDone();
        QCoreApplication::processEvents();
        QCOMPARE(shared.size(), 0);
    }

private:
    static void share(ShareDialog& dialog) {
        QSignalSpy shared(&dialog, &ShareDialog::shared);
        dialog.findChild<QPushButton*>(QStringLiteral("share"))->click();
        QVERIFY2(shared.wait(10000), qPrintable(dialog.status_text()));
    }
    static QByteArray bytes_of(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QTemporaryDir folder_;
    QString trace_;
    std::pair<int64_t, int64_t> part_;
};

QTEST_MAIN(TestShareDialog)
#include "test_share_dialog.moc"
