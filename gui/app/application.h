// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The program: its windows, settings, theme and language. main() makes one and passes it to every window.
#pragma once

#include <QObject>
#include <QPointer>
#include <memory>

#include "gui/app/appearance.h"
#include "gui/app/focus_ring.h"
#include "gui/app/settings.h"

namespace tidemark::gui {

class JobWindow;
class MainWindow;

class Application : public QObject {
    Q_OBJECT
public:
    explicit Application(Settings::Storage storage);
    ~Application() override;

    Settings& settings() { return settings_; }
    ThemeSetting theme() const { return theme_; }
    void set_theme(ThemeSetting theme, bool remember = true);
    const QString& language() const { return language_.current(); }
    /// Creates the windows again in the language, with their content.
    bool set_language(const QString& code, bool remember = true);

    /// Opens a trace or the folder of a job in a new window.
    void open(const QString& path);
    /// Opens a new window, with the file if one is named.
    MainWindow* open_window(const QString& file = {});
    void close_all_windows();

private:
    Settings settings_;
    ThemeSetting theme_ = ThemeSetting::system;
    LanguageSwitch language_;
    FocusRing focus_ring_;
    std::vector<QPointer<MainWindow>> windows_;
    std::vector<QPointer<JobWindow>> job_windows_;
};

}  // namespace tidemark::gui
