// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/inspector/source_lines.h"

#include <QFile>
#include <QFileInfo>

#include "gui/model/file_name.h"
#include "storage/base/regular_file.h"

namespace tidemark::gui {

namespace {
constexpr qint64 most_bytes = 2 << 20;
constexpr qsizetype most_files = 64;

/// A trace may contain any path, so only regular files are opened.
QString content_of(const QString& file) {
    const auto source = open_regular_file(bytes_of_file_name(file));
    QFile opened;
    const bool is_open = source && opened.open(source->get(), QIODevice::ReadOnly);
    return is_open ? QString::fromUtf8(opened.read(most_bytes)) : QString();
}

}  // namespace

std::optional<QString> SourceLines::line(const QString& file, int number) {
    auto found = files_.find(file);
    if (found == files_.end()) {
        if (files_.size() >= most_files) {
            files_.clear();
        }
        const bool is_absolute = QFileInfo(file).isAbsolute();
        const QStringList lines = is_absolute ? content_of(file).split(u'\n') : QStringList();
        found = files_.insert(file, lines);
    }
    if (number < 1 || number > found->size()) {
        return std::nullopt;
    }
    const QString text = found->at(number - 1).trimmed();
    return text.isEmpty() ? std::nullopt : std::optional(text);
}

}  // namespace tidemark::gui
