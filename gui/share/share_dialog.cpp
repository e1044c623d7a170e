// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/share/share_dialog.h"

#include <fmt/format.h>

#include <QCheckBox>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <span>

#include "gui/model/file_name.h"
#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/widgets/ask_path.h"
#include "storage/text/removed_words.h"

namespace tidemark::gui {

namespace {

constexpr size_t first_texts = 4;
constexpr int poll_interval = 100;  // milliseconds
constexpr int steps_of_bar = 1000;
constexpr int preview_pause = 200;                          // milliseconds
constexpr int starting_width = 760, starting_height = 720;  // pixels

QLabel* make_title(const QString& text) {
    auto* title = new QLabel(text);
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
    return title;
}

void add_text(QTreeWidgetItem& parent, const RemovedTexts::Text& text) {
    auto* row = new QTreeWidgetItem(
        &parent, {name_text(text.before), text.after.empty() ? ShareDialog::tr("removed") : name_text(text.after)});
    for (const int column : {0, 1}) {
        row->setToolTip(column, tip_text(row->text(column)));
    }
}

/// Shows the first texts of a kind; a further row opens to the others.
void add_texts(QTreeWidgetItem& kind, const RemovedTexts& removed) {
    const size_t shown = std::min(removed.texts.size(), first_texts);
    for (const RemovedTexts::Text& text : std::span(removed.texts).first(shown)) {
        add_text(kind, text);
    }
    const int64_t further = removed.count - static_cast<int64_t>(shown);
    if (further == 0 || shown == 0) {
        return;
    }
    auto* rest = new QTreeWidgetItem(&kind, {ShareDialog::tr("and %1 more").arg(count_text(further))});
    for (const RemovedTexts::Text& text : std::span(removed.texts).subspan(shown)) {
        add_text(*rest, text);
    }
}

}  // namespace

ShareDialog::ShareDialog(ShareInput input, const QString& output, QWidget* parent)
    : QDialog(parent),
      input_(std::move(input)),
      job_(this, OnNewerRequest::cancel_running,
           [this](const std::shared_ptr<const Outcome>& outcome) { show_outcome(*outcome); }),
      preview_(this, OnNewerRequest::cancel_running,
               [this](const std::shared_ptr<const Outcome>& outcome) { show_preview(*outcome); }) {
    setWindowTitle(tr("Share the trace"));
    form_ = new QWidget;
    auto* form = new QVBoxLayout(form_);
    form->setContentsMargins(0, 0, 0, 0);
    form->setSpacing(14);
    form->addWidget(make_choices());
    form->addWidget(make_range());
    form->addWidget(make_preview(), 1);
    form->addWidget(make_target());
    output_->setText(output);
    status_ = new QLabel;
    status_->setWordWrap(true);
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    status_->setAccessibleName(tr("State of sharing"));
    status_->setMinimumHeight(fontMetrics().lineSpacing() * 2);
    status_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    bar_ = new QProgressBar;
    bar_->setRange(0, steps_of_bar);
    bar_->setTextVisible(false);
    QSizePolicy keeps_place = bar_->sizePolicy();
    keeps_place.setRetainSizeWhenHidden(true);
    bar_->setSizePolicy(keeps_place);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(14);
    column->addWidget(form_, 1);
    column->addWidget(status_);
    column->addWidget(bar_);
    column->addLayout(make_buttons());
    poll_.setInterval(poll_interval);
    connect(&poll_, &QTimer::timeout, this,
            [this] { bar_->setValue(static_cast<int>(job_.fraction() * steps_of_bar)); });
    connect(this, &QDialog::finished, this, [this] {
        cancel();
        preview_.abandon();
    });
    delay_.setSingleShot(true);
    delay_.setInterval(preview_pause);
    connect(&delay_, &QTimer::timeout, this, &ShareDialog::preview);
    show_busy(false);
    show_choices();
    resize(starting_width, starting_height);
}

QWidget* ShareDialog::make_choices() {
    auto* box = new QWidget;
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setColumnStretch(1, 1);
    grid->setHorizontalSpacing(14);
    grid->addWidget(make_title(tr("What to remove")), 0, 0, 1, 2);
    const std::tuple<const char*, bool Redaction::*, QString, QString, QString> all[] = {
        {"paths", &Redaction::paths, tr("&Paths"),
         tr("Your files become file1.py, library1.so. Only files on Tidemark's list of public files keep their path "
            "below the package; other files of packages are replaced as well."),
         tr("paths")},
        {"names", &Redaction::names, tr("&Names"),
         tr("Your functions, modules, marks, variables and ops become function1, module1. Only names on Tidemark's "
            "list of public names stay, such as PyTorch's operators; its other names are replaced as well."),
         tr("names")},
        {"source", &Redaction::source, tr("&Command line and texts"),
         tr("Lines of source files, the command line, the name of the computer, messages of exceptions and data gaps, "
            "user metadata. Removing paths or names removes them as well. Numbers stay: process IDs, addresses, "
            "sizes."),
         tr("command line and texts")},
        {"times", &Redaction::times, tr("&Date and time"),
         tr("When the recording was made. Times within the run stay."), tr("date and time")}};
    int row = 1;
    for (const auto& [name, flag, text, help, removed] : all) {
        auto* check = new QCheckBox(text);
        check->setObjectName(QString::fromLatin1(name));
        check->setChecked(true);
        check->setAccessibleDescription(help);
        connect(check, &QCheckBox::toggled, this, &ShareDialog::show_choices);
        auto* sentence = new QLabel(help);
        sentence->setWordWrap(true);
        sentence->setForegroundRole(QPalette::PlaceholderText);
        grid->addWidget(check, row, 0, Qt::AlignTop);
        grid->addWidget(sentence, row++, 1);
        choices_.push_back({check, flag, removed});
    }
    return box;
}

QWidget* ShareDialog::make_range() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(make_title(tr("What to share")));
    auto* whole = new QRadioButton(tr("The &whole run"));
    whole->setChecked(true);
    column->addWidget(whole);
    if (input_.range) {
        only_range_ =
            new QRadioButton(tr("The &selected part, %1 to %2")
                                 .arg(time_point_text(input_.range->first), time_point_text(input_.range->second)));
        only_range_->setObjectName(QStringLiteral("range"));
        column->addWidget(only_range_);
    } else {
        auto* hint = new QLabel(tr("To share a part, select a range in the timeline first."));
        hint->setForegroundRole(QPalette::PlaceholderText);
        column->addWidget(hint);
    }
    with_notes_ = new QCheckBox(tr("Send &my notes and bookmarks along, with all names in them"));
    with_notes_->setObjectName(QStringLiteral("notes"));
    with_notes_->setToolTip(tr("They are written into a file beside the copy, unchanged: nothing in them is removed."));
    column->addWidget(with_notes_);
    for (QAbstractButton* button : std::initializer_list<QAbstractButton*>{whole, only_range_, with_notes_}) {
        if (button != nullptr) {
            connect(button, &QAbstractButton::toggled, this, &ShareDialog::show_choices);
        }
    }
    return box;
}

QWidget* ShareDialog::make_preview() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(make_title(tr("What is removed")));
    removed_ = new QTreeWidget;
    removed_->setTextElideMode(Qt::ElideMiddle);  // of a path, the name at its end says most
    removed_->setAccessibleName(tr("What is removed"));
    removed_->setHeaderLabels({tr("In the trace"), tr("In the copy")});
    removed_->setColumnWidth(0, 400);
    removed_->setAlternatingRowColors(true);
    removed_->setMinimumHeight(120);
    size_ = new QLabel;
    size_->setTextFormat(Qt::PlainText);
    size_->setForegroundRole(QPalette::PlaceholderText);
    size_->setAccessibleName(tr("Size of the copy"));
    column->addWidget(removed_, 1);
    column->addWidget(size_);
    return box;
}

void ShareDialog::preview() {
    size_->setText(tr("Finding out what is removed…"));
    preview_.start([from = bytes_of_file_name(input_.trace), wanted = request()](Progress& progress) {
        return std::make_shared<const Outcome>(preview_share(from, wanted, progress));
    });
}

void ShareDialog::show_preview(const Outcome& outcome) {
    removed_->clear();
    if (!outcome) {
        size_->setText(error_text(outcome.error()));
        return;
    }
    for (const RemovedTexts& removed : outcome->removed) {
        auto* kind = new QTreeWidgetItem(
            removed_,
            {tr("%1: %2").arg(to_qstring(removed_title(reader_words(), removed.kind)), count_text(removed.count))});
        QFont bold = removed_->font();
        bold.setBold(true);
        kind->setFont(0, bold);
        kind->setFirstColumnSpanned(true);
        kind->setExpanded(true);
        add_texts(*kind, removed);
    }
    QString text = tr("%1 → %2 in the copy")
                       .arg(bytes_text(static_cast<uint64_t>(outcome->input_bytes)),
                            bytes_text(static_cast<uint64_t>(outcome->file_bytes)));
    if (outcome->notes > 0) {
        text += QStringLiteral(" · ") + tr("with %n note(s)", nullptr, plural(outcome->notes));
    }
    size_->setText(text);
}

QStringList ShareDialog::preview_rows() const {
    QStringList rows;
    for (int i = 0; i < removed_->topLevelItemCount(); ++i) {
        const QTreeWidgetItem* kind = removed_->topLevelItem(i);
        rows << kind->text(0);
        for (int j = 0; j < kind->childCount(); ++j) {
            rows << kind->child(j)->text(0) + QStringLiteral(" → ") + kind->child(j)->text(1);
        }
    }
    return rows;
}

QWidget* ShareDialog::make_target() {
    auto* box = new QWidget;
    output_ = new QLineEdit;
    output_->setAccessibleName(tr("File to write"));
    auto* ask = new QToolButton;
    ask->setText(QStringLiteral("…"));
    ask->setToolTip(tr("Select the file's name"));
    ask->setAccessibleName(ask->toolTip());
    connect(ask, &QToolButton::clicked, this, [this] {
        ask_path(this, {tr("File to write"), output_->text(), {tr("Traces (*.tide)")}, QFileDialog::AnyFile, false},
                 [this](const QStringList& files) { output_->setText(files.front()); });
    });
    auto* label = new QLabel(tr("&File to write"));
    label->setBuddy(output_);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(label);
    row->addWidget(output_, 1);
    row->addWidget(ask);
    return box;
}

QLayout* ShareDialog::make_buttons() {
    share_ = new QPushButton(tr("Share"));
    share_->setObjectName(QStringLiteral("share"));
    share_->setDefault(true);
    cancel_ = new QPushButton(tr("Cancel"));
    cancel_->setObjectName(QStringLiteral("cancel"));
    auto* close = new QPushButton(tr("Close"));
    for (QPushButton* button : {cancel_, close}) {
        button->setAutoDefault(false);
    }
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(share_);
    buttons->addWidget(cancel_);
    buttons->addStretch(1);
    buttons->addWidget(close);
    connect(share_, &QPushButton::clicked, this, &ShareDialog::start);
    connect(cancel_, &QPushButton::clicked, this, &ShareDialog::cancel);
    connect(close, &QPushButton::clicked, this, &ShareDialog::reject);
    return buttons;
}

QString ShareDialog::status_text() const { return status_->text(); }

ShareRequest ShareDialog::request() const {
    ShareRequest request;
    for (const Choice& choice : choices_) {
        request.redaction.*choice.flag = choice.check->isChecked();
    }
    request.with_notes = with_notes_->isChecked();
    if (only_range_ != nullptr && only_range_->isChecked()) {
        request.from = fmt::format("time:{}ns", input_.range->first);
        request.to = fmt::format("time:{}ns", input_.range->second);
    }
    return request;
}

void ShareDialog::start() {
    const QString output = output_->text().trimmed();
    if (output.isEmpty() || QFileInfo::exists(output)) {
        show_status(output.isEmpty() ? tr("Name the file.") : tr("%1 exists already. Use another name.").arg(output),
                    true);
        output_->setFocus();
        return;
    }
    target_ = output;
    request_ = request();
    show_busy(true);
    show_status(tr("Writing and checking the file…"), false);
    job_.start([from = bytes_of_file_name(input_.trace), to = bytes_of_file_name(output),
                wanted = request_](Progress& progress) {
        return std::make_shared<const Outcome>(share_trace(from, to, wanted, IfExists::fail, progress));
    });
}

void ShareDialog::cancel() {
    if (job_.busy()) {
        job_.abandon();
        show_busy(false);
        show_status(tr("Canceled."), false);
    }
}

void ShareDialog::show_outcome(const Outcome& outcome) {
    show_busy(false);
    if (!outcome) {
        show_status(error_text(outcome.error()), true);
        return;
    }
    show_status(tr("%1 was written (%2). %3")
                    .arg(QDir::toNativeSeparators(target_), bytes_text(static_cast<uint64_t>(outcome->file_bytes)),
                         removed_text(request_.redaction)),
                false);
    emit shared(target_);
}

QString ShareDialog::removed_text(const Redaction& redaction) const {
    QStringList removed;
    for (const Choice& choice : choices_) {
        // Each of the texts' categories removes texts of any content.
        const bool is_implied = choice.flag == &Redaction::source && redaction.replaces_texts();
        if (redaction.*choice.flag || is_implied) {
            removed << choice.removed;
        }
    }
    return removed.isEmpty() ? tr("Nothing was removed: it contains all private texts of the trace.")
                             : tr("Removed: %1. The file was searched for all removed texts; it contains none of them.")
                                   .arg(removed.join(tr(", ", "between parts of a list")));
}

void ShareDialog::show_busy(bool busy) {
    form_->setEnabled(!busy);
    share_->setEnabled(!busy);
    cancel_->setEnabled(busy);
    bar_->setVisible(busy);
    bar_->setValue(0);
    busy ? poll_.start() : poll_.stop();
}

void ShareDialog::show_choices() {
    const Redaction redaction = request().redaction;
    show_status(redaction.any() ? QString()
                                : tr("The copy will contain everything: paths, names, source lines, the command line "
                                     "with any passwords in it, and when it was recorded."),
                true);
    delay_.start();
}

void ShareDialog::show_status(const QString& sentence, bool problem) {
    status_->setText(sentence);
    QPalette colors = palette();
    if (problem) {
        colors.setColor(QPalette::WindowText, Theme::current().oom);
    }
    status_->setPalette(colors);
}

}  // namespace tidemark::gui
