// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The columns requested last, so that two plots over the same span compute them once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/timeline/columns.h"

namespace tidemark::gui {

using Columns = std::shared_ptr<const std::vector<Column>>;

class ColumnCache {
public:
    /// Thread: any. If several threads request the same columns, one computes and the others wait.
    Columns get(const Analysis& analysis, TimeAxis axis, double from, double to, int count);

private:
    struct Key {
        const Analysis* analysis = nullptr;
        TimeAxis axis = TimeAxis::wall_clock;
        double from = 0, to = 0;
        int count = 0;
        bool operator==(const Key&) const = default;
    };
    std::mutex mutex_;
    Key key_;
    Columns columns_;
};

}  // namespace tidemark::gui
