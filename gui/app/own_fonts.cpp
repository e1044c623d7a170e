// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/own_fonts.h"

#include <QApplication>
#include <QDir>
#include <QFontDatabase>

namespace tidemark::gui {

void load_own_fonts_if_needed() {
    if (!QFontDatabase::families().isEmpty()) {
        return;
    }
    // Only archives have them.
    const QDir folder(QApplication::applicationDirPath() + QStringLiteral("/../share/tidemark/fonts"));
    for (const QString& file : folder.entryList({QStringLiteral("*.ttf")}, QDir::Files, QDir::Name)) {
        QFontDatabase::addApplicationFont(folder.filePath(file));
    }
    if (const QStringList families = QFontDatabase::families(); !families.isEmpty()) {
        QApplication::setFont(QFont(families.front()));
    }
}

}  // namespace tidemark::gui
