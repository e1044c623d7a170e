// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The memory of a finding over the run, in a line of text: whether it grows, stays or comes and goes.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/model/finding_curve.h"

namespace tidemark::gui {

/// Empty until it gets its columns, which change nothing about its place. Clicks are its parent's.
class Sparkline : public QWidget {
    Q_OBJECT
public:
    static constexpr int columns = 96;  ///< pixels

    explicit Sparkline(Severity severity, QWidget* parent = nullptr);
    void show_columns(std::vector<FindingCurve::Column> columns);
    bool is_empty() const { return columns_.empty(); }
    const std::vector<FindingCurve::Column>& shown() const { return columns_; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Severity severity_;
    std::vector<FindingCurve::Column> columns_;
};

}  // namespace tidemark::gui
