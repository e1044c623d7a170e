// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Axis tickers with round binary bytes, seconds since the start, and event numbers.
#pragma once

#include "gui/widgets/qcp.h"

namespace tidemark::gui {

class ByteTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double step) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    double step_ = 1;
};

class TimeTicker : public QCPAxisTicker {
public:
    void set_events(bool events) { events_ = events; }

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double step) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    bool events_ = false;
    double step_ = 1;
};

}  // namespace tidemark::gui
