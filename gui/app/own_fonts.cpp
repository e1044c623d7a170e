// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/own_fonts.h"

#include <QFile>
#include <QFileInfo>

namespace tidemark::gui {

void use_own_fonts_if_needed() {
    constexpr const char* variable = "FONTCONFIG_FILE";
    if (qEnvironmentVariableIsSet(variable) || QFile::exists(QStringLiteral("/etc/fonts/fonts.conf"))) {
        return;
    }
    // Only archives have them.
    const QFileInfo program(QFile::symLinkTarget(QStringLiteral("/proc/self/exe")));
    const QString own = program.path() + QStringLiteral("/../share/tidemark/fonts/fonts.conf");
    if (QFile::exists(own)) {
        qputenv(variable, QFile::encodeName(own));
    }
}

}  // namespace tidemark::gui
