// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Installs the English plural forms in tests that run without an Application.
#include <QCoreApplication>

#include "gui/app/appearance.h"

namespace tidemark::gui {

static void install_plural_forms() {
    static auto* const language = new LanguageSwitch;  // the application uses it until it exits
    language->install(QStringLiteral("en"));
}
Q_COREAPP_STARTUP_FUNCTION(install_plural_forms)

}  // namespace tidemark::gui
