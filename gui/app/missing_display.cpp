// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/missing_display.h"

#include <unistd.h>
#include <QCoreApplication>
#include <QFile>
#include <QLibrary>
#include <QRegularExpression>

#include <cstdio>
#include <string_view>

#include "gui/model/text.h"
#include "storage/base/exit_status.h"

namespace tidemark::gui {
namespace {

/// Returns the library that Qt's part for X servers needs and the system lacks; empty if there is none.
QString missing_library() {
    static const QRegularExpression name(QStringLiteral("([^ (/]+\\.so[.0-9]*): cannot open shared object file"));
    QStringList folders = QCoreApplication::libraryPaths();
    folders.replaceInStrings(QRegularExpression(QStringLiteral("$")), QStringLiteral("/platforms"));
    folders.prepend(qEnvironmentVariable("QT_QPA_PLATFORM_PLUGIN_PATH"));
    for (const QString& folder : folders) {
        QLibrary part(folder + QStringLiteral("/libqxcb.so"));
        if (QFile::exists(part.fileName()) && !part.load()) {
            return name.match(part.errorString()).captured(1);
        }
    }
    return {};
}

Sentence cause() {
    const QString platform = qEnvironmentVariable("QT_QPA_PLATFORM"), x = qEnvironmentVariable("DISPLAY"),
                  wayland = qEnvironmentVariable("WAYLAND_DISPLAY");
    if (platform.isEmpty() && x.isEmpty() && wayland.isEmpty()) {
        return Sentence("there is no display (DISPLAY is not set; `ssh -X` sets it)");
    }
    if (const QString library = missing_library(); !library.isEmpty()) {
        return Sentence("the library {library} is missing; install the package of your system that has it",
                        with("library", library.toStdString()));
    }
    return platform.isEmpty() ? Sentence("the display {display} cannot be opened",
                                         with("display", (x.isEmpty() ? wayland : x).toStdString()))
                              : Sentence("Qt cannot start its platform {platform} (QT_QPA_PLATFORM)",
                                         with("platform", platform.toStdString()));
}

}  // namespace

void report_missing_display(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (type == QtFatalMsg) {
        const Error error = environment_error(
            "The window cannot be shown: {cause}. `tidemark explain` and `tidemark render` need no display.",
            with("cause", cause()));
        std::fprintf(stderr, "tidemark-gui: %s\n", Words(language_of_locale()).translate(error.sentence).c_str());
        ::_exit(exit_status(error.kind));
    }
    const std::string_view category = context.category == nullptr ? "" : context.category;  // of qErrnoWarning()
    if (!category.starts_with("qt.qpa.")) {
        std::fprintf(stderr, "%s\n", qPrintable(qFormatLogMessage(type, context, text)));
    }
}

}  // namespace tidemark::gui
