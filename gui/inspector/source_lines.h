// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Lines of source files that exist on this machine.
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>
#include <optional>

namespace tidemark::gui {

/// Reads a file once, at most its first 2 MiB, and caches its lines. Unreadable files are cached too.
class SourceLines {
public:
    /// Returns line `number` (from 1) without surrounding blanks; nothing if the file or the line does not exist.
    std::optional<QString> line(const QString& file, int number);

private:
    QHash<QString, QStringList> files_;
};

}  // namespace tidemark::gui
