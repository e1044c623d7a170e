// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Theme and language of the program; both can change while it runs.
#pragma once

#include <QString>
#include <QTranslator>
#include <memory>
#include <vector>

namespace tidemark::gui {

enum class ThemeSetting { system, light, dark };
QString theme_name(ThemeSetting choice);  ///< "system", "light", "dark": in settings and --theme
bool theme_from_name(const QString& name, ThemeSetting& choice);

/// Applies the Fusion style with one palette on every desktop. The first call reads whether the system is dark.
void apply_theme(ThemeSetting choice);

struct Language {
    QString code;  ///< "zh_CN"
    QString name;  ///< in the language itself
};
/// Returns the languages of the program.
std::vector<Language> languages();

/// The installed translators. Installing a language removes the translators of the previous one.
class LanguageSwitch {
public:
    /// Installs a code of languages(), or the system's language if empty. Unknown codes install English and return
    /// false.
    bool install(const QString& code);
    const QString& current() const { return current_; }

private:
    QString current_ = QStringLiteral("en");
    std::vector<std::unique_ptr<QTranslator>> translators_;
};

}  // namespace tidemark::gui
