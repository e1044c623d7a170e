// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Asks for files and folders without stopping the window: no nested event loop.
#pragma once

#include <QFileDialog>
#include <QStringList>
#include <functional>

namespace tidemark::gui {

struct PathQuestion {
    QString title;
    QString proposal;  ///< the file or folder the dialog begins with
    QStringList filters{};
    QFileDialog::FileMode mode = QFileDialog::AnyFile;  ///< AnyFile: a file to write
    bool confirms_overwrite = true;
};

/// Shows a dialog over `parent` and calls `answer` with the selected paths; not if the user cancels.
void ask_path(QWidget* parent, const PathQuestion& question, std::function<void(const QStringList&)> answer);
/// The same for one file to write.
void ask_path_to_write(QWidget* parent, const QString& title, const QString& proposal, const QStringList& filters,
                       std::function<void(const QString&)> answer);

}  // namespace tidemark::gui
