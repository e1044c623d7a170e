// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/record_dialog.h"

#include <QCheckBox>
#include <QDir>
#include <QFileInfo>
#include <QFontDatabase>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/app/settings.h"
#include "gui/model/file_name.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/ask_path.h"

namespace tidemark::gui {

namespace {

constexpr int most_log_lines = 5000;
constexpr int height_with_output = 560;  // pixels

/// Returns a field with a button that asks for a file or folder.
QWidget* with_button(QLineEdit* field, const QString& tip, std::function<void()> ask) {
    auto* row = new QWidget;
    auto* button = new QToolButton;
    button->setText(QStringLiteral("…"));
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    QObject::connect(button, &QToolButton::clicked, field, std::move(ask));
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(field, 1);
    layout->addWidget(button);
    return row;
}

QString state_text(const RecordedProcess& process) {
    const QString state = process.recording()                          ? RecordDialog::tr("recording")
                          : process.state == QLatin1String("failed")   ? RecordDialog::tr("failed")
                          : process.state == QLatin1String("finished") ? RecordDialog::tr("finished")
                                                                       : process.state;
    return process.data_gaps.isEmpty() ? state
                                       : state + QStringLiteral(" · ") + process.data_gaps.join(QStringLiteral(" · "));
}

}  // namespace

RecordDialog::RecordDialog(Settings& settings, const TidemarkCommand& tidemark, QWidget* parent)
    : QDialog(parent), settings_(settings), tidemark_(tidemark.path) {
    setWindowTitle(tr("Record a program"));
    form_ = new QWidget;
    auto* form = new QVBoxLayout(form_);
    form->setContentsMargins(0, 0, 0, 0);
    form->addWidget(make_form());
    form->addWidget(make_parts());
    start_ = new QPushButton(tr("Start"));
    start_->setDefault(true);
    stop_ = new QPushButton(tr("Stop recording"));
    stop_->setToolTip(tr("The trace ends; the program continues."));
    end_ = new QPushButton(tr("End program…"));
    auto* close = new QPushButton(tr("Close"));
    for (QPushButton* button : {stop_, end_, close}) {
        button->setAutoDefault(false);
    }
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(start_);
    buttons->addWidget(stop_);
    buttons->addWidget(end_);
    buttons->addStretch(1);
    buttons->addWidget(close);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(10);
    column->addWidget(form_);
    column->addWidget(make_progress(), 1);
    column->addLayout(buttons);
    connect(start_, &QPushButton::clicked, this, &RecordDialog::start);
    connect(stop_, &QPushButton::clicked, this, [this] { recording_->stop_recording(); });
    connect(end_, &QPushButton::clicked, this, &RecordDialog::ask_to_end);
    connect(close, &QPushButton::clicked, this, &RecordDialog::reject);
    show_state();
    resize(760, sizeHint().height());
    if (tidemark_.isEmpty()) {
        show_status(tr("The command “tidemark” does the recording, and it was not found. Tidemark looked for %1 and in "
                       "PATH. Install the package tidemark-recorder, or add the folder with tidemark to PATH and start "
                       "this program again.")
                        .arg(tidemark.looked.join(tr(", ", "between parts of a list"))),
                    true);
    } else {
        check_parts();
        connect(command_, &QLineEdit::editingFinished, this, [this, checked = command_->text()]() mutable {
            if (std::exchange(checked, command_->text()) != command_->text()) {
                check_parts();
            }
        });
    }
}

QWidget* RecordDialog::make_form() {
    auto* box = new QWidget;
    command_ = new QLineEdit(settings_.value(QStringLiteral("record/command")).toString());
    command_->setPlaceholderText(QStringLiteral("python train.py --epochs 3"));
    command_->setAccessibleName(tr("Command line"));
    command_->setClearButtonEnabled(true);
    folder_ = new QLineEdit(settings_.value(QStringLiteral("record/folder"), QDir::currentPath()).toString());
    folder_->setAccessibleName(tr("Working folder"));
    output_ = new QLineEdit;
    output_->setAccessibleName(tr("Trace"));
    auto* layout = new QFormLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    layout->addRow(tr("&Command line"), command_);
    auto* folder_row = with_button(folder_, tr("Select the folder"), [this] {
        ask_path(this, {tr("Working folder"), folder_->text(), {}, QFileDialog::Directory},
                 [this](const QStringList& folders) { folder_->setText(folders.front()); });
    });
    auto* output_row = with_button(output_, tr("Select the trace's name"), [this] {
        ask_path(this, {tr("Trace"), output_->text(), {tr("Traces (*.tide)")}, QFileDialog::AnyFile, false},
                 [this](const QStringList& files) { output_->setText(files.front()); });
    });
    layout->addRow(tr("&Working folder"), folder_row);
    layout->addRow(tr("Tra&ce"), output_row);  // "T" with an underline has no kerning: wider than its label
    qobject_cast<QLabel*>(layout->labelForField(folder_row))->setBuddy(folder_);
    qobject_cast<QLabel*>(layout->labelForField(output_row))->setBuddy(output_);
    connect(folder_, &QLineEdit::textChanged, this, &RecordDialog::propose_output);
    propose_output();
    return box;
}

QWidget* RecordDialog::make_parts() {
    auto* box = new QWidget;
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setColumnStretch(1, 1);
    grid->setHorizontalSpacing(14);
    const std::tuple<const char*, QString, QString> all[] = {
        {"stacks", tr("Stacks"), tr("The Python lines that allocate, also in the backward pass.")},
        {"ops", tr("Operators"), tr("The PyTorch operator that requested each allocation, and training steps.")},
        {"modules", tr("Modules"), tr("The part of the model each allocation belongs to.")},
        {"graph", tr("Graph"), tr("The autograd graph: the category of each allocation, and what retains it.")},
        {"driver", tr("Driver"), tr("Memory that libraries allocate from the driver, outside PyTorch's allocator.")},
        {"nvml", tr("nvidia-smi's figure"),
         tr("The memory in use on the whole GPU, so that the memory breakdown adds up to it.")}};
    auto* title = new QLabel(tr("What to record"));
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
    grid->addWidget(title, 0, 0, 1, 2);
    const QStringList selected =
        settings_.value(QStringLiteral("record/parts"), QStringLiteral("stacks,ops,modules,graph,driver,nvml"))
            .toString()
            .split(u',');
    int row = 1;
    for (const auto& [name, text, help] : all) {
        auto* check = new QCheckBox(text);
        check->setObjectName(QString::fromLatin1(name));
        check->setChecked(selected.contains(QLatin1String(name)));
        auto* sentence = new QLabel(help);
        sentence->setTextFormat(Qt::PlainText);
        sentence->setWordWrap(true);
        sentence->setForegroundRole(QPalette::PlaceholderText);
        check->setAccessibleDescription(help);
        grid->addWidget(check, row, 0, Qt::AlignTop);
        grid->addWidget(sentence, row++, 1);
        parts_[QString::fromLatin1(name)] = {check, sentence};
    }
    parts_note_ = new QLabel;
    parts_note_->setTextFormat(Qt::PlainText);
    parts_note_->setForegroundRole(QPalette::PlaceholderText);
    parts_note_->setWordWrap(true);
    grid->addWidget(parts_note_, row, 0, 1, 2);
    return box;
}

QWidget* RecordDialog::make_progress() {
    auto* box = new QWidget;
    status_ = new QLabel;
    status_->setTextFormat(Qt::PlainText);
    status_->setWordWrap(true);
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    status_->setAccessibleName(tr("State of the recording"));
    traces_ = new QListWidget;
    traces_->setAccessibleName(tr("Traces of this run"));
    traces_->setToolTip(tr("Double-click opens a trace"));
    traces_->setMaximumHeight(fontMetrics().height() * 6);
    log_ = new QPlainTextEdit;
    log_->setReadOnly(true);
    log_->setMaximumBlockCount(most_log_lines);
    log_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    log_->setAccessibleName(tr("Output of the program"));
    log_->setPlaceholderText(tr("The program's output appears here."));
    connect(traces_, &QListWidget::itemActivated, this,
            [this](QListWidgetItem* item) { emit open_requested(item->data(Qt::UserRole).toString()); });
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(status_);
    column->addWidget(traces_);
    column->addWidget(log_, 1);
    return box;
}

/// Returns the first free name of run.tide, run-2.tide, ...
void RecordDialog::propose_output() {
    const QDir folder(folder_->text());
    QString name = QStringLiteral("run.tide");
    for (int i = 2; folder.exists(name); ++i) {
        name = QStringLiteral("run-%1.tide").arg(i);
    }
    output_->setText(folder.filePath(name));
}

// ---- the parts of a recording -----------------------------------------------------------------------------------

void RecordDialog::check_parts() {
    auto* check = new QProcess(this);
    parts_note_->show();
    parts_note_->setText(tr("Checking what can be recorded on this machine…"));
    const auto done = [this, check] {
        show_parts(read_parts(check->readAllStandardOutput()));
        check->deleteLater();
    };
    connect(check, &QProcess::finished, this, done);
    connect(check, &QProcess::errorOccurred, this, [done](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            done();
        }
    });
    QStringList arguments{QStringLiteral("doctor"), QStringLiteral("--format"), QStringLiteral("json")};
    arguments << language_option();
    const QStringList command = QProcess::splitCommand(command_->text());
    if (!command.isEmpty()) {
        arguments << QStringLiteral("--") << command;  // the check examines the Python of this command
    }
    check->setWorkingDirectory(folder_->text());
    check->start(tidemark_, arguments);
}

void RecordDialog::show_parts(const std::vector<RecordPart>& parts) {
    // Without a command, it is unknown which Python the program will have.
    const auto concerns_program = [](const RecordPart& part) { return part.name == QLatin1String("torch"); };
    QStringList missing;
    for (const RecordPart& part : parts) {
        const bool is_driver = part.name == QLatin1String("cupti");
        if (is_driver) {
            show_driver(part);
        }
        if (!part.available && !is_driver && !(concerns_program(part) && command_->text().isEmpty())) {
            missing << tr("⚠ %1: %2").arg(part.title.isEmpty() ? part.name : part.title, part.sentence);
        }
    }
    parts_note_->setText(parts.empty()
                             ? tr("It is unknown what can be recorded on this machine. The trace will list its data "
                                  "gaps.")
                             : missing.join('\n'));
    parts_note_->setVisible(!parts_note_->text().isEmpty());
}

/// Shows whether the driver's memory can be recorded, beside its check box.
void RecordDialog::show_driver(const RecordPart& cupti) {
    const auto& [check, sentence] = parts_.at(QStringLiteral("driver"));
    check->setEnabled(cupti.available);
    if (!cupti.available) {
        check->setChecked(false);
        sentence->setText(tr("Not available: %1").arg(cupti.sentence));
        check->setAccessibleDescription(sentence->text());
    }
}

// ---- the run ----------------------------------------------------------------------------------------------------

std::optional<RecordRequest> RecordDialog::read_request() {
    RecordRequest request{QProcess::splitCommand(command_->text()), folder_->text(), output_->text().trimmed(), {}};
    for (const auto& [name, widgets] : parts_) {
        if (widgets.first->isChecked()) {
            request.parts << name;
        }
    }
    if (request.command.isEmpty()) {
        show_status(tr("Type the command line to run."), true);
        command_->setFocus();
    } else if (!QFileInfo(request.folder).isDir()) {
        show_status(tr("There is no folder %1.").arg(request.folder), true);
        folder_->setFocus();
    } else if (request.output.isEmpty() || QFileInfo::exists(QDir(request.folder).filePath(request.output))) {
        show_status(request.output.isEmpty() ? tr("Name the trace.")
                                             : tr("%1 exists already. Use another name.").arg(request.output),
                    true);
        output_->setFocus();
    } else {
        request.output = QDir(request.folder).filePath(request.output);
        return request;
    }
    return std::nullopt;
}

void RecordDialog::remember(const RecordRequest& request) {
    settings_.set(QStringLiteral("record/command"), command_->text());
    settings_.set(QStringLiteral("record/folder"), request.folder);
    settings_.set(QStringLiteral("record/parts"), request.parts.join(u','));
}

void RecordDialog::start() {
    const auto request = read_request();
    if (!request) {
        return;
    }
    remember(*request);
    log_->clear();
    traces_->clear();
    ended_.clear();
    term_sent_ = first_opened_ = false;
    recording_ = std::make_unique<Recording>(tidemark_);
    Recording* run = recording_.get();
    connect(run, &Recording::output, this, [this](const QString& text) {
        log_->moveCursor(QTextCursor::End);
        log_->insertPlainText(text);
        log_->verticalScrollBar()->setValue(log_->verticalScrollBar()->maximum());
    });
    connect(run, &Recording::changed, this, &RecordDialog::show_state);
    connect(run, &Recording::trace_ready, this, [this](const QString& trace) {
        if (!std::exchange(first_opened_, true)) {
            emit open_requested(trace);
        }
    });
    connect(run, &Recording::finished, this, [this](const QString& how) {
        ended_ = how;
        propose_output();
        show_state();
    });
    connect(run, &Recording::failed, this, [this](const QString& sentence) {
        show_state();
        show_status(sentence, true);
    });
    run->start(*request);
    resize(width(), std::max(height(), height_with_output));
}

void RecordDialog::ask_to_end() {
    const bool kill = term_sent_;
    auto* box = new QMessageBox(QMessageBox::Question, tr("End program"),
                                kill ? tr("The program was asked to end and still runs. Kill it? It then cannot save "
                                          "anything. The trace contains what was recorded.")
                                     : tr("End the program? It receives SIGTERM and loses what it has not saved. The "
                                          "trace contains what was recorded."),
                                QMessageBox::Cancel, this);
    box->addButton(kill ? tr("Kill") : tr("End program"), QMessageBox::AcceptRole);
    box->setDefaultButton(QMessageBox::Cancel);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::accepted, this, [this, kill] {
        if (recording_ && recording_->running()) {
            recording_->end_program(kill);
            term_sent_ = true;
            show_state();
        }
    });
    box->open();
}

void RecordDialog::show_state() {
    const bool running = recording_ && recording_->running();
    const bool recording = recording_ && recording_->any_recording();
    form_->setVisible(!running);
    start_->setVisible(!running);
    start_->setEnabled(!tidemark_.isEmpty());
    stop_->setVisible(running);
    stop_->setEnabled(!recording_ || !recording_->stop_requested());
    end_->setVisible(running);
    end_->setText(term_sent_ ? tr("Kill program…") : tr("End program…"));
    traces_->setVisible(recording_ != nullptr);
    log_->setVisible(recording_ != nullptr);
    if (!recording_) {
        return;
    }
    show_processes();
    QStringList sentences;
    if (running) {
        sentences << (term_sent_ ? tr("The program was asked to end.")
                                 : tr("The program runs: %1").arg(command_->text()));
    } else if (!ended_.isEmpty()) {
        sentences << ended_;
    }
    if (recording) {
        sentences << (recording_->stop_requested() ? tr("The recording is ending.") : tr("It is being recorded."));
    } else if (recording_->processes().empty()) {
        sentences << (running ? tr("It has not used the GPU yet.") : tr("It did not use the GPU: there is no trace."));
    } else {
        sentences << tr("Recording has ended.");
    }
    show_status(sentences.join(u'\n'), false);
}

void RecordDialog::show_processes() {
    const auto& processes = recording_->processes();
    while (traces_->count() > static_cast<int>(processes.size())) {
        delete traces_->takeItem(traces_->count() - 1);
    }
    for (size_t i = 0; i < processes.size(); ++i) {
        const RecordedProcess& process = processes[i];
        if (static_cast<int>(i) == traces_->count()) {
            traces_->addItem(QString());
        }
        QListWidgetItem* item = traces_->item(static_cast<int>(i));
        item->setText(tr("%1 · process %2 · %3")
                          .arg(shown_file_name(QFileInfo(process.trace).fileName()))
                          .arg(process.pid)
                          .arg(state_text(process)));
        item->setData(Qt::UserRole, process.trace);
        item->setToolTip(tip_text(shown_file_name(process.trace)));
    }
}

void RecordDialog::show_status(const QString& sentence, bool problem) {
    status_->setText(sentence);
    status_->setVisible(!sentence.isEmpty());
    QPalette colors = palette();
    if (problem) {
        colors.setColor(QPalette::WindowText, Theme::current().oom);
    }
    status_->setPalette(colors);
}

QString RecordDialog::status_text() const { return status_->text(); }

}  // namespace tidemark::gui
