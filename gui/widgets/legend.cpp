// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/legend.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>

#include "gui/model/grouping.h"
#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/base/units.h"
#include "storage/timeline/columns.h"

namespace tidemark::gui {

namespace {

constexpr int key_swatch = 10, inset = 5, gap = 12;  // pixels
constexpr std::array longest_names{400, 280, 210, 150};

/// The memory breakdown beside the plots has other numbers, since it is of another point in time.
QString caption() { return Legend::tr("At the cursor"); }

QString bytes_of(int64_t bytes) { return QString::fromStdString(format_bytes(bytes)); }

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("legend"));
    setAccessibleName(tr("Groups and their bytes at the cursor"));
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Legend::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
    }
    session_ = session;
    if (session != nullptr) {
        connect(session, &Session::grouping_changed, this, &Legend::update_entries);
        connect(session, &Session::grown, this, &Legend::update_entries);
        connect(session, &Session::group_selected, this, qOverload<>(&QWidget::update));
        connect(&session->selection(), &Selection::time_point_changed, this, &Legend::follow_cursor);
        connect(&session->selection(), &Selection::selected_changed, this, qOverload<>(&QWidget::update));
    }
    update_entries();
}

void Legend::update_entries() {
    entries_.clear();
    groups_ = session_ && session_->has_device() ? session_->shared_groups() : nullptr;
    // Entries stay in order while the cursor moves; a group "other" without any memory has none.
    for (int g = 0; groups_ && g < groups_->count() - (groups_->is_rest_empty ? 1 : 0); ++g) {
        entries_.push_back({g, 0, {}, 0, {}});
    }
    place_entries();
    count_bytes();
}

/// Measuring the names is slow, and the cursor changes the numbers only.
void Legend::follow_cursor() {
    // Another device has other groups, and its cursor comes first.
    if (session_->has_device() && session_->shared_groups() == groups_) {
        count_bytes();
    } else {
        update_entries();
    }
}

void Legend::count_bytes() {
    if (!entries_.empty()) {
        Column cursor;
        cursor.time_point = session_->selection().state().time_point;
        const std::vector<int64_t> bytes = stacked_bytes(session_->device(), session_->analysis().live(),
                                                         std::span(&cursor, 1), groups_->grouping, groups_->lasting);
        for (Entry& entry : entries_) {
            entry.bytes = bytes[static_cast<size_t>(entry.group)];
        }
    }
    update();
}

/// Places the entries with the longest names that need no more lines than the shortest.
void Legend::place_entries() {
    const int fewest = place_entries_with(longest_names.back());
    for (const int longest : longest_names) {
        if (place_entries_with(longest) == fewest) {
            break;
        }
    }
    setFixedHeight(fewest);
    update();
}

/// Places the entries in lines and returns their height. Each has room for the longest number, so that it stays in
/// place when the cursor moves.
int Legend::place_entries_with(int longest_name) {
    const QFontMetrics metrics = fontMetrics();
    const int height = metrics.height() + 6, number = metrics.horizontalAdvance(bytes_of(88 << 20));
    QPoint at(2 * inset + metrics.horizontalAdvance(caption()), 0);
    for (Entry& entry : entries_) {
        const QString name = to_qstring(groups_->grouping.names[static_cast<size_t>(entry.group)]);
        entry.name = elided_group_name(metrics, name, longest_name);
        entry.name_width = metrics.horizontalAdvance(entry.name);
        const int width = key_swatch + entry.name_width + number + 5 * inset;
        if (at.x() > inset && at.x() + width > this->width()) {
            at = {inset, at.y() + height};
        }
        entry.place = QRect(at, QSize(width, height));
        at.rx() += width + gap;
    }
    return entries_.empty() ? 0 : at.y() + height;
}

int Legend::entry_at(QPoint point) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.place.contains(point); });
    return found == entries_.end() ? -1 : static_cast<int>(found - entries_.begin());
}

void Legend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    if (!entries_.empty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(QRect(inset, 0, width(), entries_.front().place.height()), Qt::AlignVCenter, caption());
    }
    for (const Entry& entry : entries_) {
        paint_entry(painter, entry);
        if (entry.group == session_->selected_group()) {
            painter.setPen(QPen(theme.selection, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(entry.place.adjusted(1, 1, -1, -1), 3, 3);
        }
    }
    if (hasFocus() && !entries_.empty() && session_->selected_group() < 0) {
        painter.setPen(QPen(theme.selection, 1));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void Legend::paint_entry(QPainter& painter, const Entry& entry) const {
    const Theme theme = Theme::current();
    const QRect box = entry.place.adjusted(inset, 0, -inset, 0);
    const QRect swatch(box.left(), box.center().y() - key_swatch / 2 + 1, key_swatch, key_swatch);
    const QColor color = color_of_group(theme, *groups_, entry.group);
    if (is_unknown(*groups_, entry.group)) {
        painter.fillRect(swatch, mixed(color, theme.background, light_of_unknown));
        painter.fillRect(swatch, QBrush(color, Qt::BDiagPattern));
    } else {
        painter.fillRect(swatch, color);
    }
    painter.setPen(entry.bytes > 0 ? theme.text : theme.faint_text);
    const QRect text = box.adjusted(key_swatch + inset, 0, 0, 0);
    painter.drawText(text, Qt::AlignVCenter, entry.name);
    painter.setPen(theme.faint_text);
    painter.drawText(text.adjusted(entry.name_width + 2 * inset, 0, 0, 0), Qt::AlignVCenter, bytes_of(entry.bytes));
}

void Legend::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) {
        place_entries();
    }
}

void Legend::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        place_entries();
    }
}

void Legend::select(int entry) {
    if (entry >= 0) {
        const int group = entries_[static_cast<size_t>(entry)].group;
        session_->select_group(session_->selected_group() == group ? -1 : group);
    }
}

void Legend::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        select(entry_at(event->position().toPoint()));
    }
}

void Legend::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || entries_.empty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const int next = std::clamp(session_->selected_group() + step, 0, static_cast<int>(entries_.size()) - 1);
    session_->select_group(next);
}

bool Legend::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int entry = entry_at(help->pos());
        if (entry >= 0) {
            const Entry& e = entries_[static_cast<size_t>(entry)];
            const QString name = to_qstring(groups_->grouping.names[static_cast<size_t>(e.group)]);
            QToolTip::showText(help->globalPos(),
                               tip_text(tr("%1\n%2 at the cursor (%3 byte(s))", nullptr, plural(e.bytes))
                                            .arg(name, QString::fromStdString(format_bytes(e.bytes)),
                                                 QString::fromStdString(format_count(e.bytes)))));
        }
        return true;
    }
    return QWidget::event(event);
}

}  // namespace tidemark::gui
