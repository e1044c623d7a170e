// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/ask_path.h"

#include <QFileInfo>

namespace tidemark::gui {

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
    dialog->open();
}

void ask_path_to_write(QWidget* parent, const QString& title, const QString& proposal, const QStringList& filters,
                       std::function<void(const QString&)> answer) {
    ask_path(parent, {title, proposal, filters},
             [answer = std::move(answer)](const QStringList& paths) { answer(paths.front()); });
}

}  // namespace tidemark::gui
