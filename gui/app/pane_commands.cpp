// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/pane_commands.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QTabBar>
#include <QToolButton>

#include "gui/app/actions.h"

namespace tidemark::gui {

namespace {

const QString separator = QStringLiteral(" › ");

void add_actions(const QList<QAction*>& actions, const QString& path, std::vector<PaneCommand>& commands) {
    for (QAction* action : actions) {
        const QString name = path + separator + plain_text(*action);
        if (QMenu* menu = action->menu()) {
            emit menu->aboutToShow();
            add_actions(menu->actions(), name, commands);
        } else if (!action->isSeparator() && action->isEnabled() && !action->text().isEmpty()) {
            commands.push_back({name, keys_text(*action), [action = QPointer(action)] {
                                    if (action) {
                                        action->trigger();
                                    }
                                }});
        }
    }
}

/// Returns whether Qt made the button as a part of another control, which has keys for it.
bool is_part_of_control(const QAbstractButton& button) {
    const QObject* parent = button.parent();
    return qobject_cast<const QLineEdit*>(parent) != nullptr || qobject_cast<const QComboBox*>(parent) != nullptr ||
           qobject_cast<const QTabBar*>(parent) != nullptr ||
           qobject_cast<const QAbstractScrollArea*>(parent) != nullptr;
}

void add_button(QAbstractButton& button, const QString& path, std::vector<PaneCommand>& commands) {
    const QString label = button.text().remove(u'&');
    const QString name = path + separator + (button.accessibleName().isEmpty() ? label : button.accessibleName());
    const auto* tool = qobject_cast<const QToolButton*>(&button);
    if (tool != nullptr && tool->menu() != nullptr) {
        emit tool->menu()->aboutToShow();
        add_actions(tool->menu()->actions(), name, commands);
    } else if (!is_part_of_control(button)) {
        commands.push_back({name, button.shortcut().toString(QKeySequence::NativeText), [button = QPointer(&button)] {
                                if (button) {
                                    button->click();
                                }
                            }});
    }
}

/// Returns the path of a widget of a pane: cards of the same kind differ in their names.
QString path_of(const QWidget& widget, const QWidget& pane, const QString& name) {
    for (const QWidget* part = widget.parentWidget(); part != nullptr && part != &pane; part = part->parentWidget()) {
        if (!part->accessibleName().isEmpty()) {
            return name + separator + part->accessibleName();
        }
    }
    return name;
}

}  // namespace

std::vector<PaneCommand> pane_commands(const QWidget& pane, const QString& name) {
    std::vector<PaneCommand> commands;
    for (QWidget* widget : pane.findChildren<QWidget*>()) {
        if (!widget->isVisible() || !widget->isEnabled()) {
            continue;
        }
        if (auto* button = qobject_cast<QAbstractButton*>(widget)) {
            add_button(*button, path_of(*widget, pane, name), commands);
        } else if (qobject_cast<QMenu*>(widget) == nullptr) {
            add_actions(widget->actions(), path_of(*widget, pane, name), commands);
        }
    }
    return commands;
}

QString plain_text(const QAction& action) { return action.text().remove(u'&').remove(QStringLiteral("…")); }

}  // namespace tidemark::gui
