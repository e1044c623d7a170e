// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The command palette (Ctrl+Shift+P): type a part of an action's name and press Enter.
#pragma once

#include <QDialog>

#include "gui/app/actions.h"
#include "gui/app/pane_commands.h"

class QLineEdit;
class QListWidget;

namespace tidemark::gui {

class CommandPalette : public QDialog {
    Q_OBJECT
public:
    /// Offers the enabled actions of the window, then the commands of the visible panes.
    CommandPalette(const Actions& actions, std::vector<PaneCommand> of_panes, QWidget* parent);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void fill(const QString& wanted);
    void run_current();

    std::vector<PaneCommand> commands_;
    QLineEdit* wanted_;
    QListWidget* list_;
};

/// The list of keys (?): every action with its keys, and the use of mouse and wheel.
class ShortcutHelp : public QDialog {
    Q_OBJECT
public:
    ShortcutHelp(const Actions& actions, QWidget* parent);
};

}  // namespace tidemark::gui
