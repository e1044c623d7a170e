// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the user does in the source: selecting, searching, finding folders, opening an editor.
#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <algorithm>

#include "gui/model/file_name.h"
#include "gui/source/source_pane.h"
#include "gui/widgets/ask_path.h"

namespace tidemark::gui {

/// Highlights the line's allocations in every pane; cursor and range stay.
void SourcePane::select_row(int row) {
    if (!session_ || !shown_ || is_showing_ || row < 0 || !model_->row_at(row).has_memory ||
        shown_->trace != session_->shared_trace()) {
        return;
    }
    SelectionState next;
    next.device = session_->selection().state().device;
    next.time_point = session_->selection().state().time_point;
    next.range = session_->selection().state().range;
    auto memory = allocations_of_line(*shown_->trace, session_->device(), shown_->file, model_->row_at(row).line);
    if (const AllocationSet& now = session_->selection().state().memory; now && *now == memory) {
        return;
    }
    next.memory = std::make_shared<const std::vector<AllocationIndex>>(std::move(memory));
    is_selecting_ = true;
    session_->selection().select(next);
    is_selecting_ = false;
}

void SourcePane::go_to_hot_line(int direction) {
    const int row = table_->currentIndex().isValid() ? table_->currentIndex().row() : -1;
    if (const int next = model_->next_hot_row(row, direction); next >= 0) {
        table_->setCurrentIndex(model_->index(next, SourceModel::code));
        table_->scrollTo(model_->index(next, SourceModel::code), QAbstractItemView::PositionAtCenter);
    }
}

void SourcePane::find_next() {
    const int row = table_->currentIndex().isValid() ? table_->currentIndex().row() : -1;
    show_row(model_->next_found_row(row, search_->text().trimmed()));
}

/// The keys of the code go before the window's shortcuts.
bool SourcePane::eventFilter(QObject* watched, QEvent* event) {
    if (watched == table_ && (event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress)) {
        auto* key = static_cast<QKeyEvent*>(event);
        const bool is_find = key->matches(QKeySequence::Find);
        if (is_find && event->type() == QEvent::ShortcutOverride) {
            event->accept();
            return true;
        }
        if (is_find) {
            search_->setFocus();
            search_->selectAll();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

bool SourcePane::find_in_folder(const QString& folder) {
    if (!shown_ || shown_->file == 0 ||
        !places_.find_in(shown_->trace->stacks.string(shown_->file), bytes_of_file_name(folder))) {
        return false;
    }
    wanted_file_ = shown_->file;
    request();
    return true;
}

void SourcePane::ask_folder() {
    ask_path(this, {tr("Folder with %1").arg(QFileInfo(file()).fileName()), {}, {}, QFileDialog::Directory},
             [this](const QStringList& folders) {
                 if (!find_in_folder(folders.front())) {
                     origin_->setText(tr("⚠ %1 is not in %2.").arg(file(), folders.front()));
                 }
             });
}

void SourcePane::ask_editor() {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("The editor's command"));
    dialog->setLabelText(
        tr("{file} and {line} are replaced, for example: code -g {file}:{line}\n"
           "Empty: the program that your desktop uses for such files."));
    dialog->setTextValue(editor_);
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) { editor_ = text.trimmed(); });
    dialog->open();
}

void SourcePane::open_editor() {
    if (!shown_ || shown_->file == 0) {
        return;
    }
    const int row = table_->currentIndex().isValid() ? table_->currentIndex().row() : 0;
    const int line = row < model_->rowCount() ? std::max(model_->row_at(row).line, 1) : 1;
    if (shown_->text->path.empty()) {  // as in Details
        const QString place = QStringLiteral("%1:%2").arg(file()).arg(line);
        QGuiApplication::clipboard()->setText(place);
        origin_->setText(tr("The file is not on this machine; copied %1.").arg(place));
    } else if (!open_in_editor(editor_, file_name_from_bytes(shown_->text->path), line)) {
        origin_->setText(tr("⚠ The editor did not start. Check its command."));
    }
}

}  // namespace tidemark::gui
