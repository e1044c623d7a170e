// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/root_list.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>
#include <algorithm>
#include <numeric>

#include "gui/model/graph_text.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

QString bytes_or_zero(int64_t bytes) { return bytes_text(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))); }

QString tip(const RootGroup& group, const Trace* trace) {
    QStringList lines{QStringLiteral("<b>%1</b>").arg(group.title().toHtmlEscaped())};
    if (!group.module.isEmpty()) {
        lines << group.module.toHtmlEscaped();
    }
    if (!group.referrer.isEmpty()) {
        lines << RootList::tr("retained by %1").arg(group.referrer).toHtmlEscaped();
    }
    if (group.nodes > 0) {
        lines << RootList::tr("retains %1").arg(nodes_text(group.nodes));
    }
    lines << RootList::tr("%1 of saved tensors reachable").arg(bytes_or_zero(group.reachable_bytes));
    lines << RootList::tr("retained size: %1").arg(bytes_or_zero(group.freed_bytes));
    if (trace != nullptr && group.first_step >= 0) {
        lines << RootList::tr("created in %1").arg(steps_text(*trace, group.first_step, group.last_step));
    }
    return lines.join(QStringLiteral("<br>"));
}

}  // namespace

void RootListModel::show(std::vector<RootGroup> groups) {
    beginResetModel();
    groups_ = std::move(groups);
    arrange();
    endResetModel();
}

void RootListModel::set_order(RootOrder order) {
    beginResetModel();
    order_ = order;
    arrange();
    endResetModel();
}

void RootListModel::set_query(const GraphQuery& query) {
    beginResetModel();
    query_ = query;
    arrange();
    endResetModel();
}

void RootListModel::arrange() {
    shown_.clear();
    most_bytes_ = 0;
    any_referrer_ = false;
    for (size_t g = 0; g < groups_.size(); ++g) {
        most_bytes_ = std::max(most_bytes_, groups_[g].reachable_bytes);
        any_referrer_ = any_referrer_ || !groups_[g].referrer.isEmpty();
        if (query_.matches(groups_[g])) {
            shown_.push_back(g);
        }
    }
    const auto by = [&](auto before) {
        std::stable_sort(shown_.begin(), shown_.end(),
                         [&](size_t a, size_t b) { return before(groups_[a], groups_[b]); });
    };
    switch (order_) {
        case RootOrder::bytes: break;  // the given order
        case RootOrder::number:
            by([](const RootGroup& a, const RootGroup& b) { return a.roots.size() > b.roots.size(); });
            break;
        case RootOrder::age:
            by([](const RootGroup& a, const RootGroup& b) { return a.first_step < b.first_step; });
            break;
        case RootOrder::name: by([](const RootGroup& a, const RootGroup& b) { return a.type < b.type; }); break;
    }
}

int RootListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant RootListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const RootGroup& g = group(index.row());
    if (role == Qt::DisplayRole) {
        return g.title();
    }
    return role == Qt::AccessibleTextRole ? QVariant(g.title() + QStringLiteral(", ") + g.line + QStringLiteral(", ") +
                                                     bytes_or_zero(g.reachable_bytes))
                                          : QVariant();
}

class RootList::Delegate : public QStyledItemDelegate {
public:
    explicit Delegate(RootList* list) : QStyledItemDelegate(list), list_(list) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        const int lines = list_->roots().any_referrer() ? 3 : 2;
        return {160, lines * (option.fontMetrics.height() + 1) + 12};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyleOptionViewItem plain = option;
        plain.text.clear();
        option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &plain, painter, option.widget);
        const RootGroup& group = list_->roots().group(index.row());
        const Theme theme = Theme::current();
        const bool selected = option.state & QStyle::State_Selected;
        const QColor text = selected ? option.palette.color(QPalette::HighlightedText) : theme.text;
        const QColor faint = selected ? text : theme.faint_text;
        const QFontMetrics& metrics = option.fontMetrics;
        const QRect room = option.rect.adjusted(8, 3, -8, -3);
        painter->save();
        const QString bytes = bytes_or_zero(group.reachable_bytes);
        const QRect first(room.left(), room.top(), room.width(), metrics.height());
        const int name_width = first.width() - metrics.horizontalAdvance(bytes) - 8;
        painter->setPen(text);
        painter->drawText(first, Qt::AlignVCenter | Qt::TextDontClip,
                          metrics.elidedText(group.title(), Qt::ElideRight, name_width));
        painter->drawText(first, Qt::AlignVCenter | Qt::AlignRight | Qt::TextDontClip, bytes);
        painter->setPen(faint);
        painter->drawText(first.translated(0, metrics.height() + 1), Qt::AlignVCenter | Qt::TextDontClip,
                          metrics.elidedText(second_line(group), Qt::ElideRight, room.width()));
        if (!group.referrer.isEmpty()) {
            painter->drawText(
                first.translated(0, 2 * (metrics.height() + 1)), Qt::AlignVCenter | Qt::TextDontClip,
                metrics.elidedText(RootList::tr("retained by %1").arg(group.referrer), Qt::ElideRight, room.width()));
        }
        const double most = static_cast<double>(std::max<int64_t>(list_->roots().most_bytes(), 1));
        painter->fillRect(
            QRectF(room.left(), room.bottom() - 2, room.width() * static_cast<double>(group.reachable_bytes) / most, 3),
            selected ? text : node_state_color(theme, NodeState::never_executed));
        painter->restore();
    }

    bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override;

private:
    QString second_line(const RootGroup& group) const {
        QStringList parts;
        if (group.freed_bytes != group.reachable_bytes) {  // the drawing has this number
            parts << RootList::tr("retained size: %1").arg(bytes_or_zero(group.freed_bytes));
        }
        if (!group.line.isEmpty()) {
            parts << group.line;
        }
        if (list_->trace_ && group.first_step >= 0) {
            parts << steps_text(*list_->trace_, group.first_step, group.last_step);
        }
        if (parts.isEmpty()) {
            parts << nodes_text(group.nodes);
        }
        return parts.join(QStringLiteral(" · "));
    }

    RootList* list_;
};

bool RootList::Delegate::helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                                   const QModelIndex& index) {
    if (event->type() != QEvent::ToolTip || !index.isValid()) {
        return QStyledItemDelegate::helpEvent(event, view, option, index);
    }
    QToolTip::showText(event->globalPos(), tip(list_->roots().group(index.row()), list_->trace_.get()), view);
    return true;
}

RootList::RootList(QWidget* parent) : QListView(parent), model_(new RootListModel(this)) {
    setModel(model_);
    setItemDelegate(new Delegate(this));
    setAccessibleName(tr("Roots of the graph at the cursor"));
    setFrameShape(QFrame::NoFrame);
    setUniformItemSizes(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMinimumWidth(150);
    connect(this, &QListView::clicked, this,
            [this](const QModelIndex& index) { emit selected(model_->group(index.row()).roots.front()); });
    connect(this, &QListView::doubleClicked, this,
            [this](const QModelIndex& index) { emit opened(model_->group(index.row()).roots.front()); });
}

void RootList::keyPressEvent(QKeyEvent* event) {
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (enter && currentIndex().isValid()) {
        emit opened(model_->group(currentIndex().row()).roots.front());
        return;
    }
    QListView::keyPressEvent(event);
}

void RootList::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QListView::currentChanged(current, previous);
    if (hasFocus() && current.isValid()) {
        emit selected(model_->group(current.row()).roots.front());
    }
}

}  // namespace tidemark::gui
