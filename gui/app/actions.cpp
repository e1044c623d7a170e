// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/actions.h"

#include <QHBoxLayout>
#include <QMainWindow>
#include <QToolButton>

namespace tidemark::gui {

namespace {
constexpr const char* plot_keys = "plot_keys";  // a property of an action
}

Actions::Actions(QWidget* window)
    : QObject(window), window_(window), bar_(qobject_cast<QMainWindow*>(window)->menuBar()) {}

void Actions::set_plots(QWidget* plots) { plots_ = plots; }

void Actions::begin_menu(const QString& title) { menus_ = {bar_->addMenu(title)}; }

void Actions::begin_submenu(const QString& title) { menus_.push_back(menus_.back()->addMenu(title)); }

void Actions::end_submenu() { menus_.pop_back(); }

void Actions::separator() { menus_.back()->addSeparator(); }

QString Actions::path() const {
    QStringList names;
    for (const QMenu* menu : menus_) {
        names << menu->title().remove('&');
    }
    return names.join(QStringLiteral(" › "));
}

QAction* Actions::add(const QString& id, const QString& text, const QList<QKeySequence>& keys,
                      std::function<void()> run, Keys where) {
    auto* action = new QAction(text, window_);
    action->setObjectName(id);
    action->setShortcuts(keys);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    if (where == Keys::plots && plots_ != nullptr) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        plots_->addAction(action);
    } else {
        window_->addAction(action);
    }
    menus_.back()->addAction(action);
    entries_.push_back({action, path()});
    return action;
}

void Actions::add_plot_keys(const QString& id, const QList<QKeySequence>& keys) {
    QAction* action = find(id);
    auto* further = new QAction(action->text(), window_);
    further->setObjectName(id + QStringLiteral(".plots"));
    further->setShortcuts(keys);
    further->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(further, &QAction::triggered, action, &QAction::trigger);
    (plots_ != nullptr ? plots_ : window_)->addAction(further);
    action->setProperty(plot_keys, QVariant::fromValue(keys));
}

QAction* Actions::add_choice(QActionGroup* group, const QString& id, const QString& text, bool checked,
                             std::function<void()> run) {
    QAction* action = add(id, text, {}, std::move(run));
    action->setCheckable(true);
    action->setChecked(checked);
    group->addAction(action);
    return action;
}

void Actions::show_as_buttons(const std::vector<std::pair<QString, QString>>& ids_and_texts) {
    auto* buttons = new QWidget(bar_);
    auto* row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 1, 6, 0);
    row->setSpacing(4);
    for (const auto& [id, text] : ids_and_texts) {
        QAction* action = find(id);
        action->setIconText(text);
        auto* button = new QToolButton;
        button->setDefaultAction(action);
        const QString keys = keys_text(*action);
        button->setToolTip(action->text().remove('&') +
                           (keys.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(keys)));
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        button->setFocusPolicy(Qt::TabFocus);
        row->addWidget(button);
    }
    bar_->setCornerWidget(buttons);
}

QAction* Actions::find(const QString& id) const {
    for (const Entry& entry : entries_) {
        if (entry.action->objectName() == id) {
            return entry.action;
        }
    }
    return nullptr;
}

QString keys_text(const QAction& action) {
    QStringList keys;
    for (const QKeySequence& key : action.shortcuts() + action.property(plot_keys).value<QList<QKeySequence>>()) {
        keys << key.toString(QKeySequence::NativeText);
    }
    return keys.join(QStringLiteral(" / "));
}

}  // namespace tidemark::gui
