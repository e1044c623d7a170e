// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/ask_path.h"

#include <QFileInfo>
#include <QHeaderView>
#include <QTreeView>
#include <algorithm>

namespace tidemark::gui {

namespace {

/// Gives sizes, types and dates the room that they need. The dialog of a desktop has no such view.
void show_whole_columns(QFileDialog& dialog) {
    constexpr int width = 900, height = 520;  // pixels
    if (auto* view = dialog.findChild<QTreeView*>(QStringLiteral("treeView"))) {
        dialog.resize(std::max(dialog.width(), width), std::max(dialog.height(), height));
        view->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
        view->header()->setSectionResizeMode(0, QHeaderView::Stretch);
        view->header()->setStretchLastSection(false);
    }
}

}  // namespace

void ask_path(QWidget* parent, const PathQuestion& question, std::function<void(const QStringList&)> answer) {
    const QFileInfo proposal(question.proposal);
    const bool is_folder = question.mode == QFileDialog::Directory || proposal.isDir();
    auto* dialog = new QFileDialog(parent, question.title, is_folder ? question.proposal : proposal.path());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(question.mode);
    dialog->setNameFilters(question.filters);
    if (question.mode == QFileDialog::AnyFile) {
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->setDefaultSuffix(proposal.suffix());
    }
    dialog->setOption(QFileDialog::ShowDirsOnly, question.mode == QFileDialog::Directory);
    dialog->setOption(QFileDialog::DontConfirmOverwrite, !question.confirms_overwrite);
    if (!is_folder) {
        dialog->selectFile(proposal.fileName());
    }
    QObject::connect(dialog, &QFileDialog::filesSelected, parent, std::move(answer));
    show_whole_columns(*dialog);
    dialog->open();
}

void ask_path_to_write(QWidget* parent, const QString& title, const QString& proposal, const QStringList& filters,
                       std::function<void(const QString&)> answer) {
    ask_path(parent, {title, proposal, filters},
             [answer = std::move(answer)](const QStringList& paths) { answer(paths.front()); });
}

}  // namespace tidemark::gui
