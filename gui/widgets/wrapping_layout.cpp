// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/wrapping_layout.h"

#include <algorithm>

namespace tidemark::gui {

namespace {

constexpr int gap = 6;  // pixels between items and between rows

int width_of(const QLayoutItem& item) { return std::max(item.sizeHint().width(), item.minimumSize().width()); }

bool expands(const QLayoutItem& item) { return item.expandingDirections() & Qt::Horizontal; }

}  // namespace

struct WrappingLayout::Row {
    std::vector<QLayoutItem*> items;
    int width = 0, height = 0;
};

WrappingLayout::WrappingLayout(QWidget* parent) : QLayout(parent) {}

WrappingLayout::~WrappingLayout() = default;

void WrappingLayout::addItem(QLayoutItem* item) { items_.emplace_back(item); }

QLayoutItem* WrappingLayout::itemAt(int index) const {
    return index >= 0 && index < count() ? items_[static_cast<size_t>(index)].get() : nullptr;
}

QLayoutItem* WrappingLayout::takeAt(int index) {
    if (index < 0 || index >= count()) {
        return nullptr;
    }
    QLayoutItem* item = items_[static_cast<size_t>(index)].release();
    items_.erase(items_.begin() + index);
    return item;
}

QSize WrappingLayout::sizeHint() const {
    const QMargins margins = contentsMargins();
    int width = 0;
    for (const Row& row : rows_for(QLAYOUTSIZE_MAX)) {
        width = std::max(width, row.width);
    }
    width += margins.left() + margins.right();
    return {width, heightForWidth(width)};
}

QSize WrappingLayout::minimumSize() const {
    QSize size;
    for (const auto& item : items_) {
        size = item->isEmpty() ? size : size.expandedTo(item->minimumSize());
    }
    return size.grownBy(contentsMargins());
}

void WrappingLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    place(rect, true);
}

std::vector<WrappingLayout::Row> WrappingLayout::rows_for(int width) const {
    std::vector<Row> rows;
    for (const auto& item : items_) {
        if (item->isEmpty()) {
            continue;
        }
        const int wanted = std::min(width_of(*item), width);
        if (rows.empty() || rows.back().width + gap + wanted > width) {
            rows.push_back({{}, -gap, 0});
        }
        Row& row = rows.back();
        row.items.push_back(item.get());
        row.width += gap + wanted;
        row.height = std::max(row.height, item->sizeHint().height());
    }
    return rows;
}

int WrappingLayout::place(const QRect& rect, bool apply) const {
    const QRect area = rect.marginsRemoved(contentsMargins());
    int y = area.top();
    for (const Row& row : rows_for(area.width())) {
        int x = area.left(), room = std::max(area.width() - row.width, 0);
        for (QLayoutItem* item : row.items) {
            const int most = expands(*item) ? std::max(item->maximumSize().width(), width_of(*item)) : width_of(*item);
            const int extra = std::min(room, most - width_of(*item));
            room -= extra;
            if (item->alignment() & Qt::AlignRight) {
                x += std::exchange(room, 0);
            }
            const int width = std::min(width_of(*item), area.width()) + extra;
            const int height = std::min(item->sizeHint().height(), row.height);
            if (apply) {
                // An alignment would shrink the item within its rectangle.
                item->widget()->setGeometry(x, y + (row.height - height) / 2, width, height);
            }
            x += width + gap;
        }
        y += row.height + gap;
    }
    return std::max(y - gap, area.top()) - rect.top() + contentsMargins().bottom();
}

}  // namespace tidemark::gui
