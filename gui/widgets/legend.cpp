// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/legend.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "gui/model/grouping.h"
#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/base/units.h"

namespace tidemark::gui {

Legend::Legend(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("legend"));
    setAccessibleName(tr("Groups and their bytes at the cursor"));
    setFocusPolicy(Qt::StrongFocus);
    setMinimumWidth(120);
}

void Legend::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
    }
    session_ = session;
    if (session != nullptr) {
        connect(session, &Session::grouping_changed, this, &Legend::update_rows);
        connect(session, &Session::grown, this, &Legend::update_rows);
        connect(session, &Session::group_selected, this, qOverload<>(&QWidget::update));
        connect(&session->selection(), &Selection::time_point_changed, this, &Legend::update_rows);
        connect(&session->selection(), &Selection::selected_changed, this, qOverload<>(&QWidget::update));
    }
    update_rows();
}

void Legend::update_rows() {
    rows_.clear();
    if (session_ && session_->has_device()) {
        const auto groups = session_->shared_groups();
        const Allocations& all = session_->device().allocations;
        // Rows stay in order while the cursor moves; an empty group "other" has no row.
        for (int g = 0; g < groups->count(); ++g) {
            rows_.push_back({g, 0});
        }
        for (const auto& [a, state] : active_allocations(session_->device(), session_->analysis().live(),
                                                         session_->selection().state().time_point)) {
            rows_[groups->grouping.group_at(a, state)].bytes += static_cast<int64_t>(all.block_size[a]);
        }
    }
    setMinimumHeight(title_height() + static_cast<int>(rows_.size()) * row_height());
    update();
}

int Legend::row_height() const { return 2 * fontMetrics().height() + 11; }

int Legend::title_height() const { return fontMetrics().height() + 10; }

int Legend::row_at(QPoint point) const {
    const int row = point.y() < title_height() ? -1 : (point.y() - title_height()) / row_height();
    return row >= 0 && row < static_cast<int>(rows_.size()) ? row : -1;
}

void Legend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (rows_.empty()) {
        return;
    }
    const Theme theme = Theme::current();
    const int selected = session_->selected_group();
    int64_t most = 1;
    for (const Row& row : rows_) {
        most = std::max(most, row.bytes);
    }
    painter.setPen(theme.faint_text);
    painter.drawText(QRect(6, 4, width() - 8, fontMetrics().height()), Qt::AlignVCenter, tr("Active at the cursor"));
    for (size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        const QRect box(0, title_height() + static_cast<int>(i) * row_height(), width(), row_height() - 2);
        paint_row(painter, box, row, static_cast<double>(row.bytes) / static_cast<double>(most));
        if (row.group == selected) {
            painter.setPen(QPen(theme.selection, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(box.adjusted(1, 1, -1, -1));
        }
    }
}

/// Paints the user's line with its bytes, below it the frame that distinguishes groups of that line, then a bar.
void Legend::paint_row(QPainter& painter, const QRect& box, const Row& row, double part) const {
    const Theme theme = Theme::current();
    const auto groups = session_->shared_groups();
    const QFontMetrics metrics = fontMetrics();
    const int line = metrics.height();
    const QColor color = color_of_group(theme, *groups, row.group);
    painter.fillRect(QRect(box.left() + 6, box.top() + 5, 10, line - 2), color);
    const QRect text(22, box.top() + 3, width() - 28, line);
    const auto [name, frame] = split_group_name(to_qstring(groups->grouping.names[static_cast<size_t>(row.group)]));
    const QString bytes = QString::fromStdString(format_bytes(row.bytes));
    const int name_width = text.width() - metrics.horizontalAdvance(bytes) - 8;
    painter.setPen(theme.text);
    painter.drawText(text, Qt::AlignVCenter, elided_line(metrics, name, name_width));
    painter.setPen(theme.faint_text);
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignRight, bytes);
    painter.drawText(text.translated(0, line), Qt::AlignVCenter,
                     metrics.elidedText(frame, Qt::ElideMiddle, text.width()));
    const int bar_top = frame.isEmpty() ? text.bottom() + line / 3 : text.bottom() + line + 2;
    painter.fillRect(QRectF(text.left(), bar_top, text.width() * part, frame.isEmpty() ? line / 2.5 : 3), color);
}

void Legend::select(int row) {
    if (row >= 0) {
        const int group = rows_[static_cast<size_t>(row)].group;
        session_->select_group(session_->selected_group() == group ? -1 : group);
    }
}

void Legend::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        select(row_at(event->position().toPoint()));
    }
}

void Legend::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step == 0 || rows_.empty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const int next = std::clamp(session_->selected_group() + step, 0, static_cast<int>(rows_.size()) - 1);
    session_->select_group(next);
}

bool Legend::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int row = row_at(help->pos());
        if (row >= 0) {
            const Row& r = rows_[static_cast<size_t>(row)];
            const QString name = to_qstring(session_->grouping().names[static_cast<size_t>(r.group)]);
            QToolTip::showText(help->globalPos(),
                               tip_text(tr("%1\n%2 at the cursor (%3 byte(s))", nullptr, plural(r.bytes))
                                            .arg(name, QString::fromStdString(format_bytes(r.bytes)),
                                                 QString::fromStdString(format_count(r.bytes)))));
        }
        return true;
    }
    return QWidget::event(event);
}

}  // namespace tidemark::gui
