// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/application.h"

#include <QTimer>

#include "gui/app/job_window.h"
#include "gui/app/main_window.h"
#include "gui/model/file_name.h"
#include "storage/job/job.h"

namespace tidemark::gui {

Application::Application(Settings::Storage storage) : settings_(storage) {
    theme_from_name(settings_.value(QStringLiteral("theme"), QStringLiteral("system")).toString(), theme_);
    apply_theme(theme_);
    language_.install(settings_.value(QStringLiteral("language")).toString());
}

Application::~Application() {
    for (const auto& window : windows_) {
        delete window.data();
    }
    for (const auto& window : job_windows_) {
        delete window.data();
    }
}

void Application::set_theme(ThemeSetting theme, bool remember) {
    theme_ = theme;
    if (remember) {
        settings_.set(QStringLiteral("theme"), theme_name(theme));
    }
    apply_theme(theme);
}

bool Application::set_language(const QString& code, bool remember) {
    const bool known = language_.install(code);
    if (remember) {
        settings_.set(QStringLiteral("language"), code);
    }
    const auto old_windows = std::exchange(windows_, {});
    for (const auto& old : old_windows) {
        if (old) {
            MainWindow* fresh = open_window();
            fresh->take_over(*old);
            old->hide();
            old->deleteLater();
        }
    }
    for (const auto& old : std::exchange(job_windows_, {})) {
        if (old) {
            open(old->folder());
            old->close();
        }
    }
    return known;
}

void Application::open(const QString& path) {
    if (!is_job(bytes_of_file_name(path))) {
        open_window(path);
        return;
    }
    auto* window = new JobWindow(*this, path);
    window->setAttribute(Qt::WA_DeleteOnClose);
    job_windows_.emplace_back(window);
    window->show();
}

MainWindow* Application::open_window(const QString& file) {
    auto* window = new MainWindow(*this);
    window->setAttribute(Qt::WA_DeleteOnClose);
    windows_.emplace_back(window);
    window->show();
    if (!file.isEmpty()) {
        window->open(file);
    }
    return window;
}

void Application::close_all_windows() {
    for (const auto& window : std::vector(windows_)) {
        if (window) {
            window->close();
        }
    }
    for (const auto& window : std::vector(job_windows_)) {
        if (window) {
            window->close();
        }
    }
}

}  // namespace tidemark::gui
