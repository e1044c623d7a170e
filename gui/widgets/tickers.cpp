// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/tickers.h"

#include <cmath>

#include "storage/base/saturated.h"
#include "storage/base/ticks.h"
#include "storage/base/units.h"

namespace tidemark::gui {

double ByteTicker::getTickStep(const QCPRange& range) {
    step_ = byte_tick_step(range.size(), tickCount());
    return step_;
}

int ByteTicker::getSubTickCount(double) { return 3; }

QString ByteTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return QString::fromStdString(byte_tick_label(tick, step_));
}

double TimeTicker::getTickStep(const QCPRange& range) {
    step_ = decimal_tick_step(range.size(), tickCount());
    if (events_ && step_ < 1) {
        step_ = 1;
    }
    return step_;
}

int TimeTicker::getSubTickCount(double step) {
    return std::fmod(std::log10(step) + 1e-9, 1.0) > 0.2 && std::fmod(std::log10(step) + 1e-9, 1.0) < 0.4 ? 3 : 4;
}

QString TimeTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return QString::fromStdString(events_ ? format_count(saturated<int64_t>(std::round(tick)))
                                          : time_tick_label(tick, step_));
}

}  // namespace tidemark::gui
