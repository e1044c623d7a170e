// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The Record dialog with a script instead of `tidemark`: the parts, the command line, the status at the end.
#include <QCheckBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "gui/app/record_dialog.h"
#include "gui/app/settings.h"

using namespace tidemark::gui;

namespace {

/// Answers doctor; else prints its arguments, writes a finished trace and its session entry, waits for `stop`.
const char* const script =
    "#!/bin/sh\n"
    "if [ \"$1\" = doctor ]; then\n"
    "  echo '{\"parts\": [{\"name\":\"torch\",\"title\":\"PyTorch\",\"ok\":false,\"text\":\"not found\"},'\n"
    "  echo ' {\"name\":\"cupti\",\"ok\":false,\"text\":\"libcupti.so was not found\"}]}'\n"
    "  exit 0\n"
    "fi\n"
    "echo \"ran: $*\"\n"
    "session=\"$3\"; output=\"$5\"\n"
    "echo data > \"$output\"\n"
    "echo \"{\\\"pid\\\": 77, \\\"output\\\": \\\"$output\\\", \\\"state\\\": \\\"finished\\\", \\\"events\\\": 5, "
    "\\\"data_gaps\\\": []}\" > \"$session/77.trace\"\n"
    "i=0\n"
    "while [ ! -e \"$session/stop\" ] && [ $i -lt 100 ]; do sleep 0.05; i=$((i+1)); done\n"
    "exit 3\n";

}  // namespace

class TestRecordDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        tidemark_ = folder_.filePath(QStringLiteral("tidemark"));
        QFile file(tidemark_);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(script);
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }

    void unavailable_parts_are_explained() {
        Settings settings(Settings::Storage::in_memory);
        RecordDialog dialog(settings, {tidemark_, {}});
        auto* driver = dialog.findChild<QCheckBox*>(QStringLiteral("driver"));
        QTRY_VERIFY(!driver->isEnabled());
        QVERIFY(!driver->isChecked());
        QVERIFY(driver->accessibleDescription().contains(QStringLiteral("libcupti.so was not found")));
        QVERIFY(dialog.findChild<QCheckBox*>(QStringLiteral("stacks"))->isChecked());
    }

    void pytorch_is_missed_only_where_the_command_says_which_python() {
        const auto has_note = [](const RecordDialog& dialog) {
            const auto labels = dialog.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                return label->text().contains(QStringLiteral("PyTorch: not found"));
            });
        };
        Settings settings(Settings::Storage::in_memory);
        RecordDialog without_command(settings, {tidemark_, {}});
        QTRY_VERIFY(!without_command.findChild<QCheckBox*>(QStringLiteral("driver"))->isEnabled());
        QVERIFY(!has_note(without_command));
        settings.set(QStringLiteral("record/command"), QStringLiteral("python train.py"));
        RecordDialog with_command(settings, {tidemark_, {}});
        QTRY_VERIFY(has_note(with_command));
    }

    void a_program_is_run_and_stopped_and_its_end_is_shown() {
        Settings settings(Settings::Storage::in_memory);
        settings.set(QStringLiteral("record/command"), QStringLiteral("python \"my train.py\""));
        settings.set(QStringLiteral("record/folder"), folder_.path());
        RecordDialog dialog(settings, {tidemark_, {}});
        QTRY_VERIFY(!dialog.findChild<QCheckBox*>(QStringLiteral("driver"))->isEnabled());
        QSignalSpy opened(&dialog, &RecordDialog::open_requested);
        button(dialog, QStringLiteral("Start"))->click();
        QVERIFY(opened.wait(5000));
        QCOMPARE(opened.front().front().toString(), folder_.filePath(QStringLiteral("run.tide")));
        auto* traces = dialog.findChild<QListWidget*>();
        QTRY_COMPARE(traces->count(), 1);
        emit traces->itemActivated(traces->item(0));
        QCOMPARE(opened.size(), 2);
        button(dialog, QStringLiteral("Stop recording"))->click();
        QTRY_VERIFY2(dialog.status_text().contains(QStringLiteral("exited with status 3")),
                     qPrintable(dialog.status_text()));
        const QString log = dialog.findChild<QPlainTextEdit*>()->toPlainText();
        QVERIFY2(log.contains(QStringLiteral(
                     "--with graph,modules,nvml,ops,stacks --quiet --language en -- python my train.py")),
                 qPrintable(log));
        QCOMPARE(settings.value(QStringLiteral("record/parts")).toString(),
                 QStringLiteral("graph,modules,nvml,ops,stacks"));
    }

    void a_missing_command_is_reported() {
        Settings settings(Settings::Storage::in_memory);
        RecordDialog dialog(settings, {{}, {QStringLiteral("/opt/bin/tidemark")}});
        QVERIFY(dialog.status_text().contains(QStringLiteral("/opt/bin/tidemark")));
        QVERIFY(dialog.status_text().contains(QStringLiteral("tidemark-recorder")));
        QVERIFY(!dialog.can_record());
        QVERIFY(!button(dialog, QStringLiteral("Start"))->isEnabled());
    }

    void the_command_is_found_beside_the_window_in_the_build_tree_and_in_path() {
        const QTemporaryDir build, elsewhere;
        const QDir root(build.path());
        QVERIFY(root.mkpath(QStringLiteral("gui")) && root.mkpath(QStringLiteral("recorder/cli")));
        const QString gui = root.filePath(QStringLiteral("gui"));
        const QByteArray path = qgetenv("PATH");
        qputenv("PATH", elsewhere.path().toLocal8Bit());
        const TidemarkCommand none = find_tidemark(gui);
        QCOMPARE(none.path, QString());
        QCOMPARE(none.looked, QStringList({gui + QStringLiteral("/tidemark"),
                                           root.filePath(QStringLiteral("recorder/cli/tidemark"))}));
        const auto place = [&](const QString& file) {
            QVERIFY(QFile::copy(tidemark_, file));
            QCOMPARE(find_tidemark(gui).path, file);
        };
        place(elsewhere.filePath(QStringLiteral("tidemark")));
        place(root.filePath(QStringLiteral("recorder/cli/tidemark")));
        place(root.filePath(QStringLiteral("gui/tidemark")));
        qputenv("PATH", path);
    }

    void answers_of_other_versions_are_tolerated() {
        QVERIFY(read_parts("no json").empty());
        QVERIFY(read_parts("{\"parts\": [{\"text\": \"x\"}]}").empty());
        QCOMPARE(read_parts("{\"parts\": [{\"name\": \"ops\"}]}").size(), size_t{1});
        const auto needs = read_parts(
            "{\"parts\": [{\"name\": \"gpu\", \"title\": \"GPU driver\", \"ok\": false,"
            "\"text\": \"no answer\", \"fix\": \"Install it.\"}]}");
        QCOMPARE(needs.size(), size_t{1});
        QVERIFY(!needs.front().available);
        QCOMPARE(needs.front().sentence, QStringLiteral("no answer. Install it."));
    }

private:
    static QPushButton* button(RecordDialog& dialog, const QString& text) {
        for (QPushButton* b : dialog.findChildren<QPushButton*>()) {
            if (b->text() == text) {
                return b;
            }
        }
        return nullptr;
    }

    QTemporaryDir folder_;
    QString tidemark_;
};

QTEST_MAIN(TestRecordDialog)
#include "test_record_dialog.moc"
