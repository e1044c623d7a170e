// The program: its windows, its settings, its theme and language. Made once in main(), handed to every window.
#pragma once

#include <QObject>
#include <QPointer>
#include <memory>

#include "gui/app/appearance.h"
#include "gui/app/settings.h"

namespace tidemark::gui {

class MainWindow;

class Application : public QObject {
    Q_OBJECT
public:
    explicit Application(Settings::Keep keep);
    ~Application() override;

    Settings& settings() { return settings_; }
    ThemeChoice theme() const { return theme_; }
    void set_theme(ThemeChoice theme, bool remember = true);
    const QString& language() const { return language_.current(); }
    /// Windows are made anew in the language; what they show stays.
    bool set_language(const QString& code, bool remember = true);

    /// A new window; opens the file if one is named.
    MainWindow* open_window(const QString& file = {});
    void close_all_windows();

private:
    Settings settings_;
    ThemeChoice theme_ = ThemeChoice::system;
    LanguageSwitch language_;
    std::vector<QPointer<MainWindow>> windows_;
};

}  // namespace tidemark::gui
