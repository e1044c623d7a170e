// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/filter_chips.h"

#include <QFontMetrics>
#include <QPushButton>

#include "gui/model/text.h"
#include "gui/widgets/wrapping_layout.h"

namespace tidemark::gui {

namespace {
constexpr int widest_name = 320;  // pixels: the title of a finding is longer
const char* const chip_style =
    "QPushButton { border: 1px solid palette(mid); border-radius: 9px; padding: 1px 9px; background: palette(button); }"
    "QPushButton:hover { border-color: palette(highlight); }"
    "QPushButton:focus { border: 2px solid palette(highlight); padding: 0px 8px; }";
}  // namespace

FilterChips::FilterChips(QWidget* parent) : QWidget(parent), layout_(new WrappingLayout(this)) {
    setAccessibleName(tr("Active filters"));
    layout_->setContentsMargins(8, 0, 8, 0);
    hide();
}

void FilterChips::add_button(const QString& text, const QString& name, std::function<void()> on_click) {
    auto* button = new QPushButton(text);
    button->setToolTip(tip_text(name));
    button->setAccessibleName(name);
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, std::move(on_click));
    layout_->addWidget(button);
}

void FilterChips::show_chips(std::vector<FilterChip> chips) {
    const QStringList before = names();
    chips_ = std::move(chips);
    if (names() == before) {
        return;  // the focus stays on its chip
    }
    while (QLayoutItem* item = layout_->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();  // it may be sending its click
        delete item;
    }
    for (size_t i = 0; i < chips_.size(); ++i) {
        const QString shown = fontMetrics().elidedText(chips_[i].name, Qt::ElideRight, widest_name);
        add_button(QString(shown).replace(u'&', QLatin1String("&&")) + QStringLiteral("  ×"),
                   tr("Remove the filter: %1").arg(chips_[i].name), [this, i] {
                       const auto remove = chips_[i].remove;  // it replaces the chips
                       remove();
                   });
        layout_->itemAt(static_cast<int>(i))->widget()->setStyleSheet(QString::fromLatin1(chip_style));
    }
    if (!chips_.empty()) {
        add_button(tr("Clear all"), tr("Remove all filters"), [this] { clear_all(); });
        static_cast<QPushButton*>(layout_->itemAt(layout_->count() - 1)->widget())->setFlat(true);
    }
    setVisible(!chips_.empty());
}

QStringList FilterChips::names() const {
    QStringList names;
    for (const FilterChip& chip : chips_) {
        names << chip.name;
    }
    return names;
}

void FilterChips::clear_all() {
    for (const FilterChip& chip : std::vector(chips_)) {
        chip.remove();
    }
}

}  // namespace tidemark::gui
