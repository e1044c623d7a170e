// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The commands that belong to one pane: its buttons, and the actions of its menus and tables. The command palette
// offers them beside those of the window.
#pragma once

#include <QString>
#include <functional>
#include <vector>

class QAction;
class QWidget;

namespace tidemark::gui {

struct PaneCommand {
    QString name;               ///< "Table › Columns › Address"
    QString keys;               ///< for display; may be empty
    std::function<void()> run;  ///< without effect if the pane has deleted the command
    QString english = {};       ///< words that find it in any language: "file.share"; may be empty
};

/// Returns what can be done now in the visible part of a pane. Menus that are filled when they open are filled.
std::vector<PaneCommand> pane_commands(const QWidget& pane, const QString& name);

/// Returns an action's text without the marks of a menu.
QString plain_text(const QAction& action);

}  // namespace tidemark::gui
