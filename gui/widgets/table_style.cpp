// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/table_style.h"

#include <QAction>
#include <QCoreApplication>
#include <QHeaderView>
#include <QProxyStyle>
#include <QTableView>

#include "gui/widgets/delimited.h"

namespace tidemark::gui {

namespace {

struct TableStyle {
    Q_DECLARE_TR_FUNCTIONS(TableStyle)
};

constexpr int padding = 6;  // pixels beside the text
constexpr int swatch = 11;

class PaddedStyle : public QProxyStyle {
public:
    using QProxyStyle::QProxyStyle;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
        return metric == PM_FocusFrameHMargin || metric == PM_HeaderMargin
                   ? padding
                   : QProxyStyle::pixelMetric(metric, option, widget);
    }
};

}  // namespace

int row_height(const QTableView& table) { return table.fontMetrics().height() + 6; }

void set_table_style(QTableView* table) {
    auto* style = new PaddedStyle;
    style->setParent(table);
    table->setStyle(style);
    table->horizontalHeader()->setStyle(style);
    table->setFrameShape(QFrame::NoFrame);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->setIconSize({swatch, swatch});
    table->verticalHeader()->hide();
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->verticalHeader()->setDefaultSectionSize(row_height(*table));
    table->horizontalHeader()->setHighlightSections(false);
}

void add_copy_actions(QTableView* table) {
    const auto add = [table](const QString& text, void (*copy)(const QTableView& view)) {
        auto* action = new QAction(text, table);
        QObject::connect(action, &QAction::triggered, table, [table, copy] {
            if (!table->selectionModel()->hasSelection()) {
                table->selectAll();
            }
            copy(*table);
        });
        table->addAction(action);
        return action;
    };
    QAction* text = add(TableStyle::tr("Copy rows"), copy_rows);
    text->setShortcut(QKeySequence::Copy);
    text->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    add(TableStyle::tr("Copy rows as CSV"), copy_rows_as_csv);
    add(TableStyle::tr("Copy rows as Markdown"), copy_rows_as_markdown);
    table->setContextMenuPolicy(Qt::ActionsContextMenu);
}

}  // namespace tidemark::gui
