// How the whole program looks and speaks: theme and language, both changeable while it runs.
#pragma once

#include <QString>
#include <QTranslator>
#include <memory>
#include <vector>

namespace tidemark::gui {

enum class ThemeChoice { system, light, dark };
QString theme_name(ThemeChoice choice);  ///< "system", "light", "dark": in settings and --theme
bool theme_from_name(const QString& name, ThemeChoice& choice);

/// Fusion with our palette everywhere, so that every desktop shows the same. The first call notes the system's
/// lightness.
void apply_theme(ThemeChoice choice);

/// The languages the program speaks: "en" and those it has translations for.
struct Language {
    QString code;  ///< "zh_CN"
    QString name;  ///< in itself
};
std::vector<Language> languages();

/// The installed translators; replacing the language removes the earlier ones.
class LanguageSwitch {
public:
    /// A code of languages(), or empty for the system's language. Unknown languages mean English; false says so.
    bool install(const QString& code);
    const QString& current() const { return current_; }

private:
    QString current_ = QStringLiteral("en");
    std::vector<std::unique_ptr<QTranslator>> translators_;
};

}  // namespace tidemark::gui
