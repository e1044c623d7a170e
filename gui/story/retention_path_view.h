// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The retention path of a finding, drawn from the variable down to the memory: a mark for each step, joined by a line,
// its text, and the bytes that become free with it.
#pragma once

#include <QWidget>
#include <vector>

#include "storage/explain/finding.h"

namespace tidemark::gui {

class RetentionPathView : public QWidget {
    Q_OBJECT
public:
    explicit RetentionPathView(const std::vector<RetentionStep>& path, QWidget* parent = nullptr);

signals:
    void step_requested(int step);  ///< a node or an allocation of the path
};

}  // namespace tidemark::gui
