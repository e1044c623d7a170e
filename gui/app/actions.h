// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The registry of all actions of the window. Menus, shortcuts, the command palette and the list of keys are made
// from it, so they always agree.
#pragma once

#include <QAction>
#include <QActionGroup>
#include <QKeySequence>
#include <QMenuBar>
#include <functional>
#include <vector>

namespace tidemark::gui {

class Actions : public QObject {
    Q_OBJECT
public:
    /// The scope of an action's keys: the whole window, or only while a plot has the focus, for keys that tables
    /// use as well.
    enum class Keys { window, plots };

    explicit Actions(QWidget* window);
    /// Sets the widget whose children handle Keys::plots.
    void set_plots(QWidget* plots);
    /// Adds further keys of an action that work only while a plot has the focus. Menus do not name the action twice;
    /// the list of keys has these keys as well.
    void add_plot_keys(const QString& id, const QList<QKeySequence>& keys);

    /// Adds all further actions to this menu.
    void begin_menu(const QString& title);
    void begin_submenu(const QString& title);
    void end_submenu();
    void separator();
    QAction* add(const QString& id, const QString& text, const QList<QKeySequence>& keys, std::function<void()> run,
                 Keys where = Keys::window);
    /// Adds one of several exclusive actions.
    QAction* add_choice(QActionGroup* group, const QString& id, const QString& text, bool checked,
                        std::function<void()> run);
    /// Shows actions as buttons at the right end of the menu bar, too. Call once.
    void show_as_buttons(const std::vector<std::pair<QString, QString>>& ids_and_texts);
    QMenu* menu() const { return menus_.empty() ? nullptr : menus_.back(); }

    struct Entry {
        QAction* action;
        QString path;  ///< "View › Theme"
    };
    const std::vector<Entry>& entries() const { return entries_; }
    QAction* find(const QString& id) const;

private:
    QString path() const;

    QWidget* window_;
    QWidget* plots_ = nullptr;
    QMenuBar* bar_;
    std::vector<QMenu*> menus_;
    std::vector<Entry> entries_;
};

/// Returns an action's keys for display: "Ctrl+O" or "W, Up".
QString keys_text(const QAction& action);

}  // namespace tidemark::gui
