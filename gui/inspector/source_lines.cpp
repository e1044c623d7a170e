// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/inspector/source_lines.h"

#include <QFile>
#include <QFileInfo>

namespace tidemark::gui {

namespace {
constexpr qint64 most_bytes = 2 << 20;
constexpr qsizetype most_files = 64;
}  // namespace

std::optional<QString> SourceLines::line(const QString& file, int number) {
    auto found = files_.find(file);
    if (found == files_.end()) {
        if (files_.size() >= most_files) {
            files_.clear();
        }
        QStringList lines;
        QFile source(file);
        // A trace may contain any path: only absolute paths of plain files are opened.
        const QFileInfo info(file);
        if (info.isAbsolute() && info.isFile() && source.open(QIODevice::ReadOnly)) {
            lines = QString::fromUtf8(source.read(most_bytes)).split(u'\n');
        }
        found = files_.insert(file, lines);
    }
    if (number < 1 || number > found->size()) {
        return std::nullopt;
    }
    const QString text = found->at(number - 1).trimmed();
    return text.isEmpty() ? std::nullopt : std::optional(text);
}

}  // namespace tidemark::gui
