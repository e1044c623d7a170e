// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/table_style.h"

#include <QHeaderView>
#include <QProxyStyle>
#include <QTableView>

namespace tidemark::gui {

namespace {

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
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
    table->horizontalHeader()->setHighlightSections(false);
}

}  // namespace tidemark::gui
