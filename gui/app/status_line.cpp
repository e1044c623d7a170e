// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/status_line.h"

#include <QEvent>
#include <QStatusBar>
#include <algorithm>

#include "gui/model/session.h"
#include "gui/model/text.h"

namespace tidemark::gui {

StatusLine::StatusLine(QStatusBar& bar) : bar_(bar), time_(new QLabel), memory_(new QLabel), data_gaps_(new QLabel) {
    time_->setAccessibleName(tr("The cursor's time and event"));
    memory_->setAccessibleName(tr("Memory at the cursor"));
    data_gaps_->setAccessibleName(tr("Data gaps"));
    time_->setObjectName(QStringLiteral("status_time"));
    memory_->setObjectName(QStringLiteral("status_memory"));
    for (QLabel* label : {time_, memory_}) {
        label->setMinimumWidth(1);  // show_what_fits() leaves out what has no room
    }
    bar.addWidget(time_);
    bar.addWidget(memory_, 1);
    bar.addPermanentWidget(data_gaps_);
    bar.setContentsMargins(8, 0, 8, 0);
    bar.installEventFilter(this);
}

void StatusLine::show(const Session* session) {
    bar_.setVisible(session != nullptr);
    if (session == nullptr || !session->has_device()) {
        text_ = {};
        data_gaps_->clear();
        show_what_fits();
        return;
    }
    const TimePoint& point = session->selection().state().time_point;
    const DeviceHistory& device = session->device();
    const Curves& curves = session->analysis().curves();
    const QString repeated = place_text(point.repeated);
    QStringList memory{tr("allocated %1").arg(bytes_text(curves.value(Series::allocated, point))),
                       tr("active %1").arg(bytes_text(curves.value(Series::active, point))),
                       tr("reserved %1").arg(bytes_text(curves.value(Series::reserved, point)))};
    if (device.total_bytes > 0) {
        memory << tr("device %1").arg(bytes_text(device.total_bytes));
    }
    const std::vector<DataGap> all = session->data_gaps();
    const auto data_gaps =
        static_cast<int>(all.size() - static_cast<size_t>(std::count_if(all.begin(), all.end(), is_about_sharing)));
    data_gaps_->setText(data_gaps == 0 ? tr("no data gaps") : tr("⚠ %n data gap(s)", nullptr, data_gaps));
    text_ = {cursor_text(session->trace(), device, point) +
                 (repeated.isEmpty() ? QString() : QStringLiteral(" · ") + repeated),
             tr("cursor %1").arg(point_text(session->trace(), device, point)), memory};
    show_what_fits();
}

/// In a narrow window, leaves out the least important parts: the size of the device, which never changes, then what the
/// event did. The tooltip has all of it.
void StatusLine::show_what_fits() {
    const auto memory_text = [](const QStringList& memory) {
        return memory.isEmpty() ? QString() : QStringLiteral("    ") + memory.join(QStringLiteral("  ·  "));
    };
    const QFontMetrics metrics = time_->fontMetrics();
    constexpr int spacing = 60;  // pixels: margins, the size grip
    const int room = bar_.width() - data_gaps_->sizeHint().width() - spacing;
    QString time = text_.time;
    QStringList memory = text_.memory;
    const auto fits = [&] {
        return metrics.horizontalAdvance(time) + metrics.horizontalAdvance(memory_text(memory)) <= room;
    };
    constexpr int fewest_series = 3;
    if (!fits() && memory.size() > fewest_series) {
        memory.removeLast();
    }
    if (!fits()) {
        time = text_.short_time;
    }
    time_->setText(time);
    memory_->setText(memory_text(memory));
    const QString all = tip_text(text_.time + '\n' + text_.memory.join(QStringLiteral(" · ")));
    time_->setToolTip(all);
    memory_->setToolTip(all);
}

bool StatusLine::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) {
        show_what_fits();
    }
    return QObject::eventFilter(watched, event);
}

}  // namespace tidemark::gui
