// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/command_palette.h"

#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace tidemark::gui {

namespace {

std::vector<PaneCommand> enabled_actions(const Actions& actions) {
    std::vector<PaneCommand> commands;
    for (const Actions::Entry& entry : actions.entries()) {
        if (entry.action->isEnabled()) {
            commands.push_back({entry.path + QStringLiteral(" › ") + plain_text(*entry.action),
                                keys_text(*entry.action), [action = entry.action] { action->trigger(); },
                                entry.action->objectName()});
        }
    }
    return commands;
}

/// Returns whether all words of `wanted` occur.
bool matches(const QString& text, const QString& wanted) {
    const QStringList words = wanted.split(' ', Qt::SkipEmptyParts);
    return std::all_of(words.begin(), words.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

}  // namespace

CommandPalette::CommandPalette(const Actions& actions, std::vector<PaneCommand> of_panes, QWidget* parent)
    : QDialog(parent), commands_(enabled_actions(actions)), wanted_(new QLineEdit), list_(new QListWidget) {
    std::move(of_panes.begin(), of_panes.end(), std::back_inserter(commands_));
    setWindowTitle(tr("Commands"));
    wanted_->setPlaceholderText(tr("What do you want to do?"));
    wanted_->setAccessibleName(tr("Part of a command's name"));
    wanted_->installEventFilter(this);
    list_->setAccessibleName(tr("Matching commands"));
    list_->setUniformItemSizes(true);
    auto* column = new QVBoxLayout(this);
    column->addWidget(wanted_);
    column->addWidget(list_);
    resize(560, 420);
    connect(wanted_, &QLineEdit::textChanged, this, &CommandPalette::fill);
    connect(wanted_, &QLineEdit::returnPressed, this, &CommandPalette::run_current);
    connect(list_, &QListWidget::itemActivated, this, &CommandPalette::run_current);
    fill({});
}

void CommandPalette::fill(const QString& wanted) {
    list_->clear();
    for (size_t i = 0; i < commands_.size(); ++i) {
        const auto& [name, keys, run, english] = commands_[i];
        if (matches(name + u' ' + english, wanted)) {
            auto* item = new QListWidgetItem(keys.isEmpty() ? name : name + QStringLiteral("   [%1]").arg(keys), list_);
            item->setData(Qt::UserRole, QVariant::fromValue(i));
        }
    }
    list_->setCurrentRow(0);
}

void CommandPalette::run_current() {
    const QListWidgetItem* item = list_->currentItem();
    const auto run = item != nullptr ? commands_[item->data(Qt::UserRole).value<size_t>()].run : nullptr;
    accept();
    if (run) {
        run();
    }
}

bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (step != 0 && list_->count() > 0) {
            list_->setCurrentRow((list_->currentRow() + step + list_->count()) % list_->count());
            return true;
        }
    }
    return QDialog::eventFilter(object, event);
}

ShortcutHelp::ShortcutHelp(const Actions& actions, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keys and mouse"));
    QString html = QStringLiteral("<table cellpadding=3>");
    const auto row = [](const QString& keys, const QString& what) {
        return QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>")
            .arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
    };
    const auto heading = [](const QString& title) {
        return QStringLiteral("<tr><td colspan=2><br><b><u>%1</u></b></td></tr>").arg(title.toHtmlEscaped());
    };
    html += heading(tr("Mouse and wheel in plots"));
    html += row(tr("Click"), tr("put the cursor there; on an allocation, select it"));
    html += row(tr("Double click"), tr("zoom to the allocation's lifetime"));
    html += row(tr("Drag"), tr("select a span of time"));
    html += row(tr("Drag the cursor or below the axis"), tr("scrub through time"));
    html += row(tr("Ctrl+wheel"), tr("zoom at the pointer"));
    html += row(tr("Wheel"), tr("scroll (View › Wheel zooms swaps the two)"));
    html += row(tr("Shift+wheel"), tr("zoom the bytes axis"));
    html += row(tr("Middle drag, Space+drag"), tr("pan"));
    html += row(tr("Alt+drag"), tr("pan the bytes axis"));
    html += row(tr("Right click"), tr("compare the step there with another one"));
    html += row(tr("Ctrl+click"), tr("pin the tooltip"));
    QString menu;
    for (const Actions::Entry& entry : actions.entries()) {
        const QString keys = keys_text(*entry.action);
        if (keys.isEmpty()) {
            continue;
        }
        if (entry.path != menu) {
            menu = entry.path;
            html += heading(menu);
        }
        html += row(keys, plain_text(*entry.action));
    }
    auto* text = new QTextBrowser;
    text->setHtml(html + QStringLiteral("</table>"));
    text->setAccessibleName(windowTitle());
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(text);
    column->addWidget(buttons);
    resize(560, 640);
}

}  // namespace tidemark::gui
