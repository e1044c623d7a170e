// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/column_cache.h"

#include <algorithm>

#include "storage/base/in_halves.h"

namespace tidemark::gui {

Columns ColumnCache::get(const Analysis& analysis, TimeAxis axis, double from, double to, int count) {
    const Key key{&analysis, axis, from, to, count};
    const std::lock_guard lock(mutex_);
    if (!columns_ || !(key == key_)) {
        auto columns = std::make_shared<std::vector<Column>>(static_cast<size_t>(count));
        in_halves(count, [&](int first, int last) {
            const double step = (to - from) / count;
            const auto part = make_columns(analysis.trace(), analysis.device(), analysis.curves(), axis,
                                           from + first * step, last == count ? to : from + last * step, last - first);
            std::copy(part.begin(), part.end(), columns->begin() + first);
        });
        columns_ = std::move(columns);
        key_ = key;
    }
    return columns_;
}

}  // namespace tidemark::gui
